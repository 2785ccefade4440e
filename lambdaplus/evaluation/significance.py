"""Significance tests of the differences of systems, and confidence intervals of their values.

Metrics over all rows, which have no values by query, have errors over rows.  AUC has DeLong's
covariance: an AUC is a mean over rows with label 1, and one over the others, of the share of the
rows of the other side that a row is ranked correctly against.  Other metrics are bootstrapped over
rows.  The tests of differences are in `effects`.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.evaluation.effects import ROUNDING, Effect, weighted_means
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.scope import scope
from lambdaplus.metrics.values import values
from lambdaplus.ranking.sort import Scored

Interval = tuple[float, float]
Test = Literal["t", "wilcoxon"]
TESTS: dict[str, str] = {"t": "paired t", "wilcoxon": "Wilcoxon signed-rank"}
SEED = 0  # of the bootstraps
RESAMPLES = 9999  # of the bootstrap over queries
AT_A_TIME = 1_000_000  # numbers of this bootstrap at a time: 8 MB
# Of the bootstrap over rows: enough for a standard error, since p comes from a normal distribution.
MOST_RESAMPLES, FEWEST_RESAMPLES = 999, 200
MOST_ROWS = 10_000_000  # over all resamples, of one run


def rounded(difference: Floats) -> Floats:
    """The same numbers, (n,), but sizes that differ by rounding errors are equal, or 0.

    Otherwise, .4 - .2 and .6 - .4 would have different ranks.
    """
    size = np.abs(difference)
    order = np.argsort(size)
    # Steps between clusters, where rounding to digits could part two sizes that differ by an error.
    larger = np.diff(size[order], prepend=0.0) > ROUNDING * max(1.0, size.max(initial=0.0))
    level = np.empty_like(size)
    level[order] = np.append(0.0, size[order][larger])[np.cumsum(larger)]
    return np.copysign(level, difference)


def wilcoxon(difference: Floats) -> tuple[float, float]:
    """Two-sided p of Wilcoxon's test, and the sum of signed ranks, whose sign it favours.

    With fewer than two queries there is no test: p is NaN.
    """
    from scipy import stats  # which takes longer to import than all else in this package

    if difference.size < 2:
        return np.nan, 0.0
    nonzero = difference[difference != 0.0]  # with zeros, SciPy has no exact test of few queries
    if not nonzero.size:
        return 1.0, 0.0
    ranks = np.sign(nonzero) @ stats.rankdata(np.abs(nonzero))
    return float(stats.wilcoxon(nonzero).pvalue), float(ranks)


def interval_over_queries(values: Floats, weights: Floats, confidence: float) -> Interval:
    """The interval of a weighted mean of (n,) values by the percentile bootstrap.

    It is NaN for fewer than two values.
    """
    from scipy import stats

    if values.size < 2:
        return np.nan, np.nan

    def mean(products: Floats, weights: Floats, axis: int) -> Floats:
        return np.asarray(products.sum(axis) / weights.sum(axis))

    low, high = stats.bootstrap(
        (values * weights, weights), mean, paired=True, vectorized=True, n_resamples=RESAMPLES,
        batch=max(1, AT_A_TIME // values.size), confidence_level=confidence, method="percentile",
        random_state=np.random.default_rng(SEED),
    ).confidence_interval  # fmt: skip
    return float(low), float(high)


def holm(p_values: Floats) -> Floats:
    """Correct p-values, (m,), for multiple testing (Holm 1979); NaN is kept and not counted."""
    out = np.full(p_values.size, np.nan)
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return out


# Over rows ----------------------------------------------------------------------------------------


class RankedRows(NamedTuple):
    """The rows of a data set without queries, and the scores that ranked them.

    Attributes
    ----------
    labels, scores : (n,) float64
    weights : (n,) float64 or None
    """

    labels: Floats
    scores: Floats
    weights: Floats | None


class RowStatistics(NamedTuple):
    """How much the values of k runs vary with the rows of their data set.

    Attributes
    ----------
    covariance : (k, k) float64
    resampled : (r, k) float64
        Values on samples of the rows; r is 0 for DeLong's covariance.
    """

    covariance: Floats
    resampled: Floats

    def interval(self, run: int, value: float, confidence: float) -> Interval:
        """The interval of the value of a run."""
        if len(self.resampled):
            tail = (1.0 - confidence) / 2
            low, high = np.quantile(self.resampled[:, run], [tail, 1.0 - tail]).tolist()
            return low, high
        error = float(np.sqrt(np.maximum(self.covariance[run, run], 0.0)))  # NaN remains
        low, high = Effect(value, error, math.inf).interval(confidence)
        return max(0.0, low), min(1.0, high)


def row_statistics(metric: RankingMetric, runs: Sequence[RankedRows]) -> RowStatistics:
    """Those of a metric of k runs on the same rows."""
    if metric.declaration.name == "auc":
        return RowStatistics(_delong(runs, float(metric["relevant"])), np.empty((0, len(runs))))
    unknown = np.full((len(runs),) * 2, np.nan)
    if metric.declaration.binary and _smaller_class(metric, runs[0]) < 2:
        return RowStatistics(unknown, np.empty((0, len(runs))))  # samples would not vary it
    n = min(MOST_RESAMPLES, max(FEWEST_RESAMPLES, MOST_ROWS // runs[0].labels.size))
    resampled = _bootstrap(metric, runs, n, np.random.default_rng(SEED))
    resampled = resampled[~np.isnan(resampled).any(axis=1)]  # without a relevant row
    if len(resampled) < 2:
        return RowStatistics(unknown, resampled)
    return RowStatistics(np.atleast_2d(np.cov(resampled, rowvar=False)), resampled)


def _smaller_class(metric: RankingMetric, rows: RankedRows) -> int:
    """The number of relevant rows with weight, or of the others if they are fewer."""
    labels = rows.labels if rows.weights is None else rows.labels[rows.weights > 0]
    relevant = int((labels >= float(metric["relevant"])).sum())
    return min(relevant, labels.size - relevant)


def _delong(runs: Sequence[RankedRows], relevant: float) -> Floats:
    """DeLong's covariance of the AUCs of k runs on the same rows, (k, k) (DeLong et al. 1988).

    It is unknown, NaN, if a side has fewer than two rows with weight.
    """
    good = runs[0].labels >= relevant
    weights = np.ones(good.size) if runs[0].weights is None else runs[0].weights
    sides = [np.empty((len(runs), side.sum())) for side in (good, ~good)]
    for k, run in enumerate(runs):
        sides[0][k] = _share_below(run.scores, weights, good)
        sides[1][k] = 1.0 - _share_below(run.scores, weights, ~good)
    covariance = np.zeros((len(runs), len(runs)))
    for side, share in zip((good, ~good), sides, strict=True):
        used = weights[side] > 0
        covariance += weighted_means(share[:, used], weights[side][used])[1]
    return covariance


def _share_below(scores: Floats, weights: Floats, side: Bools) -> Floats:
    """For each row of a side, the share of the rows of the other side with lower scores.

    Tied rows count half.
    """
    other = scores[~side]
    order = np.argsort(other)
    total = np.append(0.0, np.cumsum(weights[~side][order]))
    ends = [np.searchsorted(other[order], scores[side], end) for end in ("left", "right")]
    return np.asarray((total[ends[0]] + total[ends[1]]) / 2 / total[-1])


def _bootstrap(
    metric: RankingMetric, runs: Sequence[RankedRows], resamples: int, random: np.random.Generator
) -> Floats:
    """Values of k runs on samples of the same rows with replacement, (resamples, k)."""
    labels, weights, n = runs[0].labels, runs[0].weights, runs[0].labels.size
    # Sorted scores make the sort of each sample cheaper.
    orders = [np.argsort(run.scores) for run in runs]
    found = np.empty((resamples, len(runs)))
    for sample in found:
        times = np.bincount(random.integers(0, n, n), minlength=n).astype(np.float64)
        if weights is not None and metric.weighs_rows:
            times *= weights
        for k, (run, order) in enumerate(zip(runs, orders, strict=True)):
            rows = order[times[order] > 0]
            sample[k] = _value(metric, labels[rows], run.scores[rows], times[rows])
    return found


def _value(metric: RankingMetric, labels: Floats, scores: Floats, times: Floats) -> float:
    if not metric.weighs_rows:  # kernels take a row of weight k as one row
        copies = np.repeat(np.arange(times.size), times.astype(np.int64))
        labels, scores, times = labels[copies], scores[copies], np.ones(copies.size)
    queries = scope(metric, Queries(labels, weight=times))
    return float(values(metric, Scored(queries, scores))[0])
