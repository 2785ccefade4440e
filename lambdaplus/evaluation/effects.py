"""Mean differences of methods, with errors over what a training changes: its queries and its seed.

The question is: trained on these data, which method is better on new queries?  A model is one draw
of a seed and of sampled rows and columns.  A test of two models over queries says nothing about
that draw, so more queries make any two models of one method significantly different.

- With several seeds, the error has two parts: the variance over queries, of the means over seeds,
  and the variance of the seeds' means beyond what single queries explain.  The second is pooled
  over folds and methods before it is cut at 0.
- With one seed, the second part is unknown, and the means of folds are compared, by Student's
  t-test.  Each has its own training data, seed and test queries.
- With one training of each system, only the two models can be compared, over queries.

Training data is no part of the error.  In the mean over rotated folds, every query has trained
equally often, and the model that follows is trained on the same data.  For new training data, no
test from folds has the right level (Bengio and Grandvalet 2004).

The derivation and its sources are in `docs/research/mathematics/trainings.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats

# Values may differ by this much because of rounding errors.
ROUNDING = 1e-12


Bounds = tuple[float, float] | None
"""The lowest and the highest possible value, if there are such."""


class Effect(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of the error.

    ``lasting`` is the part of the variance that more seeds do not lower, that of the queries; NaN
    if it is unknown, with one seed.
    """

    mean: float
    error: float
    freedom: float
    lasting: float = math.nan

    @property
    def p_value(self) -> float:
        """Two-sided p of Student's test that the mean is 0.

        Without an error it is NaN, since equal differences are no proof, and 1 for a mean of 0.
        """
        from scipy import stats  # which takes longer to import than all else in this package

        if self.error == 0.0:
            return 1.0 if self.mean == 0.0 else math.nan
        return float(2 * stats.t.sf(abs(self.mean) / self.error, self.freedom))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval, which leaves out 0 if and only if p < 1 - confidence; or NaN."""
        from scipy import stats

        if self.error == 0.0:
            return (0.0, 0.0) if self.mean == 0.0 else (math.nan, math.nan)
        half = float(stats.t.isf((1.0 - confidence) / 2, self.freedom) * self.error)
        return self.mean - half, self.mean + half


def of_difference(bounds: Bounds) -> Bounds:
    """The bounds of a difference of two values with these bounds."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def within(interval: tuple[float, float], bounds: Bounds) -> tuple[float, float]:
    """The part of an interval that is within bounds; NaN remains."""
    if bounds is None:
        return interval
    low, high = np.clip(interval, *bounds).tolist()
    return low, high


class RunMeans(NamedTuple):
    """The runs of one system, or of two, on the same queries or rows.

    Attributes
    ----------
    means : (k,) float64
        Of each run; those of the second system follow.
    covariance : (k, k) float64
        Of the means, over queries or rows.
    freedom : float
        Degrees of freedom of the covariance.
    counts : tuple of int
        Number of runs of each system.
    """

    means: Floats
    covariance: Floats
    freedom: float
    counts: tuple[int, ...]


def on_queries(*systems: ArrayLike, weights: ArrayLike | None = None) -> RunMeans:
    """The runs of one or two systems, each (queries,) or (runs, queries) values, NaN if undefined.

    Queries without a value in one of the runs are left out, and so are those of weight 0.
    """
    of_systems = [np.atleast_2d(np.asarray(values, np.float64)) for values in systems]
    values = np.concatenate(of_systems)
    w = np.ones(values.shape[1]) if weights is None else np.asarray(weights, np.float64)
    known = ~np.isnan(values).any(axis=0) & (w > 0.0)
    values, w = values[:, known], w[known]
    return RunMeans(*weighted_means(values, w), tuple(map(len, of_systems)))


