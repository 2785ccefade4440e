"""The rows of a node of the tree of labels by half and cell, and the elements of its lists.

The rows of a slot have one half and one cell, and so one score: a few sums over them are all that
the sums over pairs need.
"""

from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled

# Of the rows of a slot: their number, the sum of U, of |gain - m|, of the product of both, and the
# smallest and the largest U.
ROWS, SUM, APART, PRODUCT, LEAST_U, MOST_U = range(6)


class Halves(NamedTuple):
    """The halves of the nodes of a level: half h of node k is number 2 k + h."""

    begin: Ints  # first row of each
    end: Ints
    slot: Ints  # first slot of each, and the number of slots: one for each of the node's cells
    middle: Floats  # a number between the gains of both halves of the node


@compiled
def count_rows(
    which: Ints, halves: Halves, cell: Int32s, number: Int32s, gain: Floats, U: Floats,
    slots: Floats,
) -> None:  # fmt: skip
    """Count the rows of some halves by slot; ``number`` is that of each cell in the node."""
    for h in which:
        first, middle = halves.slot[h], halves.middle[h]
        for t in range(np.uintp(halves.begin[h]), np.uintp(halves.end[h])):
            k = np.uintp(first + number[np.uintp(cell[t])])
            slots[k, ROWS] += 1.0
            if gain.size:
                slots[k, APART] += abs(gain[t] - middle)
            if U.size:
                slots[k, SUM] += U[t]
                if gain.size:
                    slots[k, PRODUCT] += abs(gain[t] - middle) * U[t]
                slots[k, LEAST_U] = min(slots[k, LEAST_U], U[t])
                slots[k, MOST_U] = max(slots[k, MOST_U], U[t])


def elements_by_slot(slots: Floats) -> Ints:
    """The number of elements of each slot, see `write_elements`."""
    points: Ints = (slots[:, ROWS] > 0.0).astype(np.int64)
    return points + (slots[:, MOST_U] > slots[:, LEAST_U])


@compiled
def write_elements(
    slot: Ints, slots: Floats, points: Ints, cell_score: Floats, of_slot: Ints,
    elements: tuple[Floats, Int32s, Floats, Floats],
) -> None:  # fmt: skip
    """Write the elements of each node, in ranked order, and their weights in each of its lists.

    The sums over the pairs of a row are linear in its U.  If those of a slot are apart, it has two
    elements, of the largest and the smallest U, whose weights have the sum and the mean of its
    rows.
    """
    (score, code, U, weight), e, at = elements, 0, 0  # in cell_score
    half, point, place = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4)
    for k in range(slot.size // 2):
        lower, upper = slot[2 * k], slot[2 * k + 1]
        for c in range(upper - lower):
            n = 0
            for h in range(2):
                s = slot[2 * k + h] + c
                for p in range(points[s]):
                    u = slots[s, MOST_U if p == 0 else LEAST_U]
                    if points[s] == 1:
                        u = slots[s, SUM] / slots[s, ROWS]
                    # From the highest potential to the lowest; lower labels first.
                    i = n
                    while i > 0 and place[i - 1] < u:
                        half[i], point[i], place[i] = half[i - 1], point[i - 1], place[i - 1]
                        i -= 1
                    half[i], point[i], place[i] = h, p, u
                    n += 1
            for i in range(n):
                h, p = half[i], point[i]
                s = slot[2 * k + h] + c
                of_slot[s, p] = e
                score[e], code[e], U[e] = cell_score[at + c], h, place[i]
                for j in range(weight.shape[0]):
                    # If there are two lists, |gain - m| is a factor of the lower half in the first
                    # one, and of the upper half in the second one.
                    factor = weight.shape[0] == 2 and h == j
                    total = slots[s, APART if factor else ROWS]
                    if points[s] == 2:
                        high = slots[s, PRODUCT if factor else SUM] - slots[s, LEAST_U] * total
                        high /= slots[s, MOST_U] - slots[s, LEAST_U]
                        high = min(max(high, 0.0), total)
                        total = high if p == 0 else total - high
                    weight[j, e] = total
                e += 1
        at += upper - lower


@compiled
def values_by_slot(
    slot: Ints, slots: Floats, points: Ints, of_slot: Ints, totals: tuple[Floats, Floats, Floats],
    values: Floats,
) -> None:  # fmt: skip
    """Write what the rows of a slot get, as a function of |gain - m| and U.

    In this order: gradient and Hessian, those by U, by |gain - m|, and by the product of both.
    ``totals`` are weight, gradient and Hessian of the elements in each list.
    """
    weight, gradient, hessian = totals
    for k in range(slot.size // 2):
        for h in range(2):
            for s in range(slot[2 * k + h], slot[2 * k + h + 1]):
                high, low = of_slot[s, 0], of_slot[s, 1]
                for j in range(weight.shape[0] if points[s] else 0):
                    to = 4 if weight.shape[0] == 2 and h == j else 0
                    for part in range(2):
                        total = gradient if part == 0 else hessian
                        value, slope = 0.0, 0.0
                        if weight[j, high] > 0.0:
                            value = total[j, high] / weight[j, high]
                        if points[s] == 2 and weight[j, low] > 0.0:
                            low_value = total[j, low] / weight[j, low]
                            if weight[j, high] > 0.0:
                                slope = value - low_value
                                slope /= slots[s, MOST_U] - slots[s, LEAST_U]
                            value = low_value - slope * slots[s, LEAST_U]
                        values[s, to + part], values[s, to + 2 + part] = value, slope


@compiled
def add_to_rows(
    which: Ints, halves: Halves, cell: Int32s, number: Int32s, gain: Floats, U: Floats,
    values: Floats, gradient: Floats, hessian: Floats,
) -> None:  # fmt: skip
    """Add to the rows of some halves the values of their slots, at U and |gain - m| of each row."""
    for h in which:
        first, middle = halves.slot[h], halves.middle[h]
        for t in range(np.uintp(halves.begin[h]), np.uintp(halves.end[h])):
            k = np.uintp(first + number[np.uintp(cell[t])])
            u = U[t] if U.size else 0.0
            gradient[t] += values[k, 0] + u * values[k, 2]
            hessian[t] += values[k, 1] + u * values[k, 3]
            if gain.size:
                distance = abs(gain[t] - middle)
                gradient[t] += distance * (values[k, 4] + u * values[k, 6])
                hessian[t] += distance * (values[k, 5] + u * values[k, 7])
