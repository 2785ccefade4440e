"""Sums over the pairs of ranked lists: pair by pair, by rows, or with a sweep."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.compute.parallel import in_pieces, over_tasks
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.objectives.exponentials import REACH, PairFunction, PairShape, pair_function
from lambdaplus.objectives.lists import Lists, Sums, no_sums
from lambdaplus.objectives.pair_by_pair import add_pair_by_pair, short
from lambdaplus.objectives.pair_rows import add_pair_rows, fit_for_rows
from lambdaplus.objectives.sweep import DOWN, UP, sweep_many_classes, sweep_two_classes

Way = Callable[[Ints, Lists, PairFunction, Sums], None]
"""Add the sums of these lists; ``received`` is by list."""


def _ways(lists: Lists, left: Bools, sigma: float, all_pairs: bool) -> Iterator[tuple[Way, Bools]]:
    """The ways to sum, and the lists that each of them is for."""
    if all_pairs:
        yield add_pair_by_pair, left
        return
    by_rows = left & fit_for_rows(lists, sigma)
    few = left & short(lists) & ~by_rows
    yield add_pair_rows, by_rows
    yield add_pair_by_pair, few
    yield add_sweep, left & ~by_rows & ~few


def add_pairs(lists: Lists, spread: Floats, shape: PairShape, all_pairs: bool, sums: Sums) -> None:
    """Add the sums over all pairs of the lists, without damping for queries of ``spread`` 0."""
    n_lists = lists.query.size
    out = Sums(sums.gradient, sums.hessian, np.zeros(n_lists))
    if lists.entry.size:
        out = no_sums(lists.score.size, n_lists)
    for function, left in _functions(spread, lists.query, shape):
        for add, taken in _ways(lists, left, shape.sigma, all_pairs) if left.any() else ():
            if taken.any():
                add(np.flatnonzero(taken), lists, function, out)
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


def add_sweep(which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
    """Near-linear in the number of elements, with sums of exponentials."""
    # Of two classes, U and V differ; of more, they are the same (see `Lists`).
    two, size = lists.n_classes[which] == 2, lists.stop - lists.start
    of_lists = lists, lists.U, lists.V, lists.near_top, function.fits
    for kernel, some in ((sweep_two_classes, which[two]), (sweep_many_classes, which[~two])):
        long = size[some] > THRESHOLDS.long_sweep
        if long.any():
            _sweep_long(kernel, some[long], of_lists, out)
        _sweep_short(kernel, some[~long], size, of_lists, out)


def _sweep_short(kernel: Any, which: Ints, size: Ints, of_lists: Any, out: Sums) -> None:
    """Sweep each of many lists on one thread, those of many elements in all on several."""
    if which.size:
        pieces = in_pieces(which, size, THRESHOLDS.batch)
        over_tasks(lambda i: kernel(pieces[i], *of_lists, DOWN, UP, out), len(pieces))


def _sweep_long(kernel: Any, which: Ints, of_lists: Any, out: Sums) -> None:
    """Sweep long lists on all threads; the result does not depend on their number."""
    # Each way has sums of its own, which are then added in this order.
    ways = [no_sums(out.gradient.size, out.received.size) for _ in (DOWN, UP)]

    def sweep(task: int) -> None:
        way = task % 2
        kernel(which[task // 2 : task // 2 + 1], *of_lists, way, way, ways[way])

    over_tasks(sweep, 2 * which.size)
    for way in ways:
        for total, part in zip(out, way, strict=True):
            total += part
