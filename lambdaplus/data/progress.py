"""The progress of one training: validation values by round, the best of them, and when to stop.

Examples
--------
>>> from lambdaplus.data.progress import Progress
>>> progress = Progress(patience=2)
>>> [progress.add(n, value) for n, value in enumerate([0.5, 0.7, 0.7, 0.6], start=1)]
[True, True, False, False]
>>> progress.best, progress.best_round, progress.over
(0.7, 2, True)
"""

from __future__ import annotations

import math


class Progress:
    """Validation values of a training by round: which is best, and whether to stop.

    Parameters
    ----------
    patience : int, optional
        Number of rounds without improvement after which the training is over; None: never.

    Attributes
    ----------
    rounds : list of int
        Rounds that were evaluated, counted from 1.
    values : list of float
        Their values; a higher one is better.
    best : float
        The best value so far; -inf if there is none.
    best_round : int
        The first round that reached it; 0 if there is none.
    """

    def __init__(self, patience: int | None = None) -> None:
        self.patience = patience
        self.rounds: list[int] = []
        self.values: list[float] = []
        self.best = -math.inf
        self.best_round = 0

    def add(self, round_number: int, value: float) -> bool:
        """Add the value after a round; return whether it is the best, which NaN and ties are not.

        Rounds are added in ascending order, but may be left out.
        """
        self.rounds.append(round_number)
        self.values.append(value)
        if not value > self.best:
            return False
        self.best, self.best_round = value, round_number
        return True

    @property
    def over(self) -> bool:
        """Whether there was no improvement in the last `patience` rounds."""
        if self.patience is None or not self.rounds:
            return False
        return self.rounds[-1] - self.best_round >= self.patience
