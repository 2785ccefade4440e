"""Significance tests of the differences of systems, and confidence intervals of their values.

Metrics by query are tested over queries.  Metrics over all rows, which have no values by query, are
tested by a normal distribution, with standard errors over rows.  AUC has DeLong's covariance: an
AUC is a mean over rows with label 1, and one over the others, of the share of the rows of the other
side that a row is ranked correctly against.  Other metrics are bootstrapped over rows.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.values import values
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.sort import Scored

Interval = tuple[float, float]
Test = Literal["t", "wilcoxon"]
TESTS: dict[str, str] = {"t": "paired t", "wilcoxon": "Wilcoxon signed-rank"}
# Equal values may differ by this much because of rounding errors, relative to the largest.
ROUNDING = 1e-12
SEED = 0  # of the bootstraps
RESAMPLES = 9999  # of the bootstrap over queries
AT_A_TIME = 1_000_000  # numbers of this bootstrap at a time: 8 MB
# Of the bootstrap over rows: enough for a standard error, since p comes from a normal distribution.
MOST_RESAMPLES, FEWEST_RESAMPLES = 999, 200
MOST_ROWS = 10_000_000  # over all resamples, of one run


class Tested(NamedTuple):
    """The test of a mean difference of two systems, and the interval of this difference."""

    interval: Interval
    p_value: float  # two-sided
    favours: float  # the first system if above 0, the second one if below


def rounded(difference: Floats) -> Floats:
    """The same numbers, (n,), but sizes that differ by rounding errors are equal, or 0.

    Otherwise, .4 - .2 and .6 - .4 would have different ranks.
    """
    size = np.abs(difference)
    order = np.argsort(size)
    # Steps between clusters, where rounding to digits could part two sizes that differ by an error.
    larger = np.diff(size[order], prepend=0.0) > ROUNDING * max(1.0, size.max(initial=0.0))
    equal = np.empty_like(size)
    equal[order] = np.append(0.0, size[order][larger])[np.cumsum(larger)]
    return np.copysign(equal, difference)


def test_of(difference: Floats, test: Test, confidence: float) -> Tested:
    """Test `rounded` differences, (n,): those of the first system less the second on each query."""
    if test == "t":
        return paired_t(difference, confidence)
    interval = interval_over_queries(difference, np.ones_like(difference), confidence)
    return Tested(interval, *wilcoxon(difference))


def paired_t(difference: Floats, confidence: float) -> Tested:
    """Student's test, and his interval, which leaves out 0 if and only if p < 1 - confidence."""
    from scipy import stats  # which takes longer to import than all else in this package

    if difference.size < 2:
        return Tested((np.nan, np.nan), np.nan, np.nan)
    mean = float(difference.mean())
    if np.ptp(difference) == 0.0:  # the variance is 0
        return Tested((mean, mean), float(mean == 0.0), mean)
    found = stats.ttest_1samp(difference, 0.0)
    low, high = found.confidence_interval(confidence)
    return Tested((float(low), float(high)), float(found.pvalue), mean)


def wilcoxon(difference: Floats) -> tuple[float, float]:
    """Two-sided p of Wilcoxon's test, and the sum of signed ranks, whose sign it favours."""
    from scipy import stats

    nonzero = difference[difference != 0.0]  # with zeros, SciPy has no exact test of few queries
    if not nonzero.size:
        return 1.0 if difference.size else np.nan, 0.0
    ranks = np.sign(nonzero) @ stats.rankdata(np.abs(nonzero))
    return float(stats.wilcoxon(nonzero).pvalue), float(ranks)


def interval_over_queries(values: Floats, weights: Floats, confidence: float) -> Interval:
    """The interval of a weighted mean of (n,) values by the percentile bootstrap."""
    from scipy import stats

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
    labels : (n,) float64
    scores : tuple of (n,) float64
        Of each model; the value of a metric is the mean over these.
    weights : (n,) float64 or None
    """

    labels: Floats
    scores: tuple[Floats, ...]
    weights: Floats | None


class RowStatistics(NamedTuple):
    """How much the values of k runs vary with the rows of their data sets.

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
        low, high = _normal_interval(value, self._error(self.covariance[run, run]), confidence)
        return max(0.0, low), min(1.0, high)

    def test(self, first: int, second: int, difference: float, confidence: float) -> Tested:
        """The test of the difference of two runs, by a normal distribution."""
        from scipy import stats

        gap = self.covariance[first] - self.covariance[second]
        error = self._error(gap[first] - gap[second])
        # Without an error, the runs are separated on all rows.
        z = math.inf if error <= ROUNDING else abs(difference) / error
        p = 1.0 if difference == 0.0 else float(2 * stats.norm.sf(z))
        # By the distribution that gives p, so that the two cannot disagree.
        return Tested(_normal_interval(difference, error, confidence), p, difference)

    @staticmethod
    def _error(variance: float) -> float:
        return float(np.sqrt(np.maximum(variance, 0.0)))  # NaN remains


