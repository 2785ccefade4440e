"""Sums over the pairs of ranked lists, by the first of several ways that applies to each."""

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.objectives.exponentials import REACH, PairFunction, PairShape, pair_function
from lambdaplus.objectives.lists import Lists
from lambdaplus.objectives.pair_by_pair import PairByPair
from lambdaplus.objectives.pair_rows import PairRows
from lambdaplus.objectives.route import Route, Sums, no_sums
from lambdaplus.objectives.sweep_lists import Sweep

ROUTES: tuple[Route, ...] = (PairRows(), PairByPair(), Sweep())
EXACT: tuple[Route, ...] = (PairByPair(all_pairs=True),)


def add_pairs(lists: Lists, spread: Floats, shape: PairShape, all_pairs: bool, sums: Sums) -> None:
    """Add the sums over all pairs of the lists, without damping for queries of ``spread`` 0."""
    n_lists = lists.query.size
    out = Sums(sums.gradient, sums.hessian, np.zeros(n_lists))
    if lists.entry.size:
        out = no_sums(lists.score.size, n_lists)
    for function, left in _functions(spread, lists.query, shape):
        for route in EXACT if all_pairs else ROUTES:
            if not left.any():
                break
            taken = left & route.applies_to(lists, function)
            which = np.flatnonzero(taken)
            if which.size:
                route.add(which, lists, function, out)
                left = left & ~taken
    if lists.entry.size:
        # An entry is an element of the list of each pair of classes that has its own.
        for total, part in ((sums.gradient, out.gradient), (sums.hessian, out.hessian)):
            total += np.bincount(lists.entry, part, minlength=total.size)
        received = np.bincount(lists.query, out.received, minlength=sums.received.size)
        sums.received[:] += received
    else:
        sums.received[lists.query] += out.received  # one list for each query


def _functions(spread: Floats, query: Ints, shape: PairShape) -> list[tuple[PairFunction, Bools]]:
    """The pair functions, and the lists of these queries that each of them is for."""
    undamped, every = pair_function(PairShape(shape.sigma)), np.ones(query.size, bool)
    if not shape.damping:
        return [(undamped, every)]
    spread = spread[query]
    far = shape.sigma * spread > REACH
    return [
        (undamped, spread == 0),
        (pair_function(shape), (spread > 0) & ~far),
        *([(pair_function(shape, far=True), far)] if far.any() else []),
    ]
