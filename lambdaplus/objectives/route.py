"""Ways to sum over the pairs of ranked lists, and the sums."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.objectives.exponentials import PairFunction
from lambdaplus.objectives.lists import Lists


class Sums(NamedTuple):
    """Sums over pairs, in units of Z."""

    gradient: Floats  # by entry
    hessian: Floats
    received: Floats  # (n_queries,) S, the sum over the pairs of each query of 2 |lambda|


def no_sums(n_entries: int, n_queries: int) -> Sums:
    return Sums(np.zeros(n_entries), np.zeros(n_entries), np.zeros(n_queries))


class Route(ABC):
    """A way to sum over all pairs of a list; `lambdaplus.objectives.sums` has their order."""

    @abstractmethod
    def applies_to(self, lists: Lists, function: PairFunction) -> Bools:
        """The lists that this way is for, (n_lists,), if no earlier one took them."""

    @abstractmethod
    def add(self, which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
        """Add the sums of these lists; ``out.received`` is by list."""
