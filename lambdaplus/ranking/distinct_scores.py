"""Long lists of few distinct scores, as in the first rounds of a training: no score is rounded.

A hash table numbers the distinct scores, which is faster than cutting the range of the scores until
clusters are apart.
"""

import numpy as np

from lambdaplus.compute.array_types import Int32s, Reals, Rows
from lambdaplus.compute.collective import Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_tasks, piece_slices
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.ranking.slots import Slots

ROWS_PER_SCORE = 8  # with fewer, cells are faster
TABLE_BITS = 16  # of places, twice as many as scores
HASH = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, as in Fibonacci hashing


def most_distinct(n: int) -> int:
    """The largest number of different scores of n documents that are not rounded."""
    return min(THRESHOLDS.most_distinct, n // ROWS_PER_SCORE)


def slots_of_few(
    score: Reals, code: Int32s, n_classes: int, most: int, workers: Workers
) -> Slots | None:
    """The slots of the rows, without rounding; None for more than ``most`` different scores."""
    # In bits, -0.0 is another number than 0.0, and -1 is a NaN, which no score is.
    bits = score.view(np.int32 if score.itemsize == 4 else np.int64)
    minus_zero = np.array([-0.0], score.dtype).view(bits.dtype)[0]
    pieces = piece_slices(score.size)
    slot = np.empty(score.size, np.int32)
    numbered = [np.empty(most, bits.dtype) for _ in pieces]
    sizes = [np.zeros(most * n_classes, np.int32) for _ in pieces]
    n_found = np.zeros(len(pieces), np.int64)

    def number(i: int) -> None:
        table = np.full(2**TABLE_BITS, -1, bits.dtype), np.empty(2**TABLE_BITS, np.int32)
        rows, found = pieces[i], (numbered[i], slot[pieces[i]], sizes[i])
        n_found[i] = _number(bits[rows], code[rows], n_classes, minus_zero, *table, *found)

    over_tasks(number, len(pieces))
    if workers.largest(n_found[n_found.argmax()][None])[0] > most:
        return None
    found = [part[:n].view(score.dtype) for part, n in zip(numbered, n_found, strict=True)]
    distinct, place = np.unique(-np.concatenate(found).astype(np.float64), return_inverse=True)
    if workers.size > 1:
        here, distinct = distinct, np.unique(workers.concatenate(distinct))
        place = np.searchsorted(distinct, here)[place]
    if distinct.size > most:
        return None
    places = np.split(place, np.cumsum(n_found)[:-1])
    counted = [part[: n * n_classes] for part, n in zip(sizes, n_found, strict=True)]
    return Slots(-distinct + 0.0, n_classes, slot, pieces, counted, places)


@compiled
def first_place(b: int) -> np.uint64:
    """The place in the table from which a score, by its bits, is looked for."""
    # Twice: one product would bring scores at some regular distances to the same places.
    product = np.uint64(b) * np.uint64(HASH)
    product = (product ^ (product >> np.uint64(32))) * np.uint64(HASH)
    return product >> np.uint64(64 - TABLE_BITS)


@compiled
def _number(
    bits: Rows, code: Int32s, n_classes: int, minus_zero: int, key: Rows, number: Int32s,
    found: Rows, slot: Int32s, size: Int32s,
) -> int:  # fmt: skip
    """Number the scores in the order in which they occur; one more than fit if there are more."""
    n_found, classes = 0, np.int32(n_classes)
    last = np.uint64(key.size - 1)
    for i in range(bits.size):
        b = bits[i] if bits[i] != minus_zero else bits.dtype.type(0)
        at = first_place(b)
        while key[at] != b:
            if key[at] == -1:
                if n_found == found.size:
                    return n_found + 1
                key[at], found[n_found], number[at] = b, b, n_found
                n_found += 1
            else:
                at = (at + np.uint64(1)) & last
        place = number[at] * classes + code[i]
        slot[i] = place
        size[np.uintp(place)] += np.int32(1)
    return n_found
