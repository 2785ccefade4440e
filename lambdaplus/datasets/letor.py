"""Read the LETOR text format: one `label qid:ID 1:value 2:value ... # comment` a line.

Also called svmlight; MSLR-WEB, Yahoo's and Istella's sets use it too. Plain Python reads it no
slower here than scikit-learn does, and can say which line is wrong.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
from array import array
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from lambdaplus.datasets.ranking_data import Fold, RankingData

_PARTS = ("train", "vali", "test")
# Also LETOR 2's trainingset.txt, and Yahoo's set1.valid.txt, whose fold is then called set1.
_PART = re.compile(r"(?i)(?:(.+)\.)?(train|vali|test)(?:d|dation|ing)?(?:set)?\.txt(?:\.xz|\.gz)?")
_LAYOUT = (
    "expected train.txt, vali.txt, test.txt (or .xz, .gz), or folders Fold1, Fold2... of these"
)


def read_letor(path: str | os.PathLike[str]) -> RankingData:
    r"""Read one file in the LETOR format.

    Parameters
    ----------
    path : str or path-like
        Plain text, or compressed with a name that ends in `.xz` or `.gz`.

    Returns
    -------
    RankingData
        Named after the file. Column `j` of `features`, (n, f) float64, is the format's feature
        `j + 1`. One that a line leaves out is 0; one written `NULL`, as LETOR 4 writes missing
        values, is NaN. `labels` is (n,) float64, `qid` (n,) int64 or, if an ID is none, str.

    Raises
    ------
    ValueError
        If a line is malformed (the message gives file, line number and what is wrong), or
        `RankingData` refuses the rows.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.datasets import read_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "train.txt")
    ...     _ = path.write_text("2 qid:7 1:0.5 3:1 # a page\n0 qid:7 2:0.25\n")
    ...     data = read_letor(path)
    >>> data.features.tolist(), data.labels.tolist(), data.qid.tolist()
    ([[0.5, 0.0, 1.0], [0.0, 0.25, 0.0]], [2.0, 0.0], [7, 7])
    """
    file, labels, qids = Path(path), list[float](), list[str]()
    # A block is a run of lines with the same features: these, their columns, first row, values.
    blocks: list[tuple[tuple[str, ...], NDArray[np.int64], int, array[float]]] = []
    with open_text(file) as lines:
        for number, line in enumerate(lines, start=1):
            if not (tokens := line.partition("#")[0].split()):
                continue
            try:
                label, qid, keys, values = _parse(tokens)
                if not blocks or keys != blocks[-1][0]:
                    blocks.append((keys, _columns(keys), len(labels), array("d")))
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{file}, line {number}: {error}") from None
            labels.append(label)
            qids.append(qid)
            blocks[-1][-1].extend(values)
    width = max((int(columns.max(initial=-1)) + 1 for _, columns, _, _ in blocks), default=0)
    features = np.zeros((len(labels), width))
    for _, columns, start, flat in blocks:
        if len(columns):
            rows = np.asarray(flat).reshape(-1, len(columns))
            features[start : start + len(rows), columns] = rows
    try:
        return RankingData(features, np.array(labels), _int_or_str(qids), name=file.name)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def read_folds(folder: str | os.PathLike[str]) -> list[Fold]:
    """Read a set in the fold layout in which LETOR sets are published.

    Parameters
    ----------
    folder : str or path-like
        It holds `Fold1`, `Fold2`, ..., each with `train.txt`, `vali.txt` and `test.txt`, or one
        such triple itself. The files may end in `.xz` or `.gz`; names may be in any case; `valid`
        and `validation` are `vali`, too. Yahoo's `set1.train.txt` is of a fold called set1.

    Returns
    -------
    list of Fold
        By number; the parts of a fold are padded with zeros to equal width. All are held in
        memory: of a large set, give one fold's own folder instead.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist or lacks a file; the message says what was found instead.
    ValueError
        If two files are the same part, or `read_letor` refuses one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.datasets import read_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "train", "vali", "test":
    ...         _ = pathlib.Path(folder, f"{part}.txt").write_text("1 qid:a 1:0.5 # a page")
    ...     [fold] = read_folds(folder)
    >>> fold.test.features.tolist(), fold.test.qid.tolist()
    ([[0.5]], ['a'])
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"there is no folder {root}; {_LAYOUT}")
    folds = [entry for entry in root.iterdir() if re.fullmatch(r"(?i)fold\d+", entry.name)]
    folds.sort(key=lambda entry: int(entry.name[4:]))
    return [_read_fold(*triple) for holder in folds or [root] for triple in _triples(holder)]


def _triples(folder: Path) -> list[tuple[str, dict[str, Path]]]:
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        if match := _PART.fullmatch(file.name):
            triple = found.setdefault(match[1] or folder.name, {})
            if (other := triple.setdefault(match[2].lower(), file)) is not file:
                raise ValueError(f"{other} and {file} are the same part; keep one of them")
    if not found or any(len(triple) < len(_PARTS) for triple in found.values()):
        names = ", ".join(sorted(file.name for file in folder.iterdir())) or "nothing"
        raise FileNotFoundError(f"{folder} holds {names}; {_LAYOUT}")
    return list(found.items())


def _read_fold(name: str, triple: dict[str, Path]) -> Fold:
    parts = [replace(read_letor(triple[part]), name=f"{name} {part}") for part in _PARTS]
    width = max(part.features.shape[1] for part in parts)
    for i, part in enumerate(parts):
        if missing := width - part.features.shape[1]:
            parts[i] = replace(part, features=np.pad(part.features, ((0, 0), (0, missing))))
    return Fold(name, *parts)


def open_text(file: Path) -> TextIO:
    opener: Any = {".xz": lzma.open, ".gz": gzip.open}.get(file.suffix.lower(), open)
    # Comments come in all encodings and are dropped; the rest of the format is ASCII.
    return cast(TextIO, opener(file, "rt", encoding="utf-8-sig", errors="replace"))


def _parse(tokens: list[str]) -> tuple[float, str, tuple[str, ...], list[float]]:
    label, qid, *pairs = tokens if len(tokens) > 1 else [*tokens, "nothing"]
    if not qid.startswith("qid:") or qid == "qid:":
        raise ValueError(f"after the label must come qid:ID, not {qid!r}")
    split = zip(*map(str.partition, pairs, repeat(":")), strict=True)
    keys, _, values = split if pairs else ((), (), ())
    try:
        numbers = [*map(float, values)]
    except ValueError:  # a NULL or a mistake: rare, so looked for only now
        numbers = [_value(pair) for pair in pairs]
    return float(label), qid[4:], keys, numbers


def _value(pair: str) -> float:
    value = pair.partition(":")[2]
    try:
        return float("nan" if value == "NULL" else value)
    except ValueError:
        raise ValueError(f"{pair!r} is not feature:value") from None


def _columns(keys: tuple[str, ...]) -> NDArray[np.int64]:
    columns = np.array([int(key) - 1 for key in keys], dtype=np.int64)
    if columns.min(initial=0) < 0 or len(np.unique(columns)) < len(columns):
        raise ValueError("features must count from 1, and none may be given twice")
    return columns


def _int_or_str(qids: list[str]) -> NDArray[Any]:
    ids = np.array(qids, dtype=np.str_)
    try:
        numbers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    # "007" and "7" are two queries: numbers only where nothing is lost.
    return numbers if np.array_equal(numbers.astype(np.str_), ids) else ids
