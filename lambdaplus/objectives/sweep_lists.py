"""The sweep as a way to sum over the pairs of lists: of two or more classes, short or long."""

from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Ints
from lambdaplus.compute.parallel import over_tasks
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.objectives.exponentials import PairFunction
from lambdaplus.objectives.lists import Lists
from lambdaplus.objectives.route import Route, Sums, no_sums
from lambdaplus.objectives.sweep import DOWN, UP, sweep_many_classes, sweep_two_classes


class Sweep(Route):
    """Near-linear in the number of elements, with sums of exponentials."""

    def applies_to(self, lists: Lists, function: PairFunction) -> Bools:
        return np.ones(lists.start.size, bool)

    def add(self, which: Ints, lists: Lists, function: PairFunction, out: Sums) -> None:
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
        upto = np.cumsum(size[which])
        cuts = np.searchsorted(upto, np.arange(THRESHOLDS.batch, upto[-1], THRESHOLDS.batch))
        pieces = [piece for piece in np.split(which, cuts) if piece.size]
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
