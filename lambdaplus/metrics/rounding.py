"""Long lists: the entries of rounded scores, without a sort.

The scores of a list of many documents are rounded to about `CELLS` cells, and the documents of each
cell and class are one entry.  The gradient is the exact one of the rounded scores.

The range of the scores is cut into `COARSE` parts of the same width; a part with many documents is
cut again, between its own extremes, so neither outliers nor clusters make cells too wide.  Half of
the cells are then distributed evenly to the parts with documents, and half by the logarithms of
ranks.  Counts and weights are integers, so the result depends neither on the order of the rows nor
on threads.

The kernels run over all rows in each round, so their indices are unsigned, for which numba has no
check of the sign.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Reals
from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import (
    extremes,
    n_pieces,
    over_pieces,
    over_tasks,
    piece_slices,
)
from lambdaplus.metrics.sort import Entries, lift_of

LONG_LIST = 32_768  # documents from which a list is rounded
CELLS = 2**15
COARSE = 2**12
CROWDED = 1 / 256  # share of the documents from which a part is cut again
CROWDED_TOP = 1 / 64  # the same among the documents down to the end of the part,
FEW_IN_PART = 16  # if the part has more than these
FEWEST_PARTS = 2**8  # into which a crowded part is cut
MOST_CUTS = 30
NARROW = 1e-290  # a part of this width is not cut, since the rate of its cells would be infinite
MOST_CLASSES = 16  # lists of more classes are not rounded
WEIGHT_BITS = 30  # precision of the smallest weight


class Cuts(NamedTuple):
    """How the range of the scores is cut.

    The part of a score s, multiplied by ``lift``, is the integer part of ``(top - s) * per_unit``.
    With ``(high, rate, cell) = line[c]`` of a part c, which is cut again if ``child[c]`` >= 0, the
    next part is ``child[c]`` plus the integer part of ``(high - s) * rate``.  Otherwise, the cell
    is the integer part of ``(high - s) * rate + cell``.
    """

    lift: float
    top: float
    per_unit: float
    child: Int32s
    line: Floats  # (parts, 3)


class Cells(NamedTuple):
    """How scores are rounded."""

    cuts: Cuts
    score: Floats  # of each cell


Piece = tuple[Reals, Int32s]  # scores, and their parts


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
        # Products with weights are rounded once, to the type of the result.
        by_slot = np.empty((self.n_slots, 2), gradient.dtype if weight is None else np.float64)
        _spread(self.slot_of_entry, values, by_slot)

        def look_up(_: int, begin: int, end: int) -> None:
            rows = slice(begin, end)
            factor = np.empty(0) if weight is None else weight[rows]
            _look_up(self.slot[rows], by_slot, factor, gradient[rows], hessian[rows])

        over_pieces(look_up, self.slot.size)


def round_scores(
    score: Reals,
    code: Int32s,
    n_classes: int,
    copies: Floats | None,
    workers: Workers = ONE_MACHINE,
) -> Rounded:
    """Round the scores of one list; ``copies`` are multiplicities of the rows."""
    n = int(workers.sum(np.array([score.size]))[0])
    cells = find_cells(score, n, workers)
    # A slot is a cell and a class. Each piece of the rows counts in a table of its own; sums of
    # integers do not depend on the pieces, nor on their order.
    n_slots, n_tables = cells.score.size * n_classes, n_pieces(score.size)
    slot, sizes = np.empty(score.size, np.int32), np.zeros((n_tables, n_slots), np.int32)
    unit, multiplicity = np.empty(0), np.empty(0)
    if copies is not None:
        unit, multiplicity = _units(copies, n, workers), copies
    digits = np.zeros((n_tables, unit.size, n_slots), np.int64)

    def count(piece: int, begin: int, end: int) -> None:
        rows = slice(begin, end)
        _count(
            score[rows], code[rows], n_classes, multiplicity[rows], unit, *cells.cuts, slot[rows],
            sizes[piece], digits[piece],
        )  # fmt: skip

    over_pieces(count, score.size)
    total = workers.sum(sizes.sum(axis=0, dtype=np.int64), most=n)
    occupied = np.flatnonzero(total)
    scores, classes = np.empty(occupied.size), np.empty(occupied.size, np.int32)
    size, weight = np.empty(occupied.size, np.int64), np.empty(occupied.size)
    _entries(occupied, total, cells.score, n_classes, scores, classes, size, weight)
    if copies is not None:
        summed = workers.sum(digits.sum(axis=0))[:, occupied]
        # From the smallest unit to the largest, which rounds the least.
        weight = (summed[::-1] * unit[::-1, None]).sum(axis=0)
    edges = np.array([0, occupied.size])
    return Rounded(Entries(edges, scores, classes, size, weight), slot, occupied, n_slots)


def _units(copies: Floats, n: int, workers: Workers) -> Floats:
    """Units in which multiplicities are integers, the largest first.

    Sums of n integers of each unit fit 62 bits.  There are several units if multiplicities are far
    apart: a small one has no integer of the larger units.
    """
    nonzero = copies[copies > 0.0]
    largest = float(workers.largest(np.array([nonzero.max(initial=0.0)]))[0])
    smallest = float(workers.smallest(np.array([nonzero.min(initial=np.inf)]))[0])
    # n integers of at most 2^bits add up to at most 2^62.
    bits = 62 - math.ceil(math.log2(n))
    # The largest multiplicity is at most 2^bits of the first unit, and the smallest one has
    # WEIGHT_BITS bits down to the last; in between there are as many units as that takes.
    exponent = math.ceil(math.log2(largest)) - bits
    needed = math.log2(largest) - math.log2(smallest) + WEIGHT_BITS
    return np.ldexp(1.0, exponent - bits * np.arange(math.ceil(needed / bits)))


def refuse_many_classes(n_classes: int, what: str) -> None:
    """Raise a ValueError for a list with too many classes to be rounded."""
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"{what} supports at most {MOST_CLASSES} different labels, and there are {n_classes}: "
            "group them into grades"
        )


def find_cells(score: Reals, n: int, workers: Workers) -> Cells:
    """Cells for n scores on all workers; ``score`` are those on this worker."""
    # Lifted, the range neither overflows nor vanishes; the lowest score is in the last part.
    lowest_here, highest_here = extremes(score)
    smallest = float(workers.smallest(np.array([lowest_here]))[0])
    largest = float(workers.largest(np.array([highest_here]))[0])
    lift = lift_of(smallest, largest)
    top, width = largest * lift, largest * lift - smallest * lift
    per_unit = (COARSE - 1) / width if width > 0 else 0.0
    child, line = np.empty(0, np.int32), np.empty((0, 3))
    count, low = np.empty(0, np.int64), np.empty(0)
    number, above, crowded = np.array([COARSE]), np.zeros(1, np.int64), np.empty(0, np.int64)
    # The scores that are looked at, and from the second cut on the part of each.
    pieces = [(score[rows], np.empty(0, np.int32)) for rows in piece_slices(score.size)]
    for _ in range(MOST_CUTS):
        # Parts are numbered cut by cut, and in a cut from the highest scores down: `number` parts
        # from each part that was crowded, all at the end of the arrays. Each pass over the scores
        # finds the extremes of the new parts, which the next cut, or the cells, lie between.
        begin, new = count.size, int(number.sum())
        child = np.append(child, np.full(new, -1, np.int32))
        line = np.concatenate([line, np.zeros((new, 3))])
        cuts = Cuts(lift, top, per_unit, child, line)
        counted, lowest, highest = _scan_all(pieces, cuts, begin, new, workers)
        count, low = np.append(count, counted), np.append(low, lowest)
        line[begin:, 0] = highest
        # The number of documents down to the end of each part.
        # `above` is the number above each part that was cut; `down - counted` at its first new part
        # is what the running sum has before it.
        down = np.cumsum(counted)
        down += np.repeat(above - (down - counted)[np.cumsum(number) - number], number)
        many = (counted > CROWDED * n) | ((counted > FEW_IN_PART) & (counted > CROWDED_TOP * down))
        many[many] = highest[many] - lowest[many] > NARROW
        crowded = begin + np.flatnonzero(many)
        if not crowded.size:
            break
        above = (down - counted)[many]
        # As many parts as their share of the documents would get of COARSE.
        number = np.maximum(COARSE * counted[many] // n, FEWEST_PARTS)
        child[crowded] = count.size + np.cumsum(number) - number
        line[crowded, 1] = (number - 1) / (highest - lowest)[many]
        _keep_crowded(pieces, cuts)
    child[crowded] = -1  # no cut after MOST_CUTS
    # Distribute the cells to the parts that are not cut again.
    # Parts that are not cut again have the cells, in the order of their scores.
    final = np.flatnonzero((count > 0) & (child < 0))
    final = final[np.argsort(-line[final, 0])]
    upto, high = np.cumsum(count[final]), line[final, 0]
    # Half by rank: discounts fall like a power or the logarithm of the rank, so errors of scores
    # cost more at the top; half evenly, so that no range of scores is left with wide cells.
    of_ranks = np.diff(np.log1p(upto), prepend=0.0) / math.log1p(int(upto[-1]))
    share = (of_ranks + 1.0 / final.size) / 2
    number = np.maximum((CELLS * share).astype(np.int64), 2)
    number[high - low[final] <= NARROW] = 1
    # The first and the last cell of a part are at its extremes, which are not rounded at all.
    width = (high - low[final]) / np.maximum(number - 1, 1)
    line[final, 1] = np.divide(1.0, width, out=np.zeros(final.size), where=number > 1)
    first_cell = np.cumsum(number) - number
    line[final, 2] = first_cell + 0.5  # the nearest cell
    rounded = np.empty(int(number.sum()))
    _scores_of_cells(number, high, width, lift, rounded)
    return Cells(Cuts(lift, top, per_unit, child, line), rounded)


@compiled
def _scores_of_cells(
    number: Ints, high: Floats, width: Floats, lift: float, rounded: Floats
) -> None:
    first_cell = 0
    for c in range(number.size):
        for i in range(number[c]):
            rounded[first_cell + i] = (high[c] - i * width[c]) / lift
        first_cell += number[c]


def _scan_all(
    pieces: list[Piece], cuts: Cuts, begin: int, new: int, workers: Workers
) -> tuple[Ints, Floats, Floats]:
    """Count the scores of each part from ``begin`` on; find the smallest and largest."""
    count, ends = np.zeros((len(pieces), new), np.int32), np.empty((len(pieces), new, 2))
    ends[:] = np.inf, -np.inf
    over_tasks(lambda i: _scan(*pieces[i], *cuts, begin, count[i], ends[i]), len(pieces))
    return (
        workers.sum(count.sum(axis=0, dtype=np.int64)),
        workers.smallest(ends[:, :, 0].min(axis=0)),
        workers.largest(ends[:, :, 1].max(axis=0)),
    )


def _keep_crowded(pieces: list[Piece], cuts: Cuts) -> None:
    """Replace the scores of each piece by those in parts that are cut again."""

    def keep(i: int) -> None:
        score, part = pieces[i]
        kept = np.empty_like(score), np.empty(score.size, np.int32)
        n = _keep(score, part, *cuts, *kept)
        pieces[i] = kept[0][:n], kept[1][:n]

    over_tasks(keep, len(pieces))


@compiled
def _part(s: float, top: float, per_unit: float, child: Int32s, line: Floats) -> Any:
    c = np.int32((top - s) * per_unit)
    # Down the cuts, to a part that is not cut again.
    cut = child[np.uintp(c)]
    while cut >= 0:
        c = cut + np.int32((line[np.uintp(c), 0] - s) * line[np.uintp(c), 1])
        cut = child[np.uintp(c)]
    return c


@compiled
def _scan(
    score: Reals, part: Int32s, lift: float, top: float, per_unit: float, child: Int32s,
    line: Floats, begin: int, count: Int32s, ends: Floats,
) -> None:  # fmt: skip
    """Count the scores, in the parts of the first cut or in those of their parts, from begin on."""
    if not part.size:
        for i in range(score.size):
            s = score[i] * lift
            _see(s, np.int32((top - s) * per_unit), count, ends)
        return
    for i in range(score.size):
        # From the part that was crowded to one of its parts, which is kept for the next cut.
        s, k = score[i] * lift, np.uintp(part[i])
        part[i] = child[k] + np.int32((line[k, 0] - s) * line[k, 1])
        _see(s, part[i] - begin, count, ends)


@compiled
def _see(s: float, part: Any, count: Int32s, ends: Floats) -> None:
    c = np.uintp(part)
    count[c] += np.int32(1)
    # Without branches, which would be hard to predict.
    ends[c, 0] = s if s < ends[c, 0] else ends[c, 0]
    ends[c, 1] = s if s > ends[c, 1] else ends[c, 1]


@compiled
def _keep(
    score: Reals, part: Int32s, lift: float, top: float, per_unit: float, child: Int32s,
    line: Floats, kept: Reals, kept_part: Int32s,
) -> int:  # fmt: skip
    n = 0
    for i in range(score.size):
        c = part[i] if part.size else np.int32((top - score[i] * lift) * per_unit)
        # Written in any case, and overwritten by the next score if it is not kept: no branch.
        kept[np.uintp(n)], kept_part[np.uintp(n)] = score[i], c
        n += child[np.uintp(c)] >= 0
    return n


@compiled
def _count(
    score: Reals, code: Int32s, n_classes: int, copies: Floats, unit: Floats, lift: float,
    top: float, per_unit: float, child: Int32s, line: Floats, slot: Int32s, size: Int32s,
    digits: Ints,
) -> None:  # fmt: skip
    classes = np.int32(n_classes)
    for i in range(score.size):
        s = score[i] * lift
        c = np.uintp(_part(s, top, per_unit, child, line))
        # Cell times classes plus class: the slot.
        its = np.int32((line[c, 0] - s) * line[c, 1] + line[c, 2]) * classes + code[i]
        slot[i] = its
        k = np.uintp(its)
        if not copies.size:
            size[k] += np.int32(1)
        elif copies[i] > 0.0:
            size[k] += np.int32(1)
            # The multiplicity in units, like digits of a number: whole ones of each unit, and the
            # rest rounded to the last one.
            rest = copies[i]
            for j in range(unit.size - 1):
                units = int(rest / unit[j])
                digits[j, k] += units
                rest -= units * unit[j]
            digits[unit.size - 1, k] += int(rest / unit[unit.size - 1] + 0.5)


@compiled
def _entries(
    occupied: Ints, total: Ints, rounded: Floats, n_classes: int, score: Floats, code: Int32s,
    size: Ints, weight: Floats,
) -> None:  # fmt: skip
    for e in range(occupied.size):
        # Cells descend by score, and classes ascend within a cell: the order of ranked entries.
        cell = occupied[e] // n_classes
        score[e], code[e] = rounded[cell], occupied[e] - cell * n_classes
        size[e] = weight[e] = total[occupied[e]]


@compiled
def _spread(slot_of_entry: Ints, values: Floats, by_slot: Reals) -> None:
    for e in range(slot_of_entry.size):
        by_slot[slot_of_entry[e], 0] = values[e, 0]
        by_slot[slot_of_entry[e], 1] = values[e, 1]


@compiled
def _look_up(slot: Int32s, by_slot: Reals, factor: Floats, gradient: Reals, hessian: Reals) -> None:
    if not factor.size:
        for i in range(slot.size):
            k = np.uintp(slot[i])
            gradient[i], hessian[i] = by_slot[k, 0], by_slot[k, 1]
        return
    for i in range(slot.size):
        k = np.uintp(slot[i])
        gradient[i], hessian[i] = by_slot[k, 0] * factor[i], by_slot[k, 1] * factor[i]