def weighted_means(values: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """The weighted means of (k, n) values, their covariance (k, k), and its degrees of freedom.

    A weighted mean is a ratio, sum(w v) / sum(w), so its errors are those of w (v - mean), not of
    w v.  Their sum of squares is divided by its expectation for equal variances of the values.  The
    degrees of freedom are those of the effective number, sum(w)^2 / sum(w^2).  Satterthwaite's are
    a third of these for lognormal weights, and the test then rejects in 3 % for 5 %.  With equal
    weights, this is Student's test.
    """
    unknown = np.full(len(values), np.nan)
    means = np.average(values, axis=1, weights=weights) if weights.size else unknown
    if weights.size < 2:
        return means, np.full((len(means),) * 2, np.nan), weights.size - 1.0
    w = weights / weights.sum()
    second = float(w @ w)  # the variance of w'v if that of v is 1
    expected = float(np.sum((w * (1.0 - w)) ** 2)) + max(0.0, second**2 - float(np.sum(w**4)))
    deviations = w * (values - means[:, None])
    covariance: Floats = deviations @ deviations.T * (second / expected)
    return means, covariance, max(1.0 / second - 1.0, ROUNDING)


def over_folds(folds: Sequence[RunMeans]) -> Effect:
    """The mean over folds of a system's value, or of the first less the second.

    Parameters
    ----------
    folds : sequence of RunMeans
        Each fold has its own queries or rows.

    Examples
    --------
    >>> from lambdaplus.evaluation.effects import on_queries, over_folds
    >>> new, old = [0.5, 0.7, 0.6, 0.9], [0.4, 0.7, 0.3, 0.8]
    >>> round(over_folds([on_queries(new, old)]).p_value, 4)  # Student's paired t-test
    0.1411
    """
    contrasts = [_contrast(fold) for fold in folds]
    n, gaps = len(folds), np.array([c @ one.means for c, one in zip(contrasts, folds, strict=True)])
    gaps[np.abs(gaps) <= ROUNDING] = 0.0
    mean = float(gaps.mean())
    # Variances of the sum over folds, which become those of the mean at the end.
    of_queries = [float(c @ one.covariance @ c) for c, one in zip(contrasts, folds, strict=True)]
    seeds = np.array([*_seeds_parts(folds)]).reshape(-1, 3)
    spread, explained = float(seeds[:, 0].sum()), float(seeds[:, 1].sum())
    unknown = math.isnan(sum(of_queries))
    no_seeds = max(spread, explained) <= ROUNDING * sum(np.trace(one.covariance) for one in folds)
    if n > 1 and (unknown or no_seeds):  # there are none, or they change nothing
        return _effect(mean, float(gaps.var(ddof=1)) / n, n - 1.0)
    if unknown:
        return Effect(mean, math.nan, math.nan)
    of_seeds = max(0.0, spread - explained)
    total = sum(of_queries) + of_seeds
    squares = sum(v**2 / fold.freedom for v, fold in zip(of_queries, folds, strict=True))
    if of_seeds:  # a part of the spread, which has the freedom of the seeds
        squares += of_seeds / spread * float((seeds[:, 0] ** 2 / seeds[:, 2]).sum())
    lasting = max(0.0, sum(of_queries) - explained) / n**2 if len(seeds) else math.nan
    return _effect(mean, total / n**2, _freedom(total, squares), lasting)


def over_sets(effects: Sequence[Effect]) -> Effect:
    """The mean of independent effects, such as those on several data sets, which count equally."""
    variances = np.array([effect.error**2 for effect in effects]) / len(effects) ** 2
    squares = float(np.sum(variances**2 / np.array([effect.freedom for effect in effects])))
    mean, total = np.mean([effect.mean for effect in effects]), float(variances.sum())
    return _effect(float(mean), total, _freedom(total, squares))


def _freedom(total: float, squares: float) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances v with freedom f, of v^2 / f."""
    return total**2 / squares if squares else math.inf


def _contrast(runs: RunMeans) -> Floats:
    """The weights of the runs: the mean of the first system less that of the second."""
    signs = zip((1.0, -1.0), runs.counts, strict=False)
    return np.concatenate([np.full(count, sign / count) for sign, count in signs])


def _seeds_parts(folds: Sequence[RunMeans]) -> Iterator[tuple[float, float, float]]:
    """Variance of the mean, explained part and freedom, of each system on each fold with seeds.

    The variance of the runs' means contains what seeds change on single queries, which the variance
    over queries has already: the mean variance over queries of a run, less the mean covariance of
    two.  In a table of seeds and queries, this is the residual mean square by query.  If a system
    has a single run on some folds, the parts of the other folds stand for these, too.
    """
    for system in range(len(folds[0].counts)):
        several = [fold for fold in folds if fold.counts[system] > 1]
        shares = [sum(1.0 / fold.counts[system] for fold in part) for part in (folds, several)]
        for fold in several:
            count, begin = fold.counts[system], sum(fold.counts[:system])
            own = slice(begin, begin + count)
            covariance, spread = fold.covariance[own, own], fold.means[own].var(ddof=1)
            explained = (np.trace(covariance) - covariance.sum() / count) / (count - 1)
            part = shares[0] / shares[1] / count
            yield float(spread * part), float(explained * part), count - 1.0


def _effect(mean: float, variance: float, freedom: float, lasting: float = math.nan) -> Effect:
    error = math.sqrt(max(0.0, variance))  # of equal systems, rounding may leave less than 0
    return Effect(mean, 0.0 if error <= ROUNDING else error, freedom, lasting)
