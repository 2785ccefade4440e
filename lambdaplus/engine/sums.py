"""Sums over the pairs of ranked lists: of few pairs by rows, of others with a sweep."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Ints
from lambdaplus.compute.parallel import in_pieces, over_tasks
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.engine.exponentials import Exponentials, pair_function
from lambdaplus.engine.ranked_lists import Lists, Sums, no_sums
from lambdaplus.engine.rows import add_few_pairs
from lambdaplus.engine.sweep import DOWN, UP, sweep_many_classes, sweep_two_classes


def add_pairs(lists: Lists, sigma: float, all_pairs: bool, sums: Sums) -> None:
    """Add the sums over all pairs of the lists."""
    n_lists, own = lists.query.size, lists.entry.size > 0
    if not n_lists:
        return
    # An entry is an element of the list of each pair of classes that has its own.
    out = no_sums(lists.score.size, n_lists) if own else sums._replace(received=np.zeros(n_lists))
    most, left = np.inf if all_pairs else THRESHOLDS.pairs_by_rows, np.empty(n_lists, np.bool_)

    def by_rows(which: Ints) -> None:
        first, last = which[0], which[-1] + 1
        add_few_pairs(first, last, lists, sigma, most, out, left[first:last])

    _in_pieces(by_rows, np.arange(n_lists), lists)
    if left.any():
        add_sweep(np.flatnonzero(left), lists, pair_function(sigma), out)
    if own:
        for total, part in ((sums.gradient, out.gradient), (sums.hessian, out.hessian)):
            total += np.bincount(lists.entry, part, minlength=total.size)
    received = np.bincount(lists.query, out.received, minlength=sums.received.size)
    sums.received[:] += received


def add_sweep(which: Ints, lists: Lists, fits: Exponentials, out: Sums) -> None:
    """Near-linear in the number of elements, with sums of exponentials."""
    # Of two classes, U and V differ; of more, they are the same (see `Lists`).
    two, is_long = lists.n_classes == 2, lists.stop - lists.start > THRESHOLDS.long_sweep
    given = (part if part.size else None for part in (lists.U, lists.V))
    of_lists = (lists, *given, fits)
    for kernel, some in ((sweep_two_classes, two), (sweep_many_classes, ~two)):
        if (some & is_long)[which].any():
            _sweep_long(kernel, which[(some & is_long)[which]], of_lists, out)
        sweep = partial(_sweep_short, kernel, of_lists, out)
        _in_pieces(sweep, which[(some & ~is_long)[which]], lists)


def _in_pieces(work: Callable[[Ints], None], which: Ints, lists: Lists) -> None:
    """Call work on some lists at a time: those of many elements in all on several threads."""
    if which.size and lists.score.size <= THRESHOLDS.batch:
        work(which)
    elif which.size:
        pieces = in_pieces(which, lists.stop - lists.start, THRESHOLDS.batch)
        over_tasks(lambda i: work(pieces[i]), len(pieces))


def _sweep_short(kernel: Any, of_lists: Any, out: Sums, which: Ints) -> None:
    kernel(which, *of_lists, DOWN, UP, out)


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
