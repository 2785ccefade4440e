"""Sums over the pairs of ranked lists: by the sweep, or pair by pair in short lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.queries import Floats, Ints
from lambdaplus.objectives.exponentials import REACH, PairFunction, pair_function
from lambdaplus.objectives.lists import Lists
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.sweep import sweep_many_classes, sweep_two_classes

# A list of n entries in L classes is processed pair by pair if n < FEW + FEW_A_CLASS * L, where
# the fixed cost of the sweep per entry is larger.
FEW, FEW_A_CLASS = 12, 3


class Sums(NamedTuple):
    """Sums over pairs, in units of Z.

    Attributes
    ----------
    gradient, hessian : (m,) float64
        By entry.
    received : (n_queries,) float64
        S, the sum over the pairs of each query of 2 |lambda|.
    """

    gradient: Floats
    hessian: Floats
    received: Floats

    def of_entries(self, size: Ints) -> Sums:
        """These sums over single documents as those of entries of these sizes."""
        first = np.cumsum(size) - size
        gradient, hessian = (np.add.reduceat(part, first) for part in self[:2])
        return Sums(gradient, hessian, self.received)


def no_sums(n_entries: int, n_queries: int) -> Sums:
    return Sums(np.zeros(n_entries), np.zeros(n_entries), np.zeros(n_queries))


def add_pairs(
    lists: Lists, spread: Floats, sigma: float, damping: float, all_pairs: bool, sums: Sums
) -> None:
    """Add the sums over all pairs of the lists.

    Damping is not applied where the scores of a query are all equal: their ``spread``,
    (n_queries,), is 0.
    """
    size = lists.stop - lists.start
    out = sums
    if lists.entry.size:
        out = no_sums(lists.score.size, size.size)
    else:
        out = Sums(sums.gradient, sums.hessian, np.zeros(size.size))
    for function, chosen in _functions(spread[lists.query], sigma, damping):
        short = chosen & (all_pairs | (size < FEW + FEW_A_CLASS * lists.n_classes))
        _by_pairs(np.flatnonzero(short), lists, function, out)
        _by_sweep(np.flatnonzero(chosen & ~short), lists, function, out)
    if lists.entry.size:
        for total, part in zip(sums[:2], out[:2], strict=True):
            total += np.bincount(lists.entry, part, minlength=total.size)
    sums.received[:] += np.bincount(lists.query, out.received, minlength=sums.received.size)


def _functions(
    spread: Floats, sigma: float, damping: float
) -> list[tuple[PairFunction, NDArray[np.bool_]]]:
    """Pair functions, and which lists they are for."""
    if not damping:
        return [(pair_function(sigma), spread >= 0)]
    far = sigma * spread > REACH
    return [
        (pair_function(sigma), spread == 0),
        (pair_function(sigma, damping), (spread > 0) & ~far),
        *([(pair_function(sigma, damping, far=True), far)] if far.any() else []),
    ]


def _by_pairs(which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
    if which.size:
        visit_pairs(
            which, lists.start, lists.stop, lists.score, lists.relevance, lists.U, lists.V,
            lists.weight, lists.gain, lists.gain_at, function.sigma, function.damping, *out,
        )  # fmt: skip


def _by_sweep(which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
    many = lists.n_classes[which] > 2
    fits = function.rates, function.concordant, function.discordant, function.hessian
    if not many.all():
        sweep_two_classes(
            which[~many], lists.start, lists.stop, lists.score, lists.relevance, lists.U, lists.V,
            lists.weight, lists.gain, lists.gain_at, *fits, *out,
        )  # fmt: skip
    if many.any():
        sweep_many_classes(
            which[many], lists.start, lists.stop, lists.score, lists.relevance, lists.U,
            lists.weight, lists.gain, lists.gain_at, lists.n_classes, *fits, *out,
        )  # fmt: skip
