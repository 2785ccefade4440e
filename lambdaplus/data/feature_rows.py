"""Features of parts of folds: numbers of rows in matrices that all parts share.

Most rows are in a part of each fold.  So parts have no features of their own: the rows are copied
when they are read, which a fit does once.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data.atomic_files import atomic_write

BLOCK = 1 << 14  # rows that are moved at a time


class FeatureRows:
    """Some rows of matrices, numbered through; a matrix may be a file, which is then mapped."""

    def __init__(
        self,
        matrices: Sequence[Floats | Path],
        sizes: Sequence[int],
        width: int,
        rows: NDArray[Any],
    ) -> None:
        self.matrices, self._sizes = tuple(matrices), tuple(sizes)
        self._rows = rows.astype(np.int32 if sum(sizes) < 2**31 else np.int64, copy=False)
        self.shape = rows.size, width

    @classmethod
    def joined(cls, parts: Sequence[FeatureRows]) -> FeatureRows:
        """The rows of all parts, whose matrices are the first ones of the same."""
        longest = max(parts, key=lambda part: len(part.matrices))
        rows = np.concatenate([part._rows for part in parts])
        return cls(longest.matrices, longest._sizes, longest.shape[1], rows)

    def taken(self, places: NDArray[Any]) -> FeatureRows:
        """Some of these rows, by their places among them."""
        return FeatureRows(self.matrices, self._sizes, self.shape[1], self._rows[places])

    def read(self) -> Floats:
        """Copy the rows, (n, f)."""
        features, matrices = np.empty(self.shape), self._mapped()
        for begin in range(0, len(features), BLOCK):
            self._copy(matrices, begin, features[begin : begin + BLOCK])
        return features

    def blocks(self) -> Iterator[Floats]:
        """Copy the rows, some at a time."""
        matrices, (n, width) = self._mapped(), self.shape
        for begin in range(0, n, BLOCK):
            block = np.empty((min(BLOCK, n - begin), width))
            self._copy(matrices, begin, block)
            yield block

    def _mapped(self) -> list[Floats]:
        return [np.load(m, mmap_mode="r") if isinstance(m, Path) else m for m in self.matrices]

    def _copy(self, matrices: Sequence[Floats], first: int, block: Floats) -> None:
        """Copy the rows from the first one on to a block."""
        rows: Any = self._rows[first : first + len(block)]
        end = 0
        for matrix, size in zip(matrices, self._sizes, strict=True):
            begin, end = end, end + size
            here = (rows >= begin) & (rows < end)
            # Without a copy between; of columns, `take` would copy the matrix.
            if here.all() and matrix.flags.c_contiguous:
                matrix.take(rows - begin, axis=0, out=block, mode="clip")
            elif here.any():
                block[here] = matrix[rows[here] - begin]

    def on_disk(self, folder: Path) -> FeatureRows:
        """The same rows of files in a folder, which contain each matrix once."""
        files = []
        for matrix in self.matrices:
            # No other matrix has this number, since this one exists as long as the parts do.
            file = folder / f"{id(matrix)}.npy"
            files.append(file)
            if not file.exists():
                with atomic_write(file) as temporary, temporary.open("wb") as stream:
                    np.save(stream, np.asarray(matrix))
        return FeatureRows(files, self._sizes, self.shape[1], self._rows)

    def __deepcopy__(self, memo: Any) -> Floats:
        """An array, which its owner may change."""
        return self.read()


def matrices_of(features: FeatureRows | Floats) -> Sequence[Any]:
    """The matrices that hold the features of a part."""
    return features.matrices if isinstance(features, FeatureRows) else (features,)


class SharedFeatures:
    """Matrices with the features of each query once, however many parts of folds it is in."""

    def __init__(self) -> None:
        self._matrices: list[Floats] = []
        self._first: dict[bytes, int] = {}  # the first row of a query, by a digest of its features
        self._size = 0

    def rows(self, features: Floats, boundaries: Ints) -> FeatureRows | Floats:
        """The features of a part as rows of the matrices, to which its new queries are added."""
        width = features.shape[1]
        if self._matrices and self._matrices[0].shape[1] != width:  # folds of other features
            return features
        features = np.ascontiguousarray(features)
        rows, added = np.empty(len(features), np.int64), [np.zeros(0, np.int64)]
        for begin, end in itertools.pairwise(boundaries.tolist()):
            digest = hashlib.blake2b(features[begin:end].data).digest()
            first = self._first.setdefault(digest, self._size)
            rows[begin:end] = np.arange(first, first + end - begin)
            if first == self._size:
                added.append(np.arange(begin, end))
                self._size += end - begin
        if (new := np.concatenate(added)).size:
            self._matrices.append(features if new.size == len(features) else features[new])
        return FeatureRows(self._matrices, [*map(len, self._matrices)], width, rows)