def _normal_interval(value: float, error: float, confidence: float) -> Interval:
    from scipy import stats

    half = float(stats.norm.ppf((1.0 + confidence) / 2) * error)
    return value - half, value + half


def row_statistics(metric: RankingMetric, runs: Sequence[Sequence[RankedRows]]) -> RowStatistics:
    """Those of a metric, whose value for a run is its mean over the data sets of the run."""
    if metric.declaration.name == "auc":
        relevant = float(metric["relevant"])
        parts = [_delong([run[t] for run in runs], relevant) for t in range(len(runs[0]))]
        return RowStatistics(np.sum(parts, axis=0) / len(parts) ** 2, np.empty((0, len(runs))))
    rows = sum(each.labels.size * len(each.scores) for each in runs[0])
    n = min(MOST_RESAMPLES, max(FEWEST_RESAMPLES, MOST_ROWS // rows))
    random = np.random.default_rng(SEED)
    by_set = [_bootstrap(metric, [run[t] for run in runs], n, random) for t in range(len(runs[0]))]
    resampled = np.mean(by_set, axis=0)
    resampled = resampled[~np.isnan(resampled).any(axis=1)]  # without a relevant row
    if len(resampled) < 2:
        return RowStatistics(np.full((len(runs),) * 2, np.nan), resampled)
    return RowStatistics(np.atleast_2d(np.cov(resampled, rowvar=False)), resampled)


def _delong(runs: Sequence[RankedRows], relevant: float) -> Floats:
    """DeLong's covariance of the AUCs of k runs on the same rows, (k, k) (DeLong et al. 1988)."""
    good = runs[0].labels >= relevant
    weights = np.ones(good.size) if runs[0].weights is None else runs[0].weights
    sides = [np.zeros((len(runs), side.sum())) for side in (good, ~good)]
    for k, run in enumerate(runs):
        for scores in run.scores:
            above = _share_below(scores, weights, good)
            below = 1.0 - _share_below(scores, weights, ~good)
            for mean, share in zip(sides, (above, below), strict=True):
                mean[k] += share / len(run.scores)
    covariance = np.zeros((len(runs), len(runs)))
    for side, share in zip((good, ~good), sides, strict=True):
        used = weights[side] > 0
        w, m = weights[side][used], int(used.sum())
        if m < 2:
            return np.full_like(covariance, np.nan)
        centred = w * (share[:, used] - np.average(share[:, used], axis=1, weights=w)[:, None])
        covariance += centred @ centred.T / w.sum() ** 2 * m / (m - 1)
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
    orders = [[np.argsort(scores) for scores in run.scores] for run in runs]
    weighted = weights is not None and metric.weighs_rows
    found = np.empty((resamples, len(runs)))
    for sample in found:
        times = np.bincount(random.integers(0, n, n), minlength=n).astype(np.float64)
        if weights is not None and weighted:
            times *= weights
        for k, run in enumerate(runs):
            sample[k] = np.mean(
                [
                    _value(metric, labels[rows], scores[rows], times[rows], weighted)
                    for scores, order in zip(run.scores, orders[k], strict=True)
                    if (rows := order[times[order] > 0]).size
                ]
            )
    return found


def _value(
    metric: RankingMetric, labels: Floats, scores: Floats, times: Floats, weighted: bool
) -> float:
    if not (metric.declaration.pooled or weighted):  # kernels take a row of weight k as one row
        copies = np.repeat(np.arange(times.size), times.astype(np.int64))
        labels, scores, times = labels[copies], scores[copies], np.ones(copies.size)
    queries = scope(metric, Queries(labels, weight=times))
    return float(values(metric, Scored(queries, scores))[0])
