"""Options of the weight of a pair of documents in a gradient."""

from dataclasses import dataclass

from lambdaplus.compute.arguments import check_flag, number, whole_number


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The options of pairs; `lambda_objective` describes them, and a ValueError invalid ones."""

    sigma: float = 1.0
    normalize: bool = True
    damping: float | None = None
    damped: float = 1.0
    truncation: int | None = None
    balance: float = 0.5  # for data without

    def __post_init__(self) -> None:
        number("sigma", self.sigma, least=1e-15, most=1e15)  # its square fits float32
        check_flag(normalize=self.normalize)
        if self.damping is not None and number("damping, if not None,", self.damping, least=0.0):
            number("damping, if not 0 or None,", self.damping, least=1e-6, most=1e6)
        number("damped", self.damped, least=0.0, most=1.0)
        if self.truncation is not None:
            whole_number("truncation, if not None,", self.truncation, least=1)
        number("balance", self.balance, least=0.0, most=1.0)
