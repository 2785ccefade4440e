"""Chakrabarti, Khanna, Sawant & Bhattacharyya 2008: structured rankers for every criterion."""

from papers.chakrabarti_2008.preset import CHAKRABARTI_2008

__all__ = ["CHAKRABARTI_2008"]
