"""Mean differences with errors over what a training changes: its queries, seed and training data.

A model is one draw of a seed, of sampled rows and columns, and of training data.  The test of two
models over queries says nothing about that draw, so more queries make any two models of one method
significantly different.  Here the unit of replication is a training, a fold with a seed:

- With one seed, the means of folds are compared, by Student's t-test.  Each has its own training
  data, seed and test queries, so that their variance contains all three.
- With several seeds, the variance of a mean also has an estimate by its parts: over the queries of
  a fold, and over the seeds of each system.  The larger of both estimates is taken.
- With several seeds and one fold, the parts alone are known.
- With one training of each system, only the two models can be compared, over queries.

The parts are those of a random-effects analysis of replicated runs (`docs/research/mathematics`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats

# Values may differ by this much because of rounding errors.
ROUNDING = 1e-12


class Effect(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of the error."""

    mean: float
    error: float
    freedom: float

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


def on_queries(*systems: ArrayLike) -> RunMeans:
    """The runs of one or two systems, each (queries,) or (runs, queries) values, NaN if undefined.

    Queries without a value in one of the runs are left out.
    """
    of_systems = [np.atleast_2d(np.asarray(values, np.float64)) for values in systems]
    values = np.concatenate(of_systems)
    values = values[:, ~np.isnan(values).any(axis=0)]
    k, n = values.shape
    means = values.mean(axis=1) if n else np.full(k, np.nan)
    unknown = np.full((k, k), np.nan)
    covariance = np.atleast_2d(np.cov(values)) / n if n > 1 else unknown
    return RunMeans(means, covariance, n - 1.0, tuple(map(len, of_systems)))


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
    parts = [_variance_by_parts(fold) for fold in folds]
    n, gaps = len(folds), np.array([_contrast(fold) @ fold.means for fold in folds])
    gaps[np.abs(gaps) <= ROUNDING] = 0.0
    mean, within = float(gaps.mean()), sum(variance for variance, _ in parts) / n**2
    freedom = _freedom(*zip(*parts, strict=True))
    if n == 1:
        return _effect(mean, within, freedom)
    between = float(gaps.var(ddof=1)) / n
    if math.isnan(within) or all(count == 1 for fold in folds for count in fold.counts):
        return _effect(mean, between, n - 1.0)
    both = _freedom((between, within), (n - 1.0, freedom))
    return _effect(mean, max(between, within), both)


def over_sets(effects: Sequence[Effect]) -> Effect:
    """The mean of independent effects, such as those on several data sets, which count equally."""
    variances = np.array([effect.error**2 for effect in effects]) / len(effects) ** 2
    freedom = _freedom(variances, [effect.freedom for effect in effects])
    return _effect(
        float(np.mean([effect.mean for effect in effects])), float(variances.sum()), freedom
    )


def _contrast(runs: RunMeans) -> Floats:
    """The weights of the runs: the mean of the first system less that of the second."""
    signs = zip((1.0, -1.0), runs.counts, strict=False)
    return np.concatenate([np.full(count, sign / count) for sign, count in signs])


def _variance_by_parts(runs: RunMeans) -> tuple[float, float]:
    """The variance of a difference on one fold, over queries and over seeds, and its freedom."""
    weights, begin = _contrast(runs), 0
    variance = float(weights @ runs.covariance @ weights)
    squares, freedoms = [variance], [runs.freedom]
    for count in runs.counts:
        own = slice(begin, begin := begin + count)
        if count > 1:
            covariance, spread = runs.covariance[own, own], float(runs.means[own].var(ddof=1))
            # What seeds change on single queries is in the variance over queries already.
            known = (np.trace(covariance) - covariance.sum() / count) / (count - 1)
            variance += max(0.0, spread - known) / count
            squares.append(spread / count)
            freedoms.append(count - 1.0)
    return variance, _freedom(squares, freedoms)


def _freedom(variances: ArrayLike, freedoms: ArrayLike) -> float:
    """Satterthwaite's degrees of freedom of a sum of independent estimates of variances."""
    parts = np.asarray(variances, np.float64)
    squares = float(np.sum(parts**2 / np.asarray(freedoms, np.float64)))
    return float(parts.sum()) ** 2 / squares if squares else math.inf


def _effect(mean: float, variance: float, freedom: float) -> Effect:
    error = math.sqrt(variance)
    return Effect(mean, 0.0 if error <= ROUNDING else error, freedom)
