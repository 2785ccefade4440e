"""Settings that all methods of a study share."""

from dataclasses import dataclass

from lambdaplus.compute.arguments import number, whole_number

_LEAST = {"rounds": 1, "patience": 1, "leaves": 2, "documents_in_leaf": 0, "every": 1, "threads": 1}


@dataclass(frozen=True)
class Settings:
    """Settings for all methods of a study.

    Attributes
    ----------
    rounds, patience : int
        Maximum number of boosting rounds, and the number of rounds without an improvement on
        validation data after which training stops.
    leaves, learning_rate, documents_in_leaf
        Parameters of trees.  XGBoost and CatBoost do not use ``documents_in_leaf``; XGBoost's
        ``min_child_weight`` is 1.  CatBoost's trees have the depth log2(leaves), rounded.
    every : int
        Number of rounds between evaluations on validation data.
    threads : int
        Number of threads of each fit.

    Raises
    ------
    ValueError
        For numbers that are not valid in any framework, and if ``every`` is above ``rounds`` or
        ``patience``.

    Examples
    --------
    >>> Settings(rounds=500, leaves=31).patience
    30
    """

    rounds: int = 200
    patience: int = 30
    leaves: int = 15
    learning_rate: float = 0.1
    documents_in_leaf: int = 20
    every: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            whole_number(name, getattr(self, name), least)
        number("learning_rate", self.learning_rate)
        if self.every > min(self.rounds, self.patience):
            raise ValueError(f"every must be at most rounds and patience, got {self.every}")

    def __str__(self) -> str:
        return (
            f"Trees: {self.leaves} leaves, learning rate {self.learning_rate:g}, at least "
            f"{self.documents_in_leaf} documents per leaf (XGBoost: min_child_weight 1), at most "
            f"{self.rounds} rounds, stopped after {self.patience} without improvement on "
            "validation data"
        )
