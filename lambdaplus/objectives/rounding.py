"""Long lists: the entries of rounded scores, without a sort.

The scores of a list of many documents are rounded to cells, and the documents of each cell and
class are counted; they make one entry (see `lambdaplus.objectives.lists`).  The gradient is the
exact one of the rounded scores.  It takes a few passes over the rows, and the sweep over the
entries, of which there are never more than about `CELLS` for each class.

Cells follow the data: the range of the scores is first cut into `COARSE` parts of the same width,
and each part into cells between its own smallest and largest score, so that single scores far from
the others cost the others nothing, and few distinct scores are not rounded at all.  Half of the
cells are distributed in proportion to the numbers of documents, and half in proportion to the
differences of the logarithms of ranks, as the first ranks decide metrics such as average precision.

Counts are integers, and so are weights (in units of a power of two), so the result depends neither
on the order of the rows nor on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compiled import compiled
from lambdaplus.objectives.lists import Entries, Int32s
from lambdaplus.parallel import n_pieces, over_pieces
from lambdaplus.queries import Floats, Ints

LONG = 32_768  # documents from which a list is rounded
CELLS = 2**17
COARSE = 2**12
MOST_CLASSES = 16  # lists of more classes are not rounded


class Cells(NamedTuple):
    """How scores are rounded.

    Attributes
    ----------
    top, per_unit, lift : float
        Coarse part of a score s: the integer part of ``(top - s * lift) * per_unit``.
    high, steps : (COARSE,) float64
        Cell of a score within its part: ``(high - s * lift) * steps``, to the nearest integer.
    first : (COARSE,) int64
        First cell of each part.
    score : (n_cells,) float64
        The rounded scores, from the highest to the lowest.
    """

    top: float
    per_unit: float
    lift: float
    high: Floats
    steps: Floats
    first: Ints
    score: Floats


class Rounded(NamedTuple):
    """The entries of one list of rounded scores, and which one each row belongs to.

    Attributes
    ----------
    entries : Entries
    slot : (n,) int32
        Cell and class of each row as one number below n_slots.
    slot_of_entry : (m,) int64
    n_slots : int
    """

    entries: Entries
    slot: Int32s
    slot_of_entry: Ints
    n_slots: int

    def write_rows(
        self, values: Floats, weight: Floats | None, gradient: Floats, hessian: Floats
    ) -> None:
        """Like `lambdaplus.objectives.rows.write_rows`, for the rows of the list in their order."""
        by_slot = np.zeros((self.n_slots, 2))
        by_slot[self.slot_of_entry] = values
        factor = np.empty(0) if weight is None else weight
        over_pieces(
            lambda _, a, b: _look_up(a, b, self.slot, by_slot, factor, gradient, hessian),
            self.slot.size,
        )


def round_scores(
    score: Floats, relevance: Int32s, n_classes: int, copies: Floats | None
) -> Rounded:
    """Round the scores of one list.

    Parameters
    ----------
    score : (n,) float64
    relevance : (n,) int32
        Class of each row.
    n_classes : int
    copies : (n,) float64, optional
        Multiplicities.
    """
    cells = find_cells(score)
    n_slots, n_tables = cells.score.size * n_classes, n_pieces(score.size)
    slot, sizes = np.empty(score.size, np.int32), np.zeros((n_tables, n_slots), np.int64)
    unit, given = (1.0, np.empty(0)) if copies is None else (_unit(copies), copies)
    weights = np.zeros((n_tables, n_slots if given.size else 0), np.int64)

    def count(piece: int, first: int, last: int) -> None:
        _count(
            first, last, score, relevance, n_classes, given, unit, *cells[:-1], slot,
            sizes[piece], weights[piece],
        )  # fmt: skip

    over_pieces(count, score.size)
    total = sizes.sum(axis=0)
    found = np.flatnonzero(total)
    weight = total[found].astype(np.float64)
    if copies is not None:
        weight = weights.sum(axis=0)[found] * unit
    entries = Entries(
        edges=np.array([0, found.size]),
        score=cells.score[found // n_classes],
        relevance=(found % n_classes).astype(np.int32),
        size=total[found],
        weight=weight,
    )
    return Rounded(entries, slot, found, n_slots)


def _unit(copies: Floats) -> float:
    """The power of two in which all sums of the multiplicities fit into 62 bits."""
    return float(2.0 ** (math.ceil(math.log2(float(copies.max())) + math.log2(copies.size)) - 62))


def find_cells(score: Floats) -> Cells:
    """Cells for these scores."""
    low, high = float(score.min()), float(score.max())
    # A power of two by which the range of the scores neither overflows nor vanishes.
    lift = 1.0
    if high / 2 - low / 2 > 1e300:
        lift = 2.0**-600
    elif high - low < 1e-290:
        lift = 2.0**600
    top, width = high * lift, (high - low) * lift if lift == 1.0 else high * lift - low * lift
    per_unit = (COARSE - 1) / width if width > 0 else 0.0
    pieces = n_pieces(score.size)
    count = np.zeros((pieces, COARSE), np.int64)
    lows, highs = np.full((pieces, COARSE), np.inf), np.full((pieces, COARSE), -np.inf)

    def scan(piece: int, first: int, last: int) -> None:
        _scan(first, last, score, top, per_unit, lift, count[piece], lows[piece], highs[piece])

    over_pieces(scan, score.size)
    return _cut(top, per_unit, lift, count.sum(axis=0), lows.min(axis=0), highs.max(axis=0))


def _cut(
    top: float, per_unit: float, lift: float, count: Ints, lows: Floats, highs: Floats
) -> Cells:
    """Cut each part into cells between its smallest and largest score."""
    upto = np.cumsum(count)
    n = int(upto[-1])
    of_ranks = np.diff(np.log1p(upto), prepend=0.0) / math.log1p(n)
    share = (count / n + of_ranks) / 2
    number = np.where(count > 0, np.maximum(np.floor(CELLS * share), 2), 0).astype(np.int64)
    number[lows == highs] = 1
    range_ = np.where(number > 1, highs - lows, 1.0)
    first = np.cumsum(number) - number
    part = np.repeat(np.arange(COARSE), number)
    steps = np.where(number > 1, (number - 1) / range_, 0.0)
    within = np.arange(part.size) - first[part]
    rounded = (
        highs[part] - within * np.where(number > 1, range_ / np.maximum(number - 1, 1), 0)[part]
    )
    return Cells(top, per_unit, lift, highs, steps, first, rounded / lift)


@compiled
def _scan(
    first: int, last: int, score: Any, top: float, per_unit: float, lift: float, count: Any,
    lows: Any, highs: Any,
) -> None:  # fmt: skip
    """Count the scores of each part; find its smallest and largest."""
    for i in range(first, last):
        s = score[i] * lift
        c = int((top - s) * per_unit)
        count[c] += 1
        lows[c] = s if s < lows[c] else lows[c]
        highs[c] = s if s > highs[c] else highs[c]


@compiled
def _count(
    first: int, last: int, score: Any, relevance: Any, n_classes: int, copies: Any, unit: float,
    top: float, per_unit: float, lift: float, high: Any, steps: Any, begin: Any, slot: Any,
    size: Any, units: Any,
) -> None:  # fmt: skip
    """Count the documents of each cell and class, and sum their multiplicities."""
    for i in range(first, last):
        s = score[i] * lift
        c = int((top - s) * per_unit)
        k = (begin[c] + int((high[c] - s) * steps[c] + 0.5)) * n_classes + relevance[i]
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
