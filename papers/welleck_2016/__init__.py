"""Welleck 2016: LambdaMART for AUC and multi-class AUC."""

from papers.welleck_2016.preset import WELLECK_2016

__all__ = ["WELLECK_2016"]
