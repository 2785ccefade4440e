"""Long lists: the entries of rounded scores, without a sort.

The scores of a list of many documents are rounded to about `CELLS` cells, and the documents of each
cell and class are one entry.  The gradient is the exact one of the rounded scores.

The range of the scores is cut into `COARSE` parts of the same width; a part with many documents is
cut again, between its own extremes, so outliers do not make cells wider.  Half of the cells are
then distributed evenly to the parts with documents, and half by the logarithms of ranks.  Counts
and weights are integers, so the result depends neither on the order of the rows nor on threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import n_pieces, over_pieces
from lambdaplus.data.queries import Floats, Ints
from lambdaplus.metrics.sort import Entries, Int32s, lift_of

LONG = 32_768  # documents from which a list is rounded
CELLS = 2**17
COARSE = 2**12
CROWDED = 1 / 4  # share of the documents from which a part is cut again
MOST_CUTS = 8
MOST_CLASSES = 16  # lists of more classes are not rounded


class Cells(NamedTuple):
    """How scores are rounded.

    The part of a score s, multiplied by ``lift``, is the integer part of ``(top - s) * per_unit``.
    If ``child[c]`` >= 0, the part c is cut again, and the part of s is ``child[c]`` plus the
    integer part of ``(high[c] - s) * rate[c]``.  Otherwise, the cell is ``first[c]`` plus the
    nearest integer to ``(high[c] - s) * rate[c]``.  ``score`` is the rounded score of each cell.
    """

    lift: float
    top: float
    per_unit: float
    child: Ints
    high: Floats
    rate: Floats
    first: Ints
    score: Floats


class Rounded(NamedTuple):
    """The entries of one list of rounded scores, and the cell and class of each row, ``slot``."""

    entries: Entries
    slot: Int32s
    slot_of_entry: Ints
    n_slots: int

    def write_rows(
        self, values: Floats, weight: Floats | None, gradient: Floats, hessian: Floats
    ) -> None:
        """Write gradient and Hessian of each row: those of its entry, times its weight."""
        by_slot = np.zeros((self.n_slots, 2))
        by_slot[self.slot_of_entry] = values
        arrays = self.slot, by_slot, np.empty(0) if weight is None else weight, gradient, hessian
        over_pieces(lambda _, first, last: _look_up(first, last, *arrays), self.slot.size)


def round_scores(
    score: Floats,
    relevance: Int32s,
    n_classes: int,
    copies: Floats | None,
    workers: Workers = ONE_MACHINE,
) -> Rounded:
    """Round the scores of one list; ``copies`` are multiplicities of the rows."""
    n = int(workers.sum(np.array([score.size]))[0])
    cells = find_cells(score, n, workers)
    n_slots, n_tables = cells.score.size * n_classes, n_pieces(score.size)
    slot, sizes = np.empty(score.size, np.int32), np.zeros((n_tables, n_slots), np.int64)
    unit, given = 1.0, np.empty(0) if copies is None else copies
    if copies is not None:  # sums of n multiplicities, in units of this power of two, fit 62 bits
        largest = float(workers.largest(np.array([copies.max(initial=0.0)]))[0])
        unit = float(2.0 ** (math.ceil(math.log2(largest) + math.log2(n)) - 62))
    weights = np.zeros((n_tables, 0 if copies is None else n_slots), np.int64)

    def count(piece: int, first: int, last: int) -> None:
        _count(
            first, last, score, relevance, n_classes, given, unit, *cells[:-1], slot,
            sizes[piece], weights[piece],
        )  # fmt: skip

    over_pieces(count, score.size)
    total = workers.sum(sizes.sum(axis=0), most=n)
    occupied = np.flatnonzero(total)
    weight = total[occupied].astype(np.float64)
    if copies is not None:
        weight = workers.sum(weights.sum(axis=0))[occupied] * unit
    entries = Entries(
        edges=np.array([0, occupied.size]),
        score=cells.score[occupied // n_classes],
        relevance=(occupied % n_classes).astype(np.int32),
        size=total[occupied],
        weight=weight,
    )
    return Rounded(entries, slot, occupied, n_slots)


def refuse_many_classes(n_classes: int, what: str) -> None:
    """Raise a ValueError for a list with too many classes to be rounded."""
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"{what} supports at most {MOST_CLASSES} different labels, and there are {n_classes}: "
            "group them into grades"
        )


def find_cells(score: Floats, n: int, workers: Workers) -> Cells:
    """Cells for n scores on all workers; ``score`` are those on this worker."""
    smallest = float(workers.smallest(np.array([score.min(initial=np.inf)]))[0])
    largest = float(workers.largest(np.array([score.max(initial=-np.inf)]))[0])
    lift = lift_of(smallest, largest)
    top, width = largest * lift, largest * lift - smallest * lift
    per_unit = (COARSE - 1) / width if width > 0 else 0.0
    child, rate = np.empty(0, np.int64), np.empty(0)
    count, low, high = np.empty(0, np.int64), np.empty(0), np.empty(0)
    crowded = np.zeros(1, np.int64)
    for _ in range(MOST_CUTS):
        new = COARSE * crowded.size
        begin = count.size
        child, rate = np.append(child, np.full(new, -1)), np.append(rate, np.zeros(new))
        high = np.append(high, np.zeros(new))
        parts = lift, top, per_unit, child, high, rate
        counted, lowest, highest = _scan_all(score, parts, begin, new, workers)
        count, low = np.append(count, counted), np.append(low, lowest)
        high[begin:] = highest
        crowded = begin + np.flatnonzero((counted > CROWDED * n) & (lowest < highest))
        if not crowded.size:
            break
        child[crowded] = count.size + COARSE * np.arange(crowded.size)
        rate[crowded] = (COARSE - 1) / (high[crowded] - low[crowded])
    child[crowded] = -1  # no cut after MOST_CUTS
    # Distribute the cells to the parts that are not cut again.
    last = np.flatnonzero((count > 0) & (child < 0))
    last = last[np.argsort(-high[last])]
    upto = np.cumsum(count[last])
    of_ranks = np.diff(np.log1p(upto), prepend=0.0) / math.log1p(int(upto[-1]))
    share = (of_ranks + 1.0 / last.size) / 2
    number = np.maximum((CELLS * share).astype(np.int64), 2)
    number[low[last] == high[last]] = 1
    steps = np.maximum(number - 1, 1)
    width = (high[last] - low[last]) / steps
    rate[last] = np.divide(steps, high[last] - low[last], out=np.zeros(last.size), where=number > 1)
    cell = np.zeros_like(child)
    cell[last] = np.cumsum(number) - number
    within = np.arange(int(number.sum())) - np.repeat(cell[last], number)
    rounded = np.repeat(high[last], number) - within * np.repeat(width, number)
    return Cells(lift, top, per_unit, child, high, rate, cell, rounded / lift)


def _scan_all(
    score: Floats, parts: tuple[Any, ...], begin: int, new: int, workers: Workers
) -> tuple[Ints, Floats, Floats]:
    n_tables = n_pieces(score.size)
    count = np.zeros((n_tables, new), np.int64)
    low, high = np.full((n_tables, new), np.inf), np.full((n_tables, new), -np.inf)

    def scan(piece: int, first: int, last: int) -> None:
        _scan(first, last, score, *parts, begin, count[piece], low[piece], high[piece])

    over_pieces(scan, score.size)
    return (
        workers.sum(count.sum(axis=0)),
        workers.smallest(low.min(axis=0)),
        workers.largest(high.max(axis=0)),
    )


@compiled
def _part(s: float, top: float, per_unit: float, child: Any, high: Any, rate: Any) -> int:
    c = int((top - s) * per_unit)
    while child[c] >= 0:
        c = child[c] + int((high[c] - s) * rate[c])
    return c


@compiled
def _scan(
    first: int, last: int, score: Any, lift: float, top: float, per_unit: float, child: Any,
    high: Any, rate: Any, begin: int, count: Any, smallest: Any, largest: Any,
) -> None:  # fmt: skip
    """Count the scores of each part from ``begin`` on; find the smallest and largest."""
    for i in range(first, last):
        s = score[i] * lift
        c = _part(s, top, per_unit, child, high, rate) - begin
        if c >= 0:
            count[c] += 1
            smallest[c] = s if s < smallest[c] else smallest[c]
            largest[c] = s if s > largest[c] else largest[c]


@compiled
def _count(
    first: int, last: int, score: Any, relevance: Any, n_classes: int, copies: Any, unit: float,
    lift: float, top: float, per_unit: float, child: Any, high: Any, rate: Any, begin: Any,
    slot: Any, size: Any, units: Any,
) -> None:  # fmt: skip
    for i in range(first, last):
        s = score[i] * lift
        c = _part(s, top, per_unit, child, high, rate)
        k = (begin[c] + int((high[c] - s) * rate[c] + 0.5)) * n_classes + relevance[i]
        slot[i] = k
        if not copies.size:
            size[k] += 1
        elif copies[i] > 0.0:
            size[k] += 1
            units[k] += int(copies[i] / unit + 0.5)


@compiled
def _look_up(
    first: int, last: int, slot: Any, by_slot: Any, factor: Any, gradient: Any, hessian: Any
) -> None:
    for i in range(first, last):
        times = factor[i] if factor.size else 1.0
        gradient[i] = by_slot[slot[i], 0] * times
        hessian[i] = by_slot[slot[i], 1] * times
