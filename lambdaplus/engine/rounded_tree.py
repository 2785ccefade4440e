"""Many labels in one long list: the tree of labels (`label_tree`) on rounded scores.

The rows are in the order of their labels, so that a node of the tree is a range of rows, divided
at one row.  Each node counts its rows by cell and half, and sums over the pairs of these counts;
rows are neither sorted by score nor moved.  Nodes of fewer rows have fewer cells, as their pairs
have less weight: neighbouring cells are joined.
"""

from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import in_pieces, over_tasks
from lambdaplus.engine.label_tree import between, in_turn, middles
from lambdaplus.engine.node_slots import (
    LEAST_U,
    MOST_U,
    Halves,
    add_to_rows,
    count_rows,
    elements_by_slot,
    values_by_slot,
    write_elements,
)
from lambdaplus.engine.ranked_lists import NO_ENTRIES, NONE, Lists, Sums, no_sums
from lambdaplus.engine.sums import add_pairs
from lambdaplus.ranking.rounding import round_to_cells

MOST_CELLS = 15  # of one node, as a power of two
FEWEST_CELLS = 4  # likewise
# A node is left out if the gradient of its rows from all of its pairs is below this share of the
# mean gradient, as labels that differ so little are tied.
NEGLIGIBLE = 1e-4
PIECE = 32_768  # rows that are worth a thread; halves with more are a piece each


class RoundedLabelTree:
    """One long list, and the sums over its pairs.

    ``by_label``, (n,), sorts the rows by label, ``edge``, (labels + 1,), is the first of each label
    in this order, ``gain``, (labels,), ascends, and ``discount``, (n,), is by rank; if all pairs
    have the same weight, both are empty.

    Attributes
    ----------
    order : (n,) int64
        The rows by label and cell, in which the sums are.
    """

    def __init__(
        self, score: Floats, by_label: Ints, code: Int32s, edge: Ints, gain: Floats,
        discount: Floats, sigma: float,
    ) -> None:  # fmt: skip
        cell_score, cell = round_to_cells(score)
        n, size, counts = cell.size, np.bincount(cell, minlength=cell_score.size), np.diff(edge)
        some_tied = counts.size < n  # some labels have several rows
        self.order = rows_by_label(code, cell, edge.copy(), size) if some_tied else by_label
        self.cell, self.edge, self.sigma = cell[self.order], edge, sigma
        self.gain_of_label, self.joined = gain, _joined_cells(size, cell_score)
        self.gain, self.U = np.repeat(gain, counts if gain.size else 0), np.empty(0)
        if discount.size:
            self.U, upto = np.empty(n), np.append(0.0, np.cumsum(discount))
            _place(edge, self.cell, np.cumsum(size) - size, upto, self.U)
        self.out = no_sums(n, 1)

    def sums(self) -> Sums:
        """The sums over all pairs, by row in their order."""
        edge, n = self.edge, self.cell.size
        # The number of pairs of a range of rows, or the sum of the differences of their gains.
        below = self.gain if self.gain.size else np.repeat(edge[:-1] * 1.0, np.diff(edge))
        before = np.append(0.0, np.cumsum(below))
        moment = np.append(0.0, np.cumsum(below * np.arange(n)))

        def weight_within(b: Ints, e: Ints) -> Floats:
            total: Floats = before[e] - before[b]
            if not self.gain.size:
                return total - b * (e - b)
            return np.asarray(2.0 * (moment[e] - moment[b]) - (b + e - 1.0) * total)

        every = weight_within(edge[:1], edge[-1:])
        first, last = np.array([0]), np.array([edge.size - 1])
        while first.size:
            size, weight = edge[last] - edge[first], weight_within(edge[first], edge[last])
            kept = (last - first > 1) & (weight * n > NEGLIGIBLE * every * size)
            share = np.maximum(size[kept] / n, weight[kept] / every)
            first, last = first[kept], last[kept]
            middle = middles(edge, first, last)
            power = np.clip(np.ceil(np.log2(share)) + MOST_CELLS, FEWEST_CELLS, MOST_CELLS)
            if first.size:
                self._add_level(first, middle, last, power.astype(np.int64))
            first, last = in_turn(first, middle), in_turn(middle, last)
        return self.out

    def _add_level(self, first: Ints, middle: Ints, last: Ints, power: Ints) -> None:
        """Add the sums over the pairs of rows in different halves of these nodes."""
        edge, joined = self.edge, self.joined
        cells, power = np.array([score.size for _, score in joined])[power], np.repeat(power, 2)
        slot = np.append(0, np.cumsum(np.repeat(cells, 2)))
        halves = Halves(
            begin=edge[in_turn(first, middle)],
            end=edge[in_turn(middle, last)],
            slot=slot,
            middle=np.repeat(between(self.gain_of_label, first, middle, last), 2),
        )
        slots = np.zeros((slot[-1], 6))
        slots[:, LEAST_U], slots[:, MOST_U] = np.inf, -np.inf
        # Halves with the same number of cells are together.
        pieces = []
        for p in np.unique(power):
            pieces += in_pieces(np.flatnonzero(power == p), halves.end - halves.begin, PIECE)

        def at(i: int) -> Any:
            which = pieces[i]
            return which, halves, self.cell, joined[power[which[0]]][0], self.gain, self.U

        over_tasks(lambda i: count_rows(*at(i), slots), len(pieces))
        points = elements_by_slot(slots)
        stop = np.cumsum(np.add.reduceat(points, slot[:-1:2]))
        cell_score = np.concatenate([joined[p][1] for p in power[::2]])
        of_slot, code = np.zeros((slot[-1], 2), np.int64), np.empty(stop[-1], np.int32)
        score, U = np.empty((2, stop[-1]))
        # With gains, a node has two lists of the same elements, with other weights.
        totals = np.zeros((3, 2 if self.gain.size else 1, stop[-1]))
        of_nodes, of_elements = (slot, slots, points), (score, code, U, totals[0])
        write_elements(*of_nodes, cell_score, of_slot, of_elements)
        start, none = np.append(0, stop[:-1]), np.zeros_like(stop)
        bounds, U = (start, stop, none, NONE, none + 2), U if self.U.size else NONE
        for weight, gradient, hessian in totals.swapaxes(0, 1):
            sums = Sums(gradient, hessian, self.out.received)
            lists = Lists(*bounds, score, code, U, U, weight, none, NO_ENTRIES)
            add_pairs(lists, self.sigma, False, sums)
        values = np.zeros((slot[-1], 8))
        values_by_slot(*of_nodes, of_slot, tuple(totals), values)
        over_tasks(lambda i: add_to_rows(*at(i), values, *self.out[:2]), len(pieces))


