"""The features of a model in a file: columns of a table by name, or numbers of LETOR lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column
from .files import KINDS, table_kind
from .letor_lines import letor_rows
from .tables import tables

BATCH = 2**25  # bytes of a file, or of its numbers, that are read at once


def features_of(
    file: Path, columns: Sequence[Column], unseen: dict[str, Counter[str]], size: float = np.inf
) -> Iterator[Any]:
    """The features of a file in batches, (n, f) float64: the columns of a model, found by name."""
    names = [column.name for column in columns]
    if not table_kind(file):
        yield from numbered_features(file, names, size)
        return
    for table in tables(file, size, names):
        yield np.column_stack([
            table.codes(column, unseen) if column.kind == "category" else table.numbers(column.name)
            for column in columns
        ])  # fmt: skip


def numbered_features(
    file: Path, names: Sequence[str], size: float = BATCH
) -> Iterator[NDArray[np.float64]]:
    """The features of a LETOR file with these numbers in batches, (n, f) float64.

    A feature that is absent in a line is 0.
    """
    if named := [name for name in names if not re.fullmatch("[0-9]{1,18}", name)]:
        raise ValueError(
            f"{file} is not {KINDS}, so its columns have no names: the model was trained with "
            f"{', '.join(named)}"
        )
    wanted = np.array([min(int(name), 2**63 - 1) for name in names], np.int64)
    columns = np.argsort(wanted)
    ascending = np.append(wanted[columns], -1)  # which is no number of a feature
    batch = max(1, int(min(size, 2**34)) // (8 * wanted.size or 8))  # rows
    n_rows, least, most = 0, np.iinfo(np.int64).max, 0
    for read in letor_rows(file, size):
        least, most = read.numbers.min(initial=least), read.numbers.max(initial=most)
        if least == 0 and 0 not in wanted:
            raise ValueError(
                f"{file} has a feature 0, and the model was trained with features from 1: the two "
                "count from different numbers"
            )
        at = np.searchsorted(ascending[:-1], read.numbers)
        known = np.flatnonzero(ascending[at] == read.numbers)
        rows, at, values = read.rows[known], columns[at[known]], read.values[known]
        for start in range(0, read.labels.size, batch):
            features = np.zeros((min(batch, read.labels.size - start), wanted.size))
            part = slice(*np.searchsorted(rows, (start, start + batch)))
            features[rows[part] - start, at[part]] = values[part]
            yield features
        n_rows += read.labels.size
    if least == 1 and 0 in wanted and most == wanted.size == ascending[-2] + 1:
        raise ValueError(
            f"{file} has features 1 to {most}, and the model was trained with features 0 to "
            f"{most - 1}: the two count from different numbers"
        )
    if not n_rows:
        raise ValueError(f"{file} has no rows")
