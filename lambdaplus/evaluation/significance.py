"""Significance tests for two systems on the same queries.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.evaluation.significance import p_value
>>> difference = np.array([0.1, 0.2, 0.05, 0.3, -0.02, 0.15, 0.08, 0.01])
>>> round(p_value(difference, "wilcoxon", "two-sided"), 4)
0.0234
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Literal, get_args

import numpy as np
from scipy import stats

from lambdaplus.data.arguments import whole_number
from lambdaplus.data.queries import Floats

Test = Literal["wilcoxon", "t", "randomization"]
Alternative = Literal["two-sided", "greater"]

TESTS: dict[str, str] = {
    "wilcoxon": "Wilcoxon signed-rank",
    "t": "paired t",
    "randomization": "paired randomisation",
}
ALTERNATIVES: tuple[str, ...] = get_args(Alternative)
CORRECTIONS = ("holm", "none")
AT_A_TIME = 1_000_000  # number of random signs drawn at a time: 8 MB


def check_options(
    *,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str = "none",
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int = 1,
    seed: int = 0,
) -> None:
    """Raise a ValueError for an invalid option, which lists the allowed values."""
    for name, value, allowed in (
        ("test", test, tuple(TESTS)),
        ("alternative", alternative, ALTERNATIVES),
        ("correction", correction, CORRECTIONS),
    ):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is not one of {', '.join(allowed)}")
    for name, share in (("alpha", alpha), ("confidence", confidence)):
        if not (isinstance(share, Real) and 0.0 < share < 1.0):
            raise ValueError(f"{name}={share!r} is not a number between 0 and 1")
    whole_number("resamples", resamples, least=1, below=10**8)
    whole_number("seed", seed)


def p_value(
    difference: Floats,
    test: Test,
    alternative: Alternative,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> float:
    """P-value of the null hypothesis that there is no difference between two systems.

    Parameters
    ----------
    difference : (n,) float64
        First system minus second, for each query.
    test : {"wilcoxon", "t", "randomization"}
        Wilcoxon's signed-rank test (without queries whose difference is 0; Yue et al. 2007), the
        paired t-test (Elsas et al. 2008), or Fisher's paired randomisation test, which swaps the
        two systems on each query at random (exact if 2^n <= resamples).
    alternative : {"two-sided", "greater"}
        "greater": the first system is better.
    resamples : int
        Number of samples of the randomisation test.
    seed : int
        Seed of the randomisation test.

    Returns
    -------
    float
        1 if there is no difference on any query; NaN for a t-test with fewer than two queries.

    Raises
    ------
    ValueError
        For an unknown test or alternative.
    """
    check_options(test=test, alternative=alternative, resamples=resamples, seed=seed)
    if not difference.any():
        return 1.0
    if test == "wilcoxon":
        return float(stats.wilcoxon(difference, alternative=alternative).pvalue)
    if test == "t":
        if np.ptp(difference) == 0.0:  # the same difference on all queries: the variance is 0
            return 0.0 if alternative == "two-sided" or difference[0] > 0 else 1.0
        return float(stats.ttest_1samp(difference, 0.0, alternative=alternative).pvalue)
    sums = _random_sums(difference, resamples, seed)
    if alternative == "two-sided":
        sums, observed = np.abs(sums), abs(difference.sum())
    else:
        observed = difference.sum()
    # An equal sum must not become smaller because of rounding.
    extreme = int((sums >= observed - 1e-12 * np.abs(difference).sum()).sum())
    if 2**difference.size <= resamples:
        return extreme / sums.size
    return (1 + extreme) / (1 + sums.size)


def _random_sums(difference: Floats, resamples: int, seed: int) -> Floats:
    """Sums of the differences with random signs, or with all signs if there are few enough."""
    n = difference.size
    if 2**n <= resamples:
        signs = 1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return np.asarray(signs @ difference)
    random = np.random.default_rng(seed)
    rows = max(1, AT_A_TIME // n)
    parts = [
        (1.0 - 2.0 * random.integers(0, 2, (min(rows, resamples - done), n))) @ difference
        for done in range(0, resamples, rows)
    ]
    return np.concatenate(parts)


def bootstrap_intervals(
    differences: Sequence[Floats],
    confidence: float = 0.95,
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> list[tuple[float, float]]:
    """Confidence interval of each mean difference by the percentile bootstrap; NaN without queries.

    Differences of the same length share their draws.

    Parameters
    ----------
    differences : sequence of (n,) float64
        Lengths may differ; the interval of an empty array is NaN.
    confidence : float
    resamples, seed : int
    """
    tail = (1.0 - confidence) / 2
    found = [(np.nan, np.nan)] * len(differences)
    for n in {difference.size for difference in differences} - {0}:
        mine = [i for i, difference in enumerate(differences) if difference.size == n]
        columns = np.array([differences[i] for i in mine]).T
        random = np.random.default_rng(seed)
        rows = max(1, AT_A_TIME // n)
        means = np.concatenate(
            [
                _times_drawn(random, min(rows, resamples - done), n) @ columns / n
                for done in range(0, resamples, rows)
            ]
        )
        low, high = np.quantile(means, [tail, 1.0 - tail], axis=0)
        for i, *interval in zip(mine, low.tolist(), high.tolist(), strict=True):
            found[i] = (interval[0], interval[1])
    return found


def _times_drawn(random: np.random.Generator, resamples: int, n: int) -> Floats:
    """Number of times each of n is drawn in n draws with replacement, (resamples, n) float64."""
    cells = random.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=resamples * n)
    return counts.reshape(resamples, n).astype(np.float64)


def holm(p_values: Floats) -> Floats:
    """Correct p-values for multiple testing (Holm 1979); NaN is kept and not counted.

    Parameters
    ----------
    p_values : (m,) float64

    Returns
    -------
    (m,) float64
    """
    out = np.full(p_values.size, np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    out[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return out
