"""Significance tests for two systems on the same queries."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from lambdaplus.compute.arguments import check_choice, number, whole_number
from lambdaplus.compute.array_types import Floats

Test = Literal["wilcoxon", "t", "randomization"]
Alternative = Literal["two-sided", "greater"]

TESTS: dict[str, str] = {
    "wilcoxon": "Wilcoxon signed-rank",
    "t": "paired t",
    "randomization": "paired randomisation",
}
ALLOWED: dict[str, tuple[str, ...]] = {
    "test": tuple(TESTS),
    "alternative": get_args(Alternative),
    "correction": ("holm", "none"),
}
# Equal values may differ by this much because of rounding errors, relative to the largest.
ROUNDING = 1e-12
AT_A_TIME = 1_000_000  # random numbers drawn at a time: 8 MB


def check_options(
    alpha: float = 0.5, confidence: float = 0.5, resamples: int = 1, seed: int = 0, **names: str
) -> None:
    """Raise a ValueError for an invalid option; names are test, alternative and correction."""
    for option, name in names.items():
        check_choice(option, name, ALLOWED[option])
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


def p_value(
    difference: Floats,
    test: Test,
    alternative: Alternative,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> float:
    """P-value of the hypothesis that two systems do not differ; 1 if they are equal on all queries.

    ``difference``, (n,), is the first system minus the second on each query.  The randomisation
    test is exact if 2^n <= resamples; the t-test is NaN with fewer than two queries.
    """
    check_options(test=test, alternative=alternative, resamples=resamples, seed=seed)
    from scipy import stats  # which takes longer to import than all else in this package

    difference = rounded(difference)
    n, observed = difference.size, difference.sum()
    if not difference.any():
        return 1.0
    if test == "wilcoxon":
        # With zeros, SciPy has no exact test of few queries.
        nonzero = difference[difference != 0.0]
        return float(stats.wilcoxon(nonzero, alternative=alternative).pvalue)
    if test == "t":
        if n < 2:
            return np.nan
        if np.ptp(difference) == 0.0:  # the same difference on all queries: the variance is 0
            return 0.0 if alternative == "two-sided" or difference[0] > 0 else 1.0
        return float(stats.ttest_1samp(difference, 0.0, alternative=alternative).pvalue)
    exact = 2**n <= resamples
    if exact:
        sums = (1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)) @ difference
    else:  # many times faster than SciPy's permutation_test
        random = np.random.default_rng(seed)
        signs = (random.integers(0, 2, (rows, n)) for rows in _parts(resamples, n))
        sums = np.concatenate([(1.0 - 2.0 * part) @ difference for part in signs])
    if alternative == "two-sided":
        sums, observed = np.abs(sums), abs(observed)
    # Equal sums may differ because of rounding errors.
    extreme = int((sums >= observed - ROUNDING * np.abs(difference).sum()).sum())
    return extreme / sums.size if exact else (1 + extreme) / (1 + sums.size)


def bootstrap_intervals(
    differences: Sequence[Floats],
    confidence: float = 0.95,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> list[tuple[float, float]]:
    """Confidence intervals of mean differences by the percentile bootstrap; NaN without queries."""
    tail = (1.0 - confidence) / 2
    intervals = [(np.nan, np.nan)] * len(differences)
    for n in {difference.size for difference in differences} - {0}:
        alike = [i for i, difference in enumerate(differences) if difference.size == n]
        columns = np.array([differences[i] for i in alike]).T
        random = np.random.default_rng(seed)
        drawn = (_times_drawn(random, rows, n) for rows in _parts(resamples, n))
        means = np.concatenate([times @ columns / n for times in drawn])
        low, high = np.quantile(means, [tail, 1.0 - tail], axis=0).tolist()
        for i, *interval in zip(alike, low, high, strict=True):
            intervals[i] = (interval[0], interval[1])
    return intervals


def _parts(resamples: int, n: int) -> list[int]:
    """Sizes of the parts in which samples of n random numbers each are drawn."""
    rows = max(1, AT_A_TIME // n)
    return [min(rows, resamples - done) for done in range(0, resamples, rows)]


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
