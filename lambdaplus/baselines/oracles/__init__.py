"""Separation oracles: the most violated ranking of every query, for each loss and feature map."""

from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.oracles.auc import AUCOracle
from lambdaplus.baselines.oracles.constraint import Constraint, Oracle
from lambdaplus.baselines.oracles.dorm import DORMOracle
from lambdaplus.baselines.oracles.mrr_map import MRRMapOracle
from lambdaplus.baselines.oracles.partial_order import PartialOrderOracle
from lambdaplus.compute.arguments import check_choice, whole_number
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.ranking.sort import Ranking

LOSSES = ("auc", "map", "mrr", "ndcg")
FEATURE_MAPS = {"po": LOSSES, "mrr": ("mrr",), "dorm": ("ndcg",)}


class Loss(NamedTuple):
    """A loss on a data set with the labels that it uses, binary or graded.

    ``scale``, above 0, multiplies its feature map.
    """

    oracle: Oracle
    queries: Queries
    scale: float = 1.0

    def worst(self, ranking: Ranking) -> Constraint:
        """The most violated constraint of every query, with the scaled feature map."""
        # w . (scale Psi) is Psi at scaled scores: which ranking is the worst depends on the scale.
        worst = self.oracle(ranking._replace(score=self.scale * ranking.score))
        return worst._replace(coefficient=self.scale * worst.coefficient)


def make_loss(
    metric: RankingMetric,
    queries: Queries,
    feature_map: str = "po",
    decay: str | int = "smooth",
    pair_scale: bool = True,
) -> Loss:
    """Create the loss 1 - metric with a feature map and the options of `StructuralSVM`.

    Map and mrr need queries with binary labels.  Raises a ValueError for an unknown loss or map,
    one that the map does not support, or an option of another map.
    """
    name = metric.declaration.name
    if name not in LOSSES:
        raise ValueError(
            f"{metric} is not a loss of the structural SVM; known: {', '.join(LOSSES)}"
        )
    check_choice("feature_map", feature_map, FEATURE_MAPS)
    if name not in FEATURE_MAPS[feature_map]:
        supported = ", ".join(FEATURE_MAPS[feature_map])
        raise ValueError(f"feature_map={feature_map!r} supports the loss {supported}, not {name}")
    if feature_map != "po" and not pair_scale:
        raise ValueError(f"pair_scale=False: feature_map={feature_map!r} has no pairs to scale")
    if feature_map == "dorm":
        reach = np.inf
        if decay != "smooth":
            reach = whole_number("decay, if not 'smooth',", decay, least=1)
        return Loss(DORMOracle(metric, queries, reach), queries)
    if feature_map == "mrr":
        return Loss(MRRMapOracle(metric, queries), queries)
    if name == "auc":
        return Loss(AUCOracle(queries, pair_scale), queries)
    return Loss(PartialOrderOracle(metric, queries, pair_scale), queries)


__all__ = ["Constraint", "Loss", "Oracle", "make_loss"]
