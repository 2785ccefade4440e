"""Ranking metrics and their names; new metrics are created with `Declaration`.

Examples
--------
>>> from lambdaplus.metrics import parse_metric
>>> parse_metric("ndcg@10").declaration.title
'Normalised discounted cumulative gain'
"""

from lambdaplus.metrics.catalogue import CATALOGUE
from lambdaplus.metrics.declaration import Declaration, Metric
from lambdaplus.metrics.forms import Cascade, CountAbove, Gains
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.metrics.names import metric_names, parse_metric
from lambdaplus.metrics.parameters import OVER, Parameter
from lambdaplus.metrics.ranking_metric import RankingMetric

__all__ = [
    "CATALOGUE",
    "OVER",
    "Cascade",
    "CountAbove",
    "Declaration",
    "Gains",
    "LabelCounts",
    "Metric",
    "Parameter",
    "RankingMetric",
    "metric_names",
    "parse_metric",
]
