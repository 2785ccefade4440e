"""The difference of two methods of a study by a metric, with its test, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lambdaplus.evaluation.effects import Bounds, Effect, within

ALPHA = 0.05  # of verdicts
LEAST_FREEDOM = 2.0  # of an interval: with one degree of freedom, it says nothing

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)


@dataclass(frozen=True)
class Verdict:
    """The first method less the second one by a metric.

    Attributes
    ----------
    metric, first, second : str
        The methods that validation data chooses.
    effect : Effect
        The mean difference, with its error, of what is tested.
    tested : bool
        Whether there is a test: more than one training of each, two degrees of freedom, and
        differences that vary.
    words : (str, str)
        What is tested: the two methods, or what other folds choose if that varies.
    tests : int
        The number of choices that led to this pair, by which p is multiplied (Bonferroni).
    bounds : (float, float), optional
        The lowest and highest possible difference.
    p_corrected : float
        After all corrections; NaN without a test.
    """

    metric: str
    first: str
    second: str
    effect: Effect
    tested: bool
    words: tuple[str, str] = ("", "")
    tests: int = 1
    bounds: Bounds = None
    p_corrected: float = math.nan

    @property
    def difference(self) -> float:
        """The mean of the first less that of the second."""
        return self.effect.mean

    @property
    def alpha(self) -> float:
        """The level of one of the tests."""
        return ALPHA / self.tests

    @property
    def p_value(self) -> float:
        """Two-sided, corrected for choices alone; NaN without a test."""
        p = self.tests * self.effect.p_value if self.tested else math.nan
        return 1.0 if p > 1.0 else p  # NaN for equal differences, which are no proof

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the difference, after the correction for choices."""
        return self.interval_at(ALPHA)

    def interval_at(self, alpha: float) -> Interval:
        """The interval of the difference that leaves out 0 if and only if ``p_value`` < alpha."""
        if not self.tested:
            return UNKNOWN
        return within(self.effect.interval(1.0 - alpha / self.tests), self.bounds)

    @property
    def outcome(self) -> str:
        """Whether the first is significantly "better" or "worse"; empty for neither."""
        if not self.p_corrected < ALPHA or self.effect.mean == 0.0:
            return ""
        return "better" if self.effect.mean > 0 else "worse"

    def is_within(self, margin: float) -> bool:
        """Whether the two are equal within a margin, by two one-sided tests at level ALPHA.

        That is, whether the interval of level 1 - 2 ALPHA is between -margin and margin (Schuirmann
        1987).
        """
        low, high = self.interval_at(2 * ALPHA)
        return margin > 0 and -margin < low <= high < margin
