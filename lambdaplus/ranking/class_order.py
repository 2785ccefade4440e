"""Long lists: the order of their classes, without a sort of all rows.

Where all rows of a `cell` are of one class, their order does not matter to a metric that is linear
in the rank, such as AUC: their ranks have the same sum in any order.  So only the rows of cells of
several classes and scores are sorted.
"""

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints, Reals
from lambdaplus.compute.collective import ONE_MACHINE
from lambdaplus.compute.compiled import compiled
from lambdaplus.ranking.cells import find_cells, slots_in_cells
from lambdaplus.ranking.sort import Entries, rank_some

MOST_SORTED = 0.5  # share of rows from which a sort of all is as fast


def class_order(
    score: Reals, code: Int32s, n_classes: int, copies: Floats | None
) -> Entries | None:  # fmt: skip
    """Entries of one list whose sums of ranks by class are those of all its entries.

    Equal scores of entries are those of tied rows, and others say no more than their order.
    ``copies`` are multiplicities of the rows.  None if many rows had to be sorted.
    """
    cells = find_cells(score, score.size, ONE_MACHINE)
    slots = slots_in_cells(score, code, n_classes, *cells)
    total = slots.add(slots.sizes).reshape(-1, n_classes)
    mixed = (total > 0).sum(axis=1) > 1
    mixed[mixed] = _differ(slots.of_row, n_classes, score, mixed)[mixed]
    if total[mixed].sum() > MOST_SORTED * score.size:
        return None
    # The rows of mixed cells, cell by cell, and in these by class: the order within ties.
    in_mixed = np.where(mixed[:, None], total, 0).ravel()
    start = np.cumsum(in_mixed) - in_mixed
    order = np.empty(int(in_mixed.sum()), np.int64)
    place = np.where(np.repeat(mixed, n_classes), start, -1)
    by_slot = np.zeros(total.size)
    _gather(slots.of_row, place, np.empty(0) if copies is None else copies, order, by_slot)
    bounds = np.append(start.reshape(-1, n_classes)[mixed, 0], order.size)
    ranked = rank_some(bounds, np.asarray(score, dtype=np.float64), order)
    weights = total.ravel().astype(np.float64) if copies is None else by_slot
    m = int((total[~mixed] > 0).sum()) + order.size
    parts = np.empty(m), np.empty(m, np.int32), np.empty(m, np.int64), np.empty(m)
    multiplicity = np.empty(0) if copies is None else copies
    _merge_cells(total, mixed, weights, *ranked, code, multiplicity, *parts)
    return Entries(np.array([0, m]), *parts)


@compiled
def _differ(slot: Int32s, n_classes: int, score: Reals, mixed: Bools) -> Bools:
    """Whether the rows of each of these cells have different scores."""
    first, differ = np.full(mixed.size, np.nan), np.zeros(mixed.size, np.bool_)
    for i in range(slot.size):
        c = np.uintp(slot[i] // n_classes)
        if mixed[c] and not differ[c]:
            differ[c] = first[c] == first[c] and score[i] != first[c]
            first[c] = score[i]
    return differ


@compiled
def _gather(slot: Int32s, place: Ints, copies: Floats, order: Ints, by_slot: Floats) -> None:
    """Write the rows of mixed cells in the order of their slots; add up copies by slot."""
    for i in range(slot.size):
        k = np.uintp(slot[i])
        if copies.size:
            by_slot[k] += copies[i]
        if place[k] >= 0:
            order[place[k]] = i
            place[k] += 1


@compiled
def _merge_cells(
    total: Ints, mixed: Bools, weights: Floats, row: Ints, row_score: Floats, code: Int32s,
    copies: Floats, score: Floats, classes: Int32s, size: Ints, weight: Floats,
) -> None:  # fmt: skip
    """Write an entry for each row of mixed cells, and for each class of the others."""
    n_classes, r, e, number = total.shape[1], 0, 0, 0.0
    for cell in range(total.shape[0]):
        rows = 0
        for c in range(n_classes):
            rows += total[cell, c]
            if total[cell, c] > 0 and not mixed[cell]:
                score[e], classes[e], size[e] = -number, c, total[cell, c]
                weight[e] = weights[cell * n_classes + c]
                e += 1
        if mixed[cell]:
            for j in range(r, r + rows):
                if j > r and row_score[j] != row_score[j - 1]:
                    number += 1.0
                score[e], classes[e], size[e] = -number, code[row[j]], 1
                weight[e] = copies[row[j]] if copies.size else 1.0
                e += 1
            r += rows
        number += 1.0
