"""Slots: the rows of a long list by cell and class."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Int32s, Ints


class Slots(NamedTuple):
    """The slot of each row: the number of its cell times classes, plus its class."""

    score: Floats  # of each cell, descending
    n_classes: int
    of_row: Int32s
    pieces: list[slice]  # of the rows
    sizes: list[Int32s]  # of each piece: the number of rows of each slot

    def add(self, of_pieces: Sequence[NDArray[Any]]) -> Ints:
        """The sum over the pieces of integers by slot, (cells * classes,)."""
        total = np.zeros(self.score.size * self.n_classes, np.int64)
        for values in of_pieces:
            total += values
        return total
