"""Constraints of structural SVMs for every ranking of a query: the oracle of separation oracles.

Losses are those of `textbook_metrics`; permutations of one query are enumerated as a matrix.
"""

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from textbook_metrics import value

from lambdaplus.metrics import RankingMetric, parse_metric

Floats = NDArray[np.float64]


@cache
def permutations(n: int) -> NDArray[np.int64]:
    """All rankings of n documents, (n!, n): the document at each rank, from 0."""
    return np.array(list(itertools.permutations(range(n))))


@cache
def loss_of_ranking(metric: RankingMetric, ranked: tuple[float, ...]) -> float:
    return 1.0 - value(metric, ranked)


@dataclass(frozen=True)
class Setting:
    """A loss, its cutoff and its feature map, as `StructuralSVM` takes them."""

    loss: str
    feature_map: str = "po"
    cutoff: int | None = None
    pair_scale: bool = True
    decay: Any = "smooth"

    def __str__(self) -> str:
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        scale = "" if self.pair_scale else "-unscaled"
        decay = f"-{self.decay}" if self.feature_map == "dorm" else ""
        return f"{self.loss}{at}-{self.feature_map}{scale}{decay}"

    @property
    def metric(self) -> RankingMetric:
        named = parse_metric(self.loss)
        return named.declaration(self.cutoff, **dict(named.changed))

    def losses(self, labels: Floats, order: NDArray[np.int64]) -> Floats:
        """1 - metric of each ranking, (rankings, n) -> (rankings,)."""
        different, number = np.unique(labels[order], axis=0, return_inverse=True)
        found = [loss_of_ranking(self.metric, tuple(ranked)) for ranked in different.tolist()]
        return np.array(found)[number.ravel()]

    def features(self, labels: Floats, order: NDArray[np.int64]) -> Floats:
        """Psi of each ranking less Psi of the right one, as coefficients of the documents."""
        found = np.zeros(order.shape)
        every = np.arange(len(order))
        rank = np.argsort(order, axis=1)
        n = labels.size
        if self.feature_map == "dorm":
            reach = n if self.decay == "smooth" else self.decay
            decay = (np.arange(n) < reach) / np.log2(2.0 + np.arange(n))
            right = np.argsort(np.argsort(-labels, kind="stable"), kind="stable")
            return decay[rank] - decay[right]
        if self.feature_map == "mrr":
            first = (labels[order] >= 1).argmax(axis=1)
            for r in range(n):
                ahead = r < first
                found[every[ahead], order[ahead, r]] += 1
                found[every[ahead], order[ahead, first[ahead]]] -= 1
            return found
        pairs = [(a, b) for a in range(n) for b in range(n) if labels[a] > labels[b]]
        for a, b in pairs:
            wrong = rank[:, b] < rank[:, a]
            found[wrong, b] += 2
            found[wrong, a] -= 2
        return found / len(pairs) if self.pair_scale else found

    def constraints(self, labels: Floats) -> tuple[Floats, Floats]:
        """Losses and features of all rankings, (n!,) and (n!, n); one of zeros for one class."""
        if len(np.unique(labels)) == 1:
            return np.zeros(1), np.zeros((1, labels.size))
        order = permutations(labels.size)
        return self.losses(labels, order), self.features(labels, order)

    def hinge(self, labels: Floats, scores: Floats) -> float:
        """The value of the most violated constraint over all rankings."""
        losses, features = self.constraints(labels)
        return float(np.max(losses + features @ scores))


def minimum(planes: list[tuple[Floats, Floats]], price: float, w: Floats) -> Floats:
    """Of 1/2 |w|^2 + price * sum of slacks, with slack_q >= loss + slope . w for all rankings."""
    # SLSQP of SciPy 1.11 may stay where it starts, unless that is inside.
    slack = [np.max(loss + slope @ w) + 1.0 for loss, slope in planes]
    own = np.repeat(np.eye(len(planes)), [loss.size for loss, _ in planes], axis=0)
    A = np.hstack([-np.concatenate([slope for _, slope in planes]), own])
    b = np.concatenate([loss for loss, _ in planes])
    square = np.append(np.ones(w.size), np.zeros(len(planes)))
    found = minimize(
        lambda v: v @ (square * v) / 2 + price * v[w.size :].sum(), np.append(w, slack),
        jac=lambda v: square * v + price * (1 - square), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    return np.asarray(found.x[: w.size])
