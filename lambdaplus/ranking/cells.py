"""Cells to which the scores of a long list are rounded.

The range of the scores is cut into `COARSE` parts of the same width; a part with many documents is
cut again, between its own extremes, so neither outliers nor clusters make cells too wide.  Half of
the cells are then distributed evenly to the parts with documents, and half by the logarithms of
ranks.

The kernels run over all rows in each round, so their indices are unsigned, for which numba has no
check of the sign.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Reals
from lambdaplus.compute.collective import Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import extremes, over_tasks, piece_slices
from lambdaplus.lists.vectors import refuse_infinite
from lambdaplus.ranking.sort import lift_of

CELLS = 2**15
COARSE = 2**12
CROWDED = 1 / 256  # share of the documents from which a part is cut again
CROWDED_TOP = 1 / 64  # the same among the documents down to the end of the part,
FEW_IN_PART = 16  # if the part has more than these
FEWEST_PARTS = 2**8  # into which a crowded part is cut
MOST_CUTS = 30
NARROW = 1e-290  # a part of this width is not cut, since the rate of its cells would be infinite


class Cuts(NamedTuple):
    """How the range of the scores is cut; part 0 is all of it.

    A score s is multiplied by ``lift``.  With ``(high, rate, cell) = line[c]`` of a part c, which
    is cut again if ``child[c]`` >= 0, the next part is ``child[c]`` plus the integer part of
    ``(high - s) * rate``.  Otherwise, the cell is the integer part of
    ``(high - s) * rate + cell``.
    """

    lift: float
    child: Int32s
    line: Floats  # (parts, 3)


class Piece(NamedTuple):
    """The scores of a thread."""

    score: Reals
    part: Int32s  # of each score
    rows: Int32s | None = None  # of scores in parts that were cut again; all at first


def find_cells(score: Reals, n: int, workers: Workers) -> tuple[Cuts, Floats, Int32s]:
    """Cells for n scores on all workers, by cutting crowded parts again.

    ``score`` are those on this worker; a ValueError is raised if they are not finite.  Returns the
    cuts, the score of each cell, and the part of each of these scores.
    """
    lift, lowest, highest = _lifted_range(score, workers)
    part = np.empty(score.size, np.int32)
    pieces = [Piece(score[rows], part[rows]) for rows in piece_slices(score.size)]
    # The lowest score of each part, lifted; the highest is the first column of `line`.
    count, low = np.array([n]), np.array([lowest])
    cuts = Cuts(lift, np.full(1, -1, np.int32), np.array([[highest, 0.0, 0.0]]))
    # Parts are numbered cut by cut, and in a cut from the highest scores down: `number` parts
    # from each part that was crowded, all at the end of the arrays.
    crowded, number, above = np.zeros(1, np.int64), np.array([COARSE]), np.zeros(1, np.int64)
    for _ in range(1 + MOST_CUTS):
        begin, new = count.size, int(number.sum())
        cuts.child[crowded] = begin + np.cumsum(number) - number
        width = cuts.line[crowded, 0] - low[crowded]
        cuts.line[crowded, 1] = np.divide(
            number - 1, width, out=np.zeros(width.size), where=width > 0
        )
        # Each pass over the scores finds the extremes of the new parts, which the next cut, or the
        # cells, lie between. Scores in other parts need not be looked at again.
        child = np.append(cuts.child, np.full(new, -1, np.int32))
        cuts = Cuts(lift, child, np.concatenate([cuts.line, np.zeros((new, 3))]))
        counted, lowest_of, cuts.line[begin:, 0] = _scan_all(pieces, cuts, begin, workers)
        count, low = np.append(count, counted), np.append(low, lowest_of)
        crowded, number, above = _crowded(begin, number, above, count, low, cuts.line, n)
        if not crowded.size:
            break
    # Parts that are not cut again have the cells, in the order of their scores.
    final = np.flatnonzero((count > 0) & (cuts.child < 0))
    if begin > 1:
        final = final[np.argsort(-cuts.line[final, 0])]
    return cuts, _distribute(final, count, low, cuts.line, lift, n), part


def _lifted_range(score: Reals, workers: Workers) -> tuple[float, float, float]:
    """A factor with which the range of the scores of all workers is finite, and its ends by it."""
    lowest_here, highest_here = extremes(score)
    if score.size and not (math.isfinite(lowest_here) and math.isfinite(highest_here)):
        refuse_infinite(score, "scores")
    smallest = float(workers.smallest(np.array([lowest_here]))[0])
    largest = float(workers.largest(np.array([highest_here]))[0])
    lift = lift_of(smallest, largest)
    return lift, smallest * lift, largest * lift


def _crowded(
    begin: int, number: Ints, above: Ints, count: Ints, low: Floats, line: Floats, n: int
) -> tuple[Ints, Ints, Ints]:
    """Which of the parts from ``begin`` on are crowded, how to cut each, and what is above it.

    There are ``number`` parts of each part that was cut, which has ``above`` documents above it.
    """
    new = count[begin:]
    upto = np.append(0, np.cumsum(new))
    # Documents down to the end of each part, of all parts.
    down = upto[1:] + np.repeat(above - upto[np.cumsum(number) - number], number)
    crowded = (new > CROWDED * n) | (new > FEW_IN_PART) & (new > CROWDED_TOP * down)
    which = np.flatnonzero(crowded & (line[begin:, 0] - low[begin:] > NARROW))
    # As many parts as their share of the documents would get of COARSE.
    pieces = np.maximum(COARSE * new[which] // n, FEWEST_PARTS)
    return begin + which, pieces, (down - new)[which]


@compiled(error_model="numpy")
def _distribute(final: Ints, count: Ints, low: Floats, line: Floats, lift: float, n: int) -> Floats:
    """Distribute the cells to these parts, in order, and return the score of each cell."""
    number, cells, upto, before = np.empty(final.size, np.int64), 0, 0, 0.0
    for k in range(final.size):
        c = final[k]
        upto += count[c]
        # Half by rank: discounts fall like a power or the logarithm of the rank, so errors of
        # scores cost more at the top; half evenly, so that no range of scores is left with wide
        # cells.
        rank = math.log1p(upto) / math.log1p(n)
        share = (rank - before + 1.0 / final.size) / 2
        before = rank
        number[k] = max(int(CELLS * share), 2) if line[c, 0] - low[c] > NARROW else 1
        cells += number[k]
    rounded, first_cell = np.empty(cells), 0
    for k in range(final.size):
        c = final[k]
        # The first and the last cell of a part are at its extremes, which are not rounded at all.
        high, width = line[c, 0], (line[c, 0] - low[c]) / max(number[k] - 1, 1)
        line[c, 1] = 1.0 / width if number[k] > 1 else 0.0
        line[c, 2] = first_cell + 0.5  # the nearest cell
        for i in range(number[k]):
            rounded[first_cell + i] = (high - i * width) / lift
        first_cell += number[k]
    return rounded


def _scan_all(
    pieces: list[Piece], cuts: Cuts, begin: int, workers: Workers
) -> tuple[Ints, Floats, Floats]:
    """Count the scores of each part from ``begin`` on; find the lowest and the highest."""
    new = cuts.child.size - begin
    count, ends = np.zeros((len(pieces), new), np.int32), np.empty((len(pieces), new, 2))
    ends[:] = np.inf, -np.inf

    def scan(i: int) -> None:
        if begin > 1:
            pieces[i] = _in_cut_parts(pieces[i], cuts.child)
        _scan(*pieces[i], cuts, begin, count[i], ends[i])

    over_tasks(scan, len(pieces))
    return (
        workers.sum(count.sum(axis=0, dtype=np.int64)),
        workers.smallest(ends[:, :, 0].min(axis=0)),
        workers.largest(ends[:, :, 1].max(axis=0)),
    )


def _in_cut_parts(piece: Piece, child: Int32s) -> Piece:
    """The piece with the rows, among those it has, in parts that are cut again."""
    kept = np.empty((piece.part if piece.rows is None else piece.rows).size, np.int32)
    return piece._replace(rows=kept[: _keep(piece.part, piece.rows, child, kept)])


@compiled
def _scan(
    score: Reals, part: Int32s, rows: Any, cuts: Cuts, begin: int, count: Int32s, ends: Floats
) -> None:
    """Move these rows from a part that is cut to its parts, from begin on, and count them there.

    Without ``rows``, all of them are in part 0.
    """
    lift, child, line = cuts
    first, high, rate = child[0], line[0, 0], line[0, 1]
    for j in range(score.size if rows is None else rows.size):
        i = np.uintp(j) if rows is None else np.uintp(rows[j])
        s = score[i] * lift
        if rows is None:
            new = first + np.int32((high - s) * rate)
        else:
            k = np.uintp(part[i])
            new = child[k] + np.int32((line[k, 0] - s) * line[k, 1])
        part[i], c = new, np.uintp(new - begin)
        count[c] += np.int32(1)
        # Without branches, which would be hard to predict.
        ends[c, 0] = s if s < ends[c, 0] else ends[c, 0]
        ends[c, 1] = s if s > ends[c, 1] else ends[c, 1]


@compiled
def _keep(part: Int32s, rows: Any, child: Int32s, kept: Int32s) -> int:
    """Write those of the rows whose parts are cut again; return how many."""
    n = 0
    for j in range(kept.size):
        i = np.uintp(j) if rows is None else np.uintp(rows[j])
        # Written in any case, and overwritten by the next row if it is not kept: no branch.
        kept[np.uintp(n)] = i
        n += child[np.uintp(part[i])] >= 0
    return n


class Slots(NamedTuple):
    """The slot of each row of a long list: the number of its cell times classes, plus its class."""

    score: Floats  # of each cell, descending
    n_classes: int
    of_row: Int32s
    pieces: list[slice]  # of the rows
    sizes: list[Int32s]  # of each piece: the number of rows of each slot

    def add(self, of_pieces: Sequence[NDArray[Any]]) -> Ints:
        """The sum over the pieces of integers by slot, (cells * classes,)."""
        total = np.zeros(self.score.size * self.n_classes, np.int64)
        for values in of_pieces:
            total += values
        return total


def slots_in_cells(
    score: Reals, code: Int32s, n_classes: int, cuts: Cuts, cell_score: Floats, part: Int32s
) -> Slots:
    """Round the scores, and count the rows of each cell and class.

    The slot of each row takes the place of its part.
    """
    of_row, pieces = part, piece_slices(score.size)
    sizes = [np.zeros(cell_score.size * n_classes, np.int32) for _ in pieces]

    def count(i: int) -> None:
        rows = pieces[i]
        _write_slots(score[rows], code[rows], n_classes, cuts, of_row[rows], sizes[i])

    over_tasks(count, len(pieces))
    return Slots(cell_score, n_classes, of_row, pieces, sizes)


@compiled
def _write_slots(
    score: Reals, code: Int32s, n_classes: int, cuts: Cuts, slot: Int32s, size: Int32s
) -> None:
    """Replace the part of each row by its slot, by cell and class; count the rows of each slot."""
    lift, _, line = cuts
    classes = np.int32(n_classes)
    for i in range(score.size):
        s, k = score[i] * lift, np.uintp(slot[i])
        place = np.int32((line[k, 0] - s) * line[k, 1] + line[k, 2]) * classes + code[i]
        slot[i] = place
        size[np.uintp(place)] += np.int32(1)
