"""Validation values of a training by round, and early stopping."""

import math


class Progress:
    """Validation values by round; `over` after `patience` rounds without improvement, or never."""

    def __init__(self, patience: int | None = None) -> None:
        self.patience = patience
        self.rounds: list[int] = []  # those that were evaluated, counted from 1
        self.values: list[float] = []  # a higher one is better
        self.best = -math.inf
        self.best_round = 0  # the first one that reached the best value

    def add(self, round_number: int, value: float) -> None:
        """Add the value after a round; NaN is never the best one."""
        self.rounds.append(round_number)
        self.values.append(value)
        if value > self.best:
            self.best, self.best_round = value, round_number

    @property
    def over(self) -> bool:
        if self.patience is None or not self.rounds:
            return False
        return self.rounds[-1] - self.best_round >= self.patience
