"""Readers of one file of any format, and of data sets in the folders of their publishers."""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lambdaplus.compute.messages import warn
from lambdaplus.data.letor import read_letor
from lambdaplus.data.ranking_data import Fold, RankingData, named_fold
from lambdaplus.data.splits import held_out
from lambdaplus.data.table_columns import Columns, TableData, read_columns, read_table_data
from lambdaplus.data.table_files import NO_QID, TableFile
from lambdaplus.saved_model.files import KINDS, table_kind

_PARTS = ("train", "vali", "test")
# Also LETOR 2's trainingset.txt, Yahoo's set1.valid.txt, whose fold is then called set1, and
# LightGBM's rank.train.
_PART = re.compile(
    r"(?i)(?:(.+)\.)?(train|vali|test)(?:d|dation|ing)?(?:set)?"
    r"(?:\.(?:txt|svm|svmlight|libsvm|csv|tsv|parquet))?(?:\.xz|\.gz)?"
)
_LAYOUT = (
    "expected train.txt, vali.txt, test.txt (or .xz, .gz), or folders Fold1, Fold2... of these"
)


def read_data(
    path: str | os.PathLike[str], *, qid: str = "qid", label: str = "label"
) -> RankingData:
    """Read one file of ranking data in any supported format.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in .csv, .tsv or .parquet is read by `read_columns`, others by
        `read_letor`.  Errors are those of these functions.
    qid, label : str
        Names of the columns of a CSV or Parquet file.

    Returns
    -------
    RankingData

    Raises
    ------
    ValueError
        If names of columns are passed for another file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "train.txt")
    ...     _ = file.write_text("2 qid:1 1:0.5\\n0 qid:1 1:0.1\\n")
    ...     data = read_data(file)
    >>> data.labels.tolist(), data.features.tolist()
    ([2.0, 0.0], [[0.5], [0.1]])
    """
    file = Path(path)
    if table_kind(file):
        return read_columns(file, qid=qid, label=label)
    return read_file(file, Columns(qid, label)).data


def read_file(file: Path, columns: Columns) -> TableData:
    """Read one file in any format; columns of a table that are left out are not warned of."""
    if table_kind(file):
        if columns.categories:
            raise ValueError(
                f"--categories is for a single file, not for {file} of a folder, since the other "
                "files may number the values otherwise"
            )
        return read_table_data(TableFile.read(file), columns, categories=False)
    if columns != (Columns() if columns.grouped else Columns(NO_QID)):
        raise ValueError(f"{file} is not {KINDS}, so its columns have no names")
    return TableData(read_letor(file, grouped=columns.grouped), None, [])


def read_folds(
    folder: str | os.PathLike[str],
    *,
    valid: float | None = None,
    qid: str = "qid",
    label: str = "label",
) -> list[Fold]:
    """Read the folds of a data set from the folders in which it is published.

    Parameters
    ----------
    folder : str or path-like
        Contains `Fold1`, `Fold2`, ..., each with `train.txt`, `vali.txt` and `test.txt` (LETOR,
        MSLR-WEB), or these three files (Istella's `sample`). The files may end in `.xz` or `.gz`,
        or be CSV or Parquet; the case of names is ignored; `valid` and `validation` are accepted
        for `vali`, and `trainingset` for `train`. Yahoo's `set1.train.txt` belongs to a fold named
        set1, and LightGBM's `rank.train`, beside `rank.train.query`, to one named rank.
    valid : float, optional
        Share of the training queries, drawn at random, that is used for validation if the data set
        has no validation part, like Istella's `full`.
    qid, label : str
        Names of the columns of CSV or Parquet files.

    Returns
    -------
    list of Fold
        Folds by number. Text files without the last features of another part get zeros there;
        columns of CSV and Parquet files are in the order of the training file.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist or a file is missing; the message lists the existing files.
    ValueError
        If two files are the same part, the parts of a fold have different column names, or
        `read_data` cannot read a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "train", "vali", "test":
    ...         _ = pathlib.Path(folder, f"{part}.txt").write_text("1 qid:7 1:0.5")
    ...     [fold] = read_folds(folder)
    >>> fold.test.features.tolist(), fold.test.qid.tolist()
    ([[0.5]], [7])
    """
    read = partial(read_data, qid=qid, label=label)
    found = files_of_folds(Path(folder), may_lack_valid=valid is not None)
    return [read_fold(name, files, read, valid) for name, files in found]


