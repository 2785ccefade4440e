"""What training chooses for a metric if the user does not."""

from __future__ import annotations

from typing import Any

from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.objectives.noise import Noise

BALANCE = 0.5  # of Hessians, see `lambdaplus.objectives.class_balance`

# Metrics of the first relevant document: only pairs with it change them, which are at most two
# pairs of direct neighbours in a noisy ranking, and few of all pairs, so AUC is trained there.
OF_THE_FIRST_RELEVANT = ("mrr", "success")


def default_noise(metric: RankingMetric) -> Noise | None:
    """The noise of an objective for which none is given.

    Below a cutoff no pair has a weight, and only noise brings a document to where pairs have one.
    """
    if metric.declaration.name in OF_THE_FIRST_RELEVANT:
        auc = parse_metric("auc", relevant=metric["relevant"])
        return Noise(neighbours=10, all_pairs=auc)
    if metric.cutoff is None:
        return None
    if metric.declaration.cutoff == "required":
        return Noise(neighbours=30)
    changed: dict[str, Any] = dict(metric.changed)
    return Noise(neighbours=30, all_pairs=metric.declaration(**changed))
