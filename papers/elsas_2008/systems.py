"""The metrics of Table 4, its systems, and their readings of the order of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.metrics import parse_metric
from lambdaplus.study import Method
from lambdaplus.study.estimator_trainer import train_estimator

# The paper's discounts are 1, 1, 1/log2 3, ..., as its own toy example shows.
COLUMNS = {"MAP": "map", **{f"NDCG@{k}": f"ndcg(discount=letor)@{k}" for k in (1, 5, 10)}}
METRICS = tuple(str(parse_metric(name)) for name in COLUMNS.values())
NDCG_10 = METRICS[-1]
SQUARED = "RankSVM, squared hinge"
IN_ORDERS: Mapping[str, dict[str, Any]] = {
    "Com 30 A": {"committee_size": 30},
    "Average": {"variant": "average"},
}


# Readings of the order of pairs; table 4 reshuffles them in every pass.
ORDERS: Mapping[str, str] = {"list order": "papers.elsas_2008.list_order:ListOrder"}
Values = NDArray[np.float64]


def perceptron(name: str, passes: int, **options: object) -> Method:
    """A perceptron that stops after the pass that is best on validation data."""
    target = "lambdaplus.baselines:CommitteePerceptron"
    return Method(name, train_estimator, target, NDCG_10, {"n_iter": passes, **options})


def systems(passes: int) -> list[Method]:
    """The rows of Table 4, and RankSVM with the squared hinge; the paper's solver has the hinge."""

    def other(name: str, fixed: dict[str, object], grid: dict[str, list[float]]) -> Method:
        target = f"lambdaplus.baselines:{name}"
        return Method(name, train_estimator, target, NDCG_10, fixed, grid, random=False)

    return [
        replace(
            other("StructuralSVM", {"loss": "auc"}, {"C": np.logspace(-2, 5, 8).tolist()}),
            name="RankSVM",
        ),
        replace(other("RankSVM", {}, {"C": np.logspace(-4, 4, 9).tolist()}), name=SQUARED),
        other("RankBoost", {"n_rounds": 300}, {}),
        perceptron("Com 30 A", passes, committee_size=30),
        perceptron("Com 30 B", passes, committee_size=30, combine="borda"),
        perceptron("Pocket", passes, variant="pocket"),
        perceptron("Average", passes, variant="average"),
    ]


def in_orders(passes: int) -> list[Method]:
    """The committee and the average perceptron in each of `ORDERS`."""
    return [
        replace(perceptron(f"{name}, {reading}", passes, **IN_ORDERS[name]), target=target)
        for reading, target in ORDERS.items()
        for name in IN_ORDERS
    ]
