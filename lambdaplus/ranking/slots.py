"""Slots: the rows of a long list by cell, or score, and class."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Int32s, Ints


class Slots(NamedTuple):
    """The slot of each row: the number of its cell, or score, times classes plus its class.

    Each piece of the rows has numbers of its own for the cells at ``places``, if these are given.
    """

    score: Floats  # of each cell, descending
    n_classes: int
    of_row: Int32s
    pieces: list[slice]  # of the rows
    sizes: list[Int32s]  # of each piece: the number of rows of each slot
    places: list[Ints] | None = None

    def add(self, of_pieces: Sequence[NDArray[Any]]) -> Ints:
        """The sum over the pieces of integers by slot, (cells * classes,)."""
        total = np.zeros((self.score.size, self.n_classes), np.int64)
        for i, values in enumerate(of_pieces):
            by_cell = values.reshape(-1, self.n_classes)
            if self.places is None:
                total += by_cell
            else:
                total[self.places[i]] += by_cell  # a place occurs once in a piece
        return total.ravel()