@compiled
def rows_by_label(code: Int32s, cell: Int32s, place: Ints, size: Ints) -> Ints:
    """The rows by label and cell: ``place`` is the number of rows of lower labels, and is changed.

    ``size`` is the number of rows of each cell.
    """
    # Two counting sorts, which keep the order of equal ones.
    by_cell, order = np.empty(code.size, np.int64), np.empty(code.size, np.int64)
    start = np.cumsum(size) - size
    for i in range(code.size):
        c = np.uintp(cell[i])
        by_cell[np.uintp(start[c])] = i
        start[c] += 1
    for row in by_cell:
        x = np.uintp(code[np.uintp(row)])
        order[np.uintp(place[x])] = row
        place[x] += 1
    return order


@compiled
def _place(edge: Ints, cell: Int32s, rank: Ints, upto: Floats, U: Floats) -> None:
    """Write the mean discount of the rows of each cell and label; lower labels come first."""
    count = np.zeros(rank.size, np.int64)
    for x in range(edge.size - 1):
        first, last = edge[x], edge[x + 1]
        for t in range(first, last):
            count[np.uintp(cell[t])] += 1
        for t in range(first, last):
            c = np.uintp(cell[t])
            U[t] = (upto[rank[c] + count[c]] - upto[rank[c]]) / count[c]
        for t in range(first, last):
            c = np.uintp(cell[t])
            rank[c] += count[c]
            count[c] = 0


def _joined_cells(size: Ints, score: Floats) -> list[tuple[Int32s, Floats]]:
    """For each power of two: the number of each cell when so many are left, and their scores."""
    # Half of the joined cells are neighbours in equal number, a quarter each is by the logarithm of
    # the rank from either end, where scores or potentials may be far apart.
    n, above = size.sum(), np.cumsum(size) - size
    ends = 1.0 + (np.log1p(above) - np.log1p(n - above)) / np.log1p(n)
    place = 0.5 * np.arange(size.size) / size.size + 0.25 * ends
    joined = []
    for power in range(MOST_CELLS + 1):
        number = np.arange(size.size)
        if 2**power < size.size:
            number = (2**power * place).astype(np.int64)
            number = np.cumsum(np.append(0, np.diff(number) > 0))
        rows = np.bincount(number, size)
        mean = np.bincount(number, size * score) / np.maximum(rows, 1)
        joined.append((number.astype(np.int32), mean))
    return joined
