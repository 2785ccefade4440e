"""Rows of an evaluation set that are rows of the training data, in any form and order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.lists.columns import columns_of, from_gpu
from lambdaplus.lists.order import rows_of

Hashes = NDArray[np.uint64]

MOST = 0.5  # of training rows that occur repeatedly, and of the rows of a set that can be used
_SOME, _FEWEST = 0.05, 5  # of a set's rows, by more than chance
_DEVIATIONS = 3.0  # by which a share is beyond chance
_AT_ONCE = 2**20  # values, so that a hash takes little memory


class TrainingRows:
    """The rows of the training data, with their labels."""

    def __init__(self, X: Any, codes: Ints) -> None:
        self._different, counts = np.unique(hashes_of_rows(X, codes), return_counts=True)
        once = int(np.sum(counts == 1))
        self._n = max(1, len(codes))
        self._by_chance = 1.0 - once / self._n  # the share of rows that occur again

    def among(self, X: Any, codes: Ints) -> Bools:
        """Which of these rows are training rows, (n,); none if new rows may well be equal to some.

        A new row is equal to one about as often as a training row is equal to another.  Rows with
        few different values, such as flags, often are.
        """
        seen = np.isin(hashes_of_rows(X, codes), self._different)
        chance, n = self._by_chance, len(codes)
        beyond = seen.sum() - n * chance
        # Of the rows of the set, and of those of the training, which tell the chance, in pairs.
        variance = chance * (1.0 - chance) * n * (1.0 + 2.0 * n / self._n)
        some = beyond >= max(_SOME * n * (1.0 - chance), _FEWEST) and (
            beyond > _DEVIATIONS * np.sqrt(variance)
        )
        return seen if some and chance < MOST else np.zeros(n, np.bool_)


def hashes_of_rows(X: Any, codes: Ints) -> Hashes:
    """A hash of the features, as float32, and the code of each row, (n,) uint64.

    It does not depend on the container.  Text has no part in it.
    """
    if hasattr(X, "tocsr"):
        rows = X.tocsr()
        ends = np.append(np.uint64(0), np.cumsum(_mixed(_bits(rows.data), rows.indices)))
        found = ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]
    else:
        width = max(1, len(columns_of(X) or []) or np.shape(X)[-1])
        size = max(1, _AT_ONCE // width)
        starts = range(0, len(codes), size)
        parts = [rows_of(X, np.arange(i, min(i + size, len(codes)))) for i in starts]
        found = np.concatenate([_of_part(part) for part in parts])
    labels = _mixed(np.asarray(codes, np.uint64) + np.uint64(1), -1)
    return np.asarray(found + labels, np.uint64)


def _of_part(X: Any) -> Hashes:
    values = _floats(X)
    mixed = _mixed(_bits(values), np.arange(values.shape[1]))
    return np.asarray(mixed.sum(axis=1), np.uint64)


def _floats(X: Any) -> Floats:
    """The features, (n, d), with zeros for columns that are no numbers."""
    names = columns_of(X)
    if names is None:
        return np.asarray(from_gpu(X))
    columns = [_column(X[name]) for name in names]
    return np.stack(columns, axis=1)


def _column(values: Any) -> Floats:
    try:
        return np.asarray(values).astype(np.float32)
    except (TypeError, ValueError):  # text
        codes = getattr(getattr(values, "cat", None), "codes", None)  # of pandas' categories
        return np.zeros(len(values), np.float32) if codes is None else np.asarray(codes, np.float32)


def _bits(values: Any) -> Hashes:
    """The bits of numbers as float32; equal numbers, and all NaN, have the same ones."""
    with np.errstate(over="ignore"):
        single = np.asarray(values).astype(np.float32) + np.float32(0.0)  # -0.0 is 0.0
    single[np.isnan(single)] = np.nan
    return single.view(np.uint32).astype(np.uint64)


def _mixed(bits: Hashes, place: Any) -> Hashes:
    """A hash of each number and its place; 0 for 0, which sparse data do not hold.

    Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators.
    """
    z = bits + np.asarray(np.asarray(place) + 2, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = (z ^ (z >> np.uint64(31))) * (bits != 0)
    return mixed
