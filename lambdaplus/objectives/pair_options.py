"""What a pair of documents weighs in a gradient: options, and the defaults that depend on data."""

from dataclasses import dataclass
from typing import Any

from lambdaplus.compute.arguments import check_flag, number
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.ranking.queries import Queries


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The options of pairs; `lambda_objective` describes them, and a ValueError invalid ones."""

    sigma: float = 1.0
    normalize: bool = True
    damping: float | None = 0.01
    damped: float | None = None  # of `default_damped`
    noise: float | None = None  # for data with queries
    balance: float = 0.5  # for data without

    def __post_init__(self) -> None:
        number("sigma", self.sigma, least=1e-15, most=1e15)  # its square fits float32
        check_flag(normalize=self.normalize)
        if self.damping is not None and number("damping, if not None,", self.damping, least=0.0):
            number("damping, if not 0 or None,", self.damping, least=1e-6, most=1e6)
        if self.damped is not None:
            number("damped", self.damped, least=0.0, most=1.0)
        if self.noise is not None:
            noise = number("noise, if not None,", self.noise, least=0.0, most=1e100) or None
            object.__setattr__(self, "noise", noise)
        number("balance", self.balance, least=0.0, most=1.0)


def default_damped(surrogate: RankingMetric, queries: Queries) -> float:
    """The share of each pair that is damped; docs/results/options.md has the measurements."""
    # The pairs of C-index and concordance weigh the same in a table, like those of AUC.
    alike = surrogate.equal_pairs and not queries.divided
    return 0.5 if queries.grouped and not alike else 0.0


def default_surrogate(metric: RankingMetric) -> RankingMetric:
    """The metric whose swap deltas weight the pairs; see `lambda_objective`."""
    declared = metric.declaration
    if declared.surrogate and "pairs" not in dict(metric.changed):
        options: dict[str, Any] = {"relevant": metric.relevant} if declared.binary else {}
        return parse_metric(declared.surrogate, **options)
    return declared(**dict[str, Any](metric.changed)) if declared.cutoff == "optional" else metric
