"""Significance tests for two systems on the same queries."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lambdaplus.compute.arguments import check_choice, number, whole_number
from lambdaplus.compute.array_types import Floats

Test = Literal["wilcoxon", "t"]

TESTS: dict[str, str] = {"wilcoxon": "Wilcoxon signed-rank", "t": "paired t"}
# Equal values may differ by this much because of rounding errors, relative to the largest.
ROUNDING = 1e-12
AT_A_TIME = 1_000_000  # random numbers drawn at a time: 8 MB


def check_options(
    test: str = "t",
    *,
    alpha: float = 0.5,
    confidence: float = 0.5,
    resamples: int = 1,
    seed: int = 0,
) -> None:
    """Raise a ValueError for an invalid option."""
    check_choice("test", test, tuple(TESTS))
    number("alpha", alpha, above=0.0, most=1.0)
    number("confidence", confidence, above=0.0, most=1.0)
    whole_number("resamples", resamples, least=1, below=10**8)
    whole_number("seed", seed)


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


def direction(difference: Floats, test: Test) -> int:
    """The sign of what the test tests: of the signed ranks, or else of the mean; 0 for neither."""
    from scipy import stats

    difference = rounded(difference)
    nonzero = difference[difference != 0.0]
    if test == "wilcoxon":
        return int(np.sign(np.sign(nonzero) @ stats.rankdata(np.abs(nonzero))))
    total = nonzero.sum()
    return int(np.sign(total)) if abs(total) > ROUNDING * np.abs(nonzero).sum() else 0


def p_value(difference: Floats, test: Test) -> float:
    """Two-sided p-value of no difference between two systems; 1 if they are equal on all queries.

    ``difference``, (n,), is the first system minus the second on each query.  The t-test is NaN
    with fewer than two queries.
    """
    from scipy import stats  # which takes longer to import than all else in this package

    difference = rounded(difference)
    if not difference.any():
        return 1.0
    if test == "wilcoxon":
        # With zeros, SciPy has no exact test of few queries.
        return float(stats.wilcoxon(difference[difference != 0.0]).pvalue)
    if difference.size < 2:
        return np.nan
    if np.ptp(difference) == 0.0:  # the same difference on all queries: the variance is 0
        return 0.0
    return float(stats.ttest_1samp(difference, 0.0).pvalue)


def intervals_of(
    differences: Sequence[Floats], test: Test, confidence: float, *, resamples: int, seed: int
) -> list[tuple[float, float]]:
    """Confidence intervals of mean differences: Student's for his test, or else the bootstrap's.

    Student's interval leaves out 0 if and only if p is below 1 - confidence.
    """
    if test == "t":
        return [_student_interval(difference, confidence) for difference in differences]
    return bootstrap_intervals(differences, confidence, resamples=resamples, seed=seed)


def _student_interval(difference: Floats, confidence: float) -> tuple[float, float]:
    from scipy import stats

    difference = rounded(difference)
    n = difference.size
    if n < 2:
        return np.nan, np.nan
    error = 0.0 if np.ptp(difference) == 0.0 else difference.std(ddof=1) / np.sqrt(n)
    half = float(stats.t.ppf((1.0 + confidence) / 2, n - 1) * error)
    mean = float(difference.mean())
    return mean - half, mean + half


def bootstrap_intervals(
    differences: Sequence[Floats],
    confidence: float = 0.95,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> list[tuple[float, float]]:
    """Confidence intervals of mean differences by the percentile bootstrap; NaN without queries."""
    intervals = [(np.nan, np.nan)] * len(differences)
    for n in {difference.size for difference in differences} - {0}:
        alike = [i for i, difference in enumerate(differences) if difference.size == n]
        columns = np.array([differences[i] for i in alike]).T
        low, high = percentiles(resampled_means(columns, resamples, seed), confidence)
        for i, *interval in zip(alike, low, high, strict=True):
            intervals[i] = (interval[0], interval[1])
    return intervals


def percentiles(resampled: Floats, confidence: float) -> Any:
    """The ends of the interval of this confidence, of values on samples: (r, ...) -> 2 of (...)."""
    tail = (1.0 - confidence) / 2
    return np.quantile(resampled, [tail, 1.0 - tail], axis=0).tolist()


def resampled_means(columns: Floats, resamples: int, seed: int) -> Floats:
    """Means of samples of the n rows with replacement: (n, k) -> (resamples, k)."""
    n, random = len(columns), np.random.default_rng(seed)
    at_once = max(1, AT_A_TIME // n)
    sizes = (min(at_once, resamples - done) for done in range(0, resamples, at_once))
    return np.concatenate([_times_drawn(random, size, n) @ columns / n for size in sizes])


def _times_drawn(random: np.random.Generator, resamples: int, n: int) -> Floats:
    """Number of times each of n is drawn in n draws with replacement, (resamples, n) float64."""
    cells = random.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=resamples * n)
    return counts.reshape(resamples, n).astype(np.float64)


def holm(p_values: Floats) -> Floats:
    """Correct p-values, (m,), for multiple testing (Holm 1979); NaN is kept and not counted."""
    out = np.full(p_values.size, np.nan)
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return out
