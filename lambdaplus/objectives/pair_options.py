"""Options of the weight of a pair of documents in a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lambdaplus.compute.arguments import check_choice, check_flag, number
from lambdaplus.metrics import RankingMetric

# Metrics that neighbours of two labels change by the same, wherever they are: pairs may be equal.
EQUAL_AT_NEIGHBOURS = ("auc", "mauc", "concordance")


class WeighingMetric(NamedTuple):
    """The metric whose swap deltas weight pairs, those of neighbours if ``equal_pairs``."""

    metric: RankingMetric
    equal_pairs: bool = False


def refuse_pairs_of(metrics: Sequence[RankingMetric]) -> None:
    """Raise a ValueError if none of the metrics has the option ``pairs``."""
    if not any(map(allows_equal_pairs, metrics)):
        raise ValueError(
            f"{', '.join(map(str, metrics))} has no option 'pairs', which is for "
            f"{', '.join(EQUAL_AT_NEIGHBOURS)}"
        )


def allows_equal_pairs(metric: RankingMetric) -> bool:
    """Whether all pairs of two labels may have the same weight."""
    return metric.declaration.name in EQUAL_AT_NEIGHBOURS


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The options of pairs; `lambda_objective` describes them, and a ValueError invalid ones."""

    sigma: float = 1.0
    normalize: bool = True
    balance: float = 0.5  # for data without queries
    pairs: str = "default"

    def __post_init__(self) -> None:
        number("sigma", self.sigma, least=1e-15, most=1e15)  # its square fits float32
        check_flag(normalize=self.normalize)
        number("balance", self.balance, least=0.0, most=1.0)
        check_choice("pairs", self.pairs, ("default", "swap", "equal"))