def files_of_folds(folder: Path, *, may_lack_valid: bool) -> list[tuple[str, dict[str, Path]]]:
    """The names of the folds of a folder, and the files of their parts."""
    root = folder.resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"there is no folder {root}; {_LAYOUT}")
    return [
        fold
        for place in _fold_folders(root) or [root]
        for fold in _files_by_fold(place, may_lack_valid).items()
    ]


def read_fold(
    name: str, files: dict[str, Path], read: Callable[[Path], RankingData], valid: float | None
) -> Fold:
    """Read a fold, whose parts get the same features in the same order."""
    parts = {part: read(file) for part, file in files.items()}
    _pad({part: data for part, data in parts.items() if not table_kind(files[part])}, parts)
    for part, file in files.items():
        parts[part] = _with_features_of(parts["train"], files["train"], parts[part], file)
    _warn_of_shared_queries(parts, files)
    if "vali" not in parts:
        parts["train"], parts["vali"] = held_out(parts["train"], valid or 0.0)
    return named_fold(name, *(parts[part] for part in _PARTS))


def _fold_folders(folder: Path) -> list[Path]:
    folds = [entry for entry in folder.iterdir() if re.fullmatch(r"(?i)fold\d+", entry.name)]
    return sorted(folds, key=lambda entry: int(entry.name[4:]))


def _files_by_fold(folder: Path, may_lack_valid: bool) -> dict[str, dict[str, Path]]:
    folds: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        if file.is_file() and (match := _PART.fullmatch(file.name)):
            files = folds.setdefault(match[1] or folder.name, {})
            if (other := files.setdefault(match[2].lower(), file)) is not file:
                raise ValueError(f"{other} and {file} are the same part; keep one of them")
    for files in folds.values() or [{}]:
        missing = set(_PARTS) - files.keys()
        if missing == {"vali"} and not may_lack_valid:
            raise FileNotFoundError(
                f"{folder} contains {_names(files.values())}, and no validation part; valid=0.2 "
                "uses a fifth of the training queries for it"
            )
        if missing - {"vali"}:
            raise FileNotFoundError(f"{folder} contains {_names(folder.iterdir())}; {_LAYOUT}")
    return folds


def _names(files: Iterable[Path]) -> str:
    return ", ".join(sorted(file.name for file in files)) or "nothing"


def _pad(texts: dict[str, RankingData], parts: dict[str, RankingData]) -> None:
    """Give all parts that are text as many features, of which the missing ones are 0."""
    width = max((data.n_features for data in texts.values()), default=0)
    for part, data in texts.items():
        if missing := width - data.n_features:
            features = np.pad(data.features, ((0, 0), (0, missing)))
            names = tuple(map(str, range(width))) if data.feature_names else ()
            parts[part] = replace(data, features=features, feature_names=names)


def _warn_of_shared_queries(parts: dict[str, RankingData], files: dict[str, Path]) -> None:
    """Warn of queries of the training file that another file contains as well."""
    for part, data in parts.items():
        train = parts["train"].qid
        if part == "train" or data.qid.dtype.kind != train.dtype.kind:
            continue
        shared = np.intersect1d(train, data.qid)
        if shared.size:
            count = f"{shared.size} {'query is' if shared.size == 1 else 'queries are'}"
            warn(
                f"{count} in both {files['train']} and {files[part]}, such as {shared[0]}: unless "
                "other queries have the same numbers, results are too good"
            )


def _with_features_of(
    train: RankingData, train_file: Path, data: RankingData, file: Path
) -> RankingData:
    """The data set with its features in the order of the training file, by name."""
    names, own_names = train.feature_names, data.feature_names
    if own_names == names:
        return data
    if differing := sorted({*names} ^ {*own_names}):
        raise ValueError(
            f"only one of {train_file} and {file} has the feature "
            f"{', '.join(map(repr, differing))}, as a column of numbers: the parts of a fold need "
            "the same features"
        )
    places = [own_names.index(name) for name in names]
    return replace(data, features=data.features[:, places], feature_names=names)
