"""Sums over the pairs of ranked lists: by the sweep, or pair by pair in short lists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import BATCH, over_tasks
from lambdaplus.objectives.exponentials import REACH, PairFunction, PairShape, pair_function
from lambdaplus.objectives.label_tree import FEW_ELEMENTS, FEW_LABELS
from lambdaplus.objectives.lists import Lists
from lambdaplus.objectives.pair_rows import long_enough_for_rows, pair_rows
from lambdaplus.objectives.sweep import DOWN, UP, sweep_many_classes, sweep_two_classes

# A list of n entries in L classes is summed pair by pair if n < FEW + FEW_PER_CLASS * L.
FEW, FEW_PER_CLASS = 12, 3

# Lists with more elements are swept down and up at the same time.
LONG_SWEEP = 8_192

MOST_PAIRS = 30_000_000  # visited in one call, which Ctrl-C cannot end; about a third of a second


class Sums(NamedTuple):
    """Sums over pairs, in units of Z."""

    gradient: Floats  # by entry
    hessian: Floats
    received: Floats  # (n_queries,) S, the sum over the pairs of each query of 2 |lambda|


def no_sums(n_entries: int, n_queries: int) -> Sums:
    return Sums(np.zeros(n_entries), np.zeros(n_entries), np.zeros(n_queries))


def add_pairs(lists: Lists, spread: Floats, shape: PairShape, all_pairs: bool, sums: Sums) -> None:
    """Add the sums over all pairs of the lists, without damping for queries of ``spread`` 0."""
    arrays = lists.arrays
    size, n_classes = arrays.stop - arrays.start, arrays.n_classes
    if lists.entry.size:
        out = no_sums(arrays.score.size, size.size)
    else:
        out = Sums(sums.gradient, sums.hessian, np.zeros(size.size))
    # Pair by pair costs n^2 / 2 logistic functions, the sweep some decays and sums of each element.
    few = size < (np.inf if all_pairs else FEW + FEW_PER_CLASS * n_classes)
    few |= (n_classes > FEW_LABELS) & (size <= FEW_ELEMENTS)
    two, long = n_classes == 2, ~few & (size > LONG_SWEEP)
    some_long = bool(long.any())
    for function, of_function in _functions(spread, lists.query, shape):
        which = np.flatnonzero(of_function & few)
        # The exact function; its parameters instead of sums of exponentials.
        if not all_pairs:
            by_row = long_enough_for_rows(arrays, which, function.shape.sigma)
            pair_rows(which[by_row], *arrays, *function.shape, *out)
            which = which[~by_row]
        for some, begin, end in _visits(which, size):
            visit_pairs(some, begin, end, *arrays, *function.shape, *out)
        swept = of_function & ~few
        with_fits = *arrays, *function.fits
        # Of two classes, U and V differ; of more, they are the same (see `ListArrays`).
        for kernel, of_kind in ((sweep_two_classes, two), (sweep_many_classes, ~two)):
            which = np.flatnonzero(swept & of_kind)
            if some_long:
                _sweep_long(kernel, which[long[which]], with_fits, out)
                which = which[~long[which]]
            _sweep_short(kernel, which, size, with_fits, out)
    if lists.entry.size:
        # An entry is an element of the list of each pair of classes that has its own.
        for total, part in ((sums.gradient, out.gradient), (sums.hessian, out.hessian)):
            total += np.bincount(lists.entry, part, minlength=total.size)
        received = np.bincount(lists.query, out.received, minlength=sums.received.size)
        sums.received[:] += received
    else:
        sums.received[lists.query] += out.received  # one list for each query


def _visits(which: Ints, size: Ints) -> Iterator[tuple[Ints, int, int]]:
    """Lists, and the first and last of their elements to pair with those below, for each call."""
    long = size[which] ** 2 > MOST_PAIRS
    if not long.all():
        # All short lists in one call, each from its first to its last element.
        yield which[~long], 0, int(size.max())
    for one in which[long]:
        step = max(1, MOST_PAIRS // int(size[one]))
        for begin in range(0, int(size[one]), step):
            yield np.array([one]), begin, begin + step


def _sweep_short(kernel: Any, which: Ints, size: Ints, arrays: tuple[Any, ...], out: Sums) -> None:
    """Sweep each of many lists on one thread, those of many elements in all on several."""
    if which.size:
        upto = np.cumsum(size[which])
        cuts = np.searchsorted(upto, np.arange(BATCH, upto[-1], BATCH))
        pieces = [piece for piece in np.split(which, cuts) if piece.size]
        over_tasks(lambda i: kernel(pieces[i], *arrays, DOWN, UP, *out), len(pieces))


def _sweep_long(kernel: Any, which: Ints, arrays: tuple[Any, ...], out: Sums) -> None:
    """Sweep long lists on all threads; the result does not depend on their number."""
    if not which.size:
        return
    # Each way has sums of its own, which are then added in this order.
    ways = [no_sums(out.gradient.size, out.received.size) for _ in (DOWN, UP)]

    def sweep(task: int) -> None:
        way = task % 2
        kernel(which[task // 2 : task // 2 + 1], *arrays, way, way, *ways[way])

    over_tasks(sweep, 2 * which.size)
    for way in ways:
        for total, part in zip(out, way, strict=True):
            total += part


def _functions(
    spread: Floats, query: Ints, shape: PairShape
) -> list[tuple[PairFunction, Bools | bool]]:
    """The pair functions, and the lists of these queries that each of them is for."""
    undamped = pair_function(PairShape(shape.sigma))
    if not shape.damping:
        return [(undamped, True)]
    spread = spread[query]
    far = shape.sigma * spread > REACH
    return [
        (undamped, spread == 0),
        (pair_function(shape), (spread > 0) & ~far),
        *([(pair_function(shape, far=True), far)] if far.any() else []),
    ]


@compiled(error_model="numpy")
def visit_pairs(
    which: Ints, first: int, last: int, start: Ints, stop: Ints, gain_at: Ints, gain: Floats,
    n_classes: Ints, score: Floats, code: Int32s, U: Any, V: Any, weight: Floats, near_top: Any,
    sigma: float, damping: float, damped: float, gradient: Floats, hessian: Floats,
    received: Floats,
) -> None:  # fmt: skip
    """Like the kernels of `sweep`, but in O(n^2), which is faster on short lists.

    Pairs are visited whose upper element is one of ``first`` to ``last - 1`` of its list.
    """
    for k in range(which.size):
        at, lambdas = gain_at[which[k]], 0.0
        begin, end = start[which[k]] + first, min(start[which[k]] + last, stop[which[k]])
        for p in range(begin, end):
            for q in range(p + 1, stop[which[k]]):
                a, b = code[p], code[q]
                if a == b:
                    continue
                distance = score[p] - score[q]
                # Element p is ahead of q, so the distance is not negative. If p is better, the pair
                # is concordant, and else 1 - rho and V are those of a discordant one. The Hessian
                # is the same.
                wrong = 1.0 / (1.0 + math.exp(sigma * distance))  # rho, for a concordant pair
                slope = wrong * (1.0 - wrong)
                if a < b:
                    wrong = 1.0 - wrong
                delta = sigma * weight[p] * weight[q]
                if near_top is not None:
                    delta *= near_top[p]
                if gain.size:
                    delta *= abs(gain[at + a] - gain[at + b])
                if U is not None:
                    delta *= abs(U[p] - U[q]) if a > b else abs(V[p] - V[q])
                if damping > 0.0:
                    delta *= 1.0 - damped + damped / (damping + distance)
                # The better element is pushed up, by a negative gradient.
                push = delta * wrong if a > b else -delta * wrong
                gradient[p] -= push
                gradient[q] += push
                hessian[p] += sigma * delta * slope
                hessian[q] += sigma * delta * slope
                lambdas += 2.0 * abs(push)
        received[which[k]] += lambdas
