"""RankBoost: boosting of threshold rankers on pairs of documents, which are not stored."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaplus.baselines.active_pairs import pair_weight
from lambdaplus.baselines.allowed_values import AtLeastOne
from lambdaplus.baselines.base_ranker import ValidatedRanker, ValidationSet
from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Metric
from lambdaplus.metrics.progress import Progress

MAX_BINS = 256  # of a feature
PERFECT = 1.0 - 1e-12  # a ranker that ranks all pairs correctly would have infinite weight


@dataclass(eq=False, repr=False)
class RankBoost(ValidatedRanker):
    """Sum of weighted threshold rankers, alpha_t [x_f > threshold], one per round.

    Thresholds are halfway between the values of a feature or, of more than 256, between quantiles.

    Parameters
    ----------
    n_rounds : int
        Maximum number of rounds; with ``eval_set``, the best number there is used.
    metric : str or RankingMetric
        Metric for ``eval_set``.

    Attributes
    ----------
    features_ : (rounds kept,) int64
    thresholds_, alphas_ : (rounds kept,) float64
        Feature, threshold and weight 1/2 log((1 + r)/(1 - r)) of the ranker of each round; the
        weight is negative if low values are better.
    n_rounds_ : int
    learning_curve_ : (rounds done,) float64
        Validation value after each round; empty without ``eval_set``.

    Notes
    -----
    Freund, Iyer, Schapire & Singer, "An efficient boosting algorithm for combining preferences",
    JMLR 4, 2003: the third method of choosing alpha (sec. 3.2).  The weight of a pair is a product
    of factors of its documents, also for graded labels, so that a round takes O(n d).

    Examples
    --------
    >>> from lambdaplus.baselines import RankBoost
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> RankBoost(n_rounds=1).fit(X, y, qid=qid).features_
    array([1])
    """

    n_rounds: AtLeastOne = 300
    _: KW_ONLY
    metric: Metric = "ndcg@10"

    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        strata, rate = queries.strata(), pair_weight(queries)
        thresholds = [_thresholds(column) for column in X.T]
        bins = _binned(X, thresholds)
        n_thresholds = np.array([t.size for t in thresholds])
        scores, potential = np.zeros(len(X)), np.empty(len(X))
        mass = np.empty(queries.n_queries)

        def weights_of_pairs() -> float:
            over_queries(
                _potentials, queries.boundaries, strata.code, strata.n_classes, rate, scores,
                potential, mass,
            )  # fmt: skip
            return float(mass.sum())

        if validation is not None:
            judged, sums = _binned(validation.X, thresholds), np.zeros(len(validation.X))
        rounds: list[tuple[int, float, float]] = []
        progress = Progress()
        total = weights_of_pairs()
        for _ in range(self.n_rounds):
            feature, place, r = _best_threshold(bins, n_thresholds, potential)
            if r == 0.0:  # no weak ranker is better than a random order
                break
            share = np.clip(r / total, -PERFECT, PERFECT)
            alpha = float(np.arctanh(share))  # 1/2 log((1 + r)/(1 - r))
            scores += alpha * (bins[:, feature] > place)
            total = weights_of_pairs()
            rounds.append((feature, float(thresholds[feature][place]), alpha))
            if validation is not None:
                sums += alpha * (judged[:, feature] > place)
                progress.add(len(rounds), validation.value(sums))
            if abs(share) == PERFECT:
                break
        if not rounds:
            raise ValueError("no feature distinguishes higher from lower documents of a query")
        self.learning_curve_ = np.array(progress.values)
        self.n_rounds_ = progress.best_round or len(rounds)
        kept = zip(*rounds[: self.n_rounds_], strict=True)
        features, self.thresholds_, self.alphas_ = map(np.array, kept)
        self.features_: Ints = features.astype(np.int64)

    def _scores(self, X: Floats) -> Floats:
        columns, scores = np.ascontiguousarray(X.T), np.zeros(len(X))
        for f, threshold, alpha in zip(self.features_, self.thresholds_, self.alphas_, strict=True):
            scores += alpha * (columns[f] > threshold)
        return scores


def _thresholds(column: Floats) -> Floats:
    """Thresholds halfway between the values of a feature, or between quantiles of many."""
    values = np.unique(column)
    if values.size > MAX_BINS:
        shares = np.linspace(0.0, 1.0, MAX_BINS)
        values = np.unique(np.quantile(column, shares, method="nearest"))
    low, high = values[:-1], values[1:]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)  # there is no number between adjacent floats


def _binned(X: Floats, thresholds: list[Floats]) -> NDArray[np.uint8]:
    """Number of thresholds below each entry; it is above threshold t if there are more than t."""
    columns = [np.searchsorted(t, column) for t, column in zip(thresholds, X.T, strict=True)]
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.uint8)


@compiled
def _potentials(
    first: int, last: int, boundaries: Ints, code: Int32s, n_classes: Ints, rate: Floats,
    scores: Floats, potential: Floats, mass: Floats,
) -> None:  # fmt: skip
    """The contribution of each document to r, and the total weight of the pairs of each query.

    The weight of a pair of a lower document j and a higher document i is rate exp(H_j - H_i), a
    product, so the sum over the partners of a document is a sum over the classes below or above it.
    """
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        # Both exponentials of a document are relative to the middle, which cancels in the products.
        middle = (scores[start:stop].min() + scores[start:stop].max()) / 2  # against overflow
        wrong, right = np.zeros(n_classes[q]), np.zeros(n_classes[q])
        for i in range(start, stop):
            wrong[code[i]] += np.exp(scores[i] - middle)
            right[code[i]] += np.exp(middle - scores[i])
        # Sums over the classes below and above each class.
        lower, higher = np.zeros(n_classes[q]), np.zeros(n_classes[q])
        for c in range(1, n_classes[q]):
            lower[c] = lower[c - 1] + wrong[c - 1]
            higher[-1 - c] = higher[-c] + right[-c]
        mass[q] = 0.0
        for i in range(start, stop):
            # The pairs in which i is the higher document, less those in which it is the lower one:
            # r of a threshold is the sum of these over the documents above it.
            above = rate[i] * np.exp(middle - scores[i]) * lower[code[i]]
            potential[i] = above - rate[i] * np.exp(scores[i] - middle) * higher[code[i]]
            mass[q] += above


@compiled
def _best_threshold(
    bins: NDArray[np.uint8], n_thresholds: Ints, potential: Floats
) -> tuple[int, int, float]:
    """The feature and threshold with the largest absolute sum r of the documents above it."""
    n, d = bins.shape
    # A histogram of the potentials by bin; the sum over the documents above each threshold follows
    # from the right.
    sums = np.zeros((d, n_thresholds.max() + 1))
    for i in range(n):
        for f in range(d):
            sums[f, bins[i, f]] += potential[i]
    feature, threshold, best = 0, 0, 0.0
    for f in range(d):
        r = 0.0
        for t in range(n_thresholds[f] - 1, -1, -1):
            r += sums[f, t + 1]
            if abs(r) > abs(best):
                feature, threshold, best = f, t, r
    return feature, threshold, best
