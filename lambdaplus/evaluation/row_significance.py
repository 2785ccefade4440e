"""Standard errors of metrics over all rows, which have no values by query.

AUC has DeLong's covariance: an AUC is a mean over rows with label 1, and one over the others, of
the share of the rows of the other side that a row is ranked correctly against.  Other metrics are
bootstrapped over rows.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.evaluation.significance import ROUNDING, percentiles
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.values import values
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.sort import Scored

MOST_RESAMPLES = 999  # enough for a standard error, since p-values come from a normal distribution
MOST_ROWS = 10_000_000  # over all resamples, of one run
FEWEST_RESAMPLES = 200


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

    def interval(
        self, value: float, confidence: float, first: int, second: int | None = None
    ) -> tuple[float, float]:
        """The interval of the value of a run, or of its difference from that of another run."""
        from scipy import stats

        signs = self._signs(first, second)
        # Of a difference, by the distribution that gives p, so that the two cannot disagree.
        if len(self.resampled) and second is None:
            low, high = percentiles(self.resampled @ signs, confidence)
            return low, high
        half = stats.norm.ppf((1.0 + confidence) / 2) * self._error(signs)
        if second is not None:
            return value - half, value + half
        return max(0.0, value - half), min(1.0, value + half)

    def p_value(self, difference: float, first: int, second: int) -> float:
        """Two-sided p of the difference of two runs, by a normal distribution."""
        from scipy import stats

        if difference == 0.0:
            return 1.0
        error = self._error(self._signs(first, second))
        # Without an error, the runs are separated on all rows.
        z = math.inf if error <= ROUNDING else abs(difference) / error
        return float(2 * stats.norm.sf(z))

    def _signs(self, first: int, second: int | None) -> Floats:
        signs = np.zeros(len(self.covariance))
        signs[first] = 1.0
        if second is not None:
            signs[second] = -1.0
        return signs

    def _error(self, signs: Floats) -> float:
        variance = float(signs @ self.covariance @ signs)
        return math.sqrt(variance) if variance > 0 else 0.0 * variance  # NaN remains


def row_statistics(
    metric: RankingMetric, runs: Sequence[Sequence[RankedRows]], resamples: int, seed: int
) -> RowStatistics:
    """Those of a metric, whose value for a run is its mean over the data sets of the run."""
    if metric.declaration.name == "auc":
        relevant = float(metric["relevant"])
        parts = [_delong([run[t] for run in runs], relevant) for t in range(len(runs[0]))]
        return RowStatistics(np.sum(parts, axis=0) / len(parts) ** 2, np.empty((0, len(runs))))
    rows = sum(each.labels.size * len(each.scores) for each in runs[0])
    affordable = max(FEWEST_RESAMPLES, MOST_ROWS // rows)
    random = np.random.default_rng(seed)
    n = min(resamples, MOST_RESAMPLES, affordable)
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
