"""Long lists: the entries of rounded scores, without a sort.

The scores of a list of many documents are rounded to `cells`, and the documents of each cell and
class are one entry.  The gradient is the exact one of the rounded scores.

Counts and weights are integers, so the result depends neither on the order of the rows nor on
threads.
"""

import math
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Reals
from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_tasks
from lambdaplus.ranking.cells import Slots, find_cells, slots_in_cells
from lambdaplus.ranking.sort import Entries

MOST_CLASSES = 16  # lists of more classes are not rounded
WEIGHT_BITS = 30  # precision of the smallest weight


class Rounded(NamedTuple):
    """The entries of one list of rounded scores, and the slots of its rows."""

    entries: Entries
    slot_of_entry: Ints
    slots: Slots

    def write_rows(
        self, slope: Floats, bend: Floats, weight: Floats | None, gradient: Floats, hessian: Floats
    ) -> None:
        """Write gradient and Hessian of each row: those of its entry, times its weight."""
        slots = self.slots
        # Products with weights are rounded once, to the type of the result. A slot without an entry
        # is one of rows whose weight is 0.
        dtype = gradient.dtype if weight is None else np.float64
        by_slot = np.zeros((slots.score.size * slots.n_classes, 2), dtype)
        by_slot[self.slot_of_entry, 0], by_slot[self.slot_of_entry, 1] = slope, bend

        def look_up(piece: int) -> None:
            rows = slots.pieces[piece]
            factor = np.empty(0) if weight is None else weight[rows]
            _look_up(slots.of_row[rows], by_slot, factor, gradient[rows], hessian[rows])

        over_tasks(look_up, len(slots.pieces))


def round_scores(
    score: Reals,
    code: Int32s,
    n_classes: int,
    copies: Floats | None,
    workers: Workers = ONE_MACHINE,
) -> Rounded:
    """Round the scores of one list; ``copies`` are multiplicities of the rows."""
    n = int(workers.sum(np.array([score.size]))[0])
    slots = _slots(score, code, n_classes, n, workers)
    if copies is None:
        arrays = _entries(workers.sum(slots.add(slots.sizes)), slots.score, slots.n_classes)
    else:
        unit, weighted = _units(copies, n, workers), slots
        digits = [np.zeros((size.size, unit.size), np.int64) for size in slots.sizes]

        def add_up(piece: int) -> None:
            rows, counts = weighted.pieces[piece], (weighted.sizes[piece], digits[piece])
            _add_weights(weighted.of_row[rows], copies[rows], unit, *counts)

        over_tasks(add_up, len(slots.pieces))
        arrays = _entries(workers.sum(slots.add(slots.sizes)), slots.score, slots.n_classes)
        of_units = [
            workers.sum(slots.add([part[:, k] for part in digits]))[arrays[0]]
            for k in range(unit.size)
        ]
        # From the smallest unit to the largest, which rounds the least.
        arrays[-1][:] = sum(part * u for part, u in zip(of_units[::-1], unit[::-1], strict=True))
    occupied, *entries = arrays
    return Rounded(Entries(np.array([0, occupied.size]), *entries), occupied, slots)


def _slots(score: Reals, code: Int32s, n_classes: int, n: int, workers: Workers) -> Slots:
    """The slots of the rows of this worker, of n in all."""
    return slots_in_cells(score, code, n_classes, *find_cells(score, n, workers))


def round_to_cells(score: Reals) -> tuple[Floats, Int32s]:
    """The scores of cells, descending, and the cell of each row of one list on one machine."""
    slots = _slots(score, np.zeros(score.size, np.int32), 1, score.size, ONE_MACHINE)
    return slots.score, slots.of_row


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
            "group them into grades, or train on one machine"
        )


@compiled
def _add_weights(slot: Int32s, copies: Floats, unit: Floats, size: Int32s, digits: Ints) -> None:
    """Add up multiplicities; rows without weight do not count."""
    for i in range(slot.size):
        k = np.uintp(slot[i])
        if copies[i] > 0.0:
            # The multiplicity in units, like digits of a number: whole ones of each unit, and the
            # rest rounded to the last one.
            rest = copies[i]
            for j in range(unit.size - 1):
                units = int(rest / unit[j])
                digits[k, j] += units
                rest -= units * unit[j]
            digits[k, unit.size - 1] += int(rest / unit[unit.size - 1] + 0.5)
        else:
            size[k] -= np.int32(1)


@compiled
def _entries(
    total: Ints, cell_score: Floats, n_classes: int
) -> tuple[Ints, Floats, Int32s, Ints, Floats]:
    """Slot, score, class, number and weight of the rows of each entry."""
    n = 0
    for k in range(total.size):
        n += total[k] > 0
    slot, score, code = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int32)
    size, weight, e = np.empty(n, np.int64), np.empty(n), 0
    # Cells descend by score, and classes ascend within a cell: the order of ranked entries.
    for cell in range(cell_score.size):
        for c in range(n_classes):
            k = cell * n_classes + c
            if total[k] > 0:
                slot[e], score[e], code[e] = k, cell_score[cell], c
                size[e] = weight[e] = total[k]
                e += 1
    return slot, score, code, size, weight


@compiled
def _look_up(slot: Int32s, by_slot: Reals, factor: Floats, gradient: Reals, hessian: Reals) -> None:
    """Write the values of the slot of each row, times a factor if there are any."""
    if not factor.size:
        for i in range(slot.size):
            k = np.uintp(slot[i])
            gradient[i], hessian[i] = by_slot[k, 0], by_slot[k, 1]
        return
    for i in range(slot.size):
        k = np.uintp(slot[i])
        gradient[i], hessian[i] = by_slot[k, 0] * factor[i], by_slot[k, 1] * factor[i]
