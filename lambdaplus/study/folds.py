"""The folds of a study: read or generated, and the features that methods are trained on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lambdaplus.baselines import QueryScaler
from lambdaplus.compute.arguments import hint, refuse_missing
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import (
    Fold,
    RankingData,
    cross_validation,
    digits_queries,
    random_splits,
    read_data,
    read_folds,
    web_search_like,
)
from lambdaplus.data.ranking_data import join, numeric_part, rows_of_data
from lambdaplus.data.relative_features import relative_to_query
from lambdaplus.data.table_files import INDEX, NO_QUERIES, SUFFIXES, WEIGHT_NAMES, TableFile
from lambdaplus.ranking.queries import rows_by_query
from lambdaplus.study.config import MADE_UP, SHARES, Config

MOST_VALUES = 255  # of a category
ROWS_OF_A_VALUE = 10  # on average, at least; text with fewer, such as a title, is left out
MOST_NAMES = 60  # of features that are listed


def read_table_of(file: Path, config: Config) -> tuple[RankingData, list[str]]:
    """Read a CSV or Parquet file, and say what became of its columns."""
    table = TableFile(file, [])
    whole = config.qid == NO_QUERIES
    queries, label, weight = ("" if whole else config.qid), config.label, config.weight
    _refuse_missing_columns(table, {"qid": queries, "label": label, "weight": weight})
    try:
        labels = table.numbers(label)
    except ValueError as error:
        raise ValueError(
            f"{error}. Labels are numbers, such as 1 for yes and 0 for no, or grades from 0"
        ) from None
    if not labels.size:
        raise ValueError(f"{file} has no rows")
    qid = table.identifiers(queries) if queries else np.zeros(labels.size, dtype=np.int64)
    if queries and np.unique(qid).size == 1:
        raise ValueError(
            f"{file}, column {queries!r} has the value {qid.item(0)!r} in all rows, but folds are "
            "made of queries: name another column with --qid, or pass --qid none, so that folds "
            "are made of rows and all rows are one ranking"
        )
    taken = {label, *filter(None, (queries, weight))}
    wanted = _wanted(config, table.names, taken)
    features, categories, left_out = _features_of(table, wanted, config)
    if not features:
        raise ValueError(
            f"{file} has no feature: besides {', '.join(map(repr, sorted(taken)))}, it has "
            f"{', '.join(left_out) or 'no column'}"
        )
    data = RankingData(
        np.stack([*features.values()], axis=1),
        labels,
        np.zeros(labels.size, dtype=np.int64),
        file.name,
        tuple(features),
        weights=table.numbers(weight) if weight else None,
        categories=tuple(categories),
        grouped=False,
    )
    if queries:
        rows = rows_by_query(qid)
        data = replace(rows_of_data(replace(data, qid=qid), rows), grouped=True)
    return data, [
        *([f"Left out: {', '.join(left_out)}."] if left_out else []),
        *_weight_in_words(config),
        *_doubts(data, config),
        *(
            f"{name} has integers beyond 2**53, which become equal to others: pass --drop {name} "
            "if they are identifiers."
            for name in features
            if name not in categories and table.has_rounded(name)
        ),
    ]


def _refuse_missing_columns(table: TableFile, by_option: dict[str, str]) -> None:
    """Raise one ValueError for all columns that options name and the table does not have."""
    missing = {
        option: name
        for option, name in by_option.items()
        if (name or option == "label") and name not in table.names
    }
    if not missing:
        return
    names = (f"{name!r}{hint(name, table.names)}" for name in missing.values())
    column = "the column" if len(missing) == 1 else "the columns"
    advice = f"Name {column} with {' and '.join(f'--{option}' for option in missing)}"
    if "qid" in missing:
        advice += "; pass --qid none if the table has no queries, so that all rows are one ranking"
    raise ValueError(
        f"{table.file} has no column {' and no '.join(names)}; it has: "
        f"{', '.join(table.names)}. {advice}"
    )


def _wanted(config: Config, names: Sequence[str], taken: set[str]) -> list[str]:
    """The columns that may be features, by the options features and drop."""
    for option in ("features", "drop"):
        for name in getattr(config, option):
            if name not in names:
                raise ValueError(
                    f"--{option}: there is no column {name!r}{hint(name, names)}; there are: "
                    f"{', '.join(names)}"
                )
            if name in taken:
                raise ValueError(
                    f"--{option}: {name!r} is the column of the labels, queries or weights"
                )
    if both := [name for name in config.features if name in config.drop]:
        raise ValueError(f"{both[0]!r} is in --features and in --drop")
    return [
        name
        for name in names
        if name not in taken
        and name not in config.drop
        and (name in config.features or not config.features)
    ]


def _features_of(
    table: TableFile, wanted: Sequence[str], config: Config
) -> tuple[dict[str, Floats], list[str], list[str]]:
    """Features by name, which of them are categories, and what is left out, with the reason."""
    features: dict[str, Floats] = {}
    categories: list[str] = []
    left_out = [f"{name} (--drop)" for name in config.drop]
    for name in wanted:
        if INDEX.fullmatch(name) and name not in config.features:
            left_out.append(f"{name or 'a column without a name'} (row numbers that pandas wrote)")
            continue
        try:
            column = table.feature(name)
        except ValueError as error:
            raise ValueError(f"{error}; or leave it out with --drop {name}") from None
        if column is None:
            column, values = table.codes(name)
            if column is None:
                left_out.append(f"{name} (dates)")
                continue
            known = int(np.isfinite(column).sum())
            if values > MOST_VALUES or values * ROWS_OF_A_VALUE > known:
                left_out.append(f"{name} (text with {values:,} different values)")
                continue
            categories.append(name)
        features[name] = column
    return features, categories, left_out


def selected(folds: list[Fold], config: Config) -> tuple[list[Fold], list[str]]:
    """Folds of files of their own, with the weights and the features that options name."""
    if not (config.features or config.drop or config.weight):
        return folds, []
    names = folds[0].train.feature_names
    if not names:
        raise ValueError(
            "features, drop and weight are names of columns of CSV and Parquet files: this data "
            "has no names"
        )
    if config.weight and config.weight not in names:
        raise ValueError(f"there is no column {config.weight!r}{hint(config.weight, names)}")
    wanted = _wanted(config, names, {config.weight} - {""})
    if not wanted:
        raise ValueError("--drop leaves no feature")
    kept = [names.index(name) for name in wanted]

    def changed(part: RankingData) -> RankingData:
        weights = part.features[:, names.index(config.weight)] if config.weight else None
        features = part.features[:, kept]
        return replace(part, features=features, feature_names=tuple(wanted), weights=weights)

    left_out = [name for name in names if name not in (*wanted, config.weight)]
    said = [f"Left out: {', '.join(left_out)}."] if left_out else []
    folds = [Fold(fold.name, *map(changed, fold.parts)) for fold in folds]
    return folds, [*said, *_weight_in_words(config)]


def _weight_in_words(config: Config) -> list[str]:
    if not config.weight:
        return []
    used = f"Weights: {config.weight}, in training and in validation values"
    if config.qid == NO_QUERIES:
        return [f"{used}, and in AUC and average precision of test rows."]
    return [f"{used}. In test means and in tests, each query counts equally."]


def _doubts(data: RankingData, config: Config) -> list[str]:
    """Columns that may be no features, but were not named."""
    said = []
    for name, column in zip(data.feature_names, data.features.T, strict=True):
        if name in config.features:
            continue
        if name.strip().lower() in WEIGHT_NAMES:
            said.append(
                f"{name} is used as a feature: pass --weight {name} if it weights the rows, or "
                f"--drop {name}."
            )
        elif name not in data.categories and _counts_rows(column):
            said.append(
                f"{name} is used as a feature, but has a different whole number in each row: pass "
                f"--drop {name} if it numbers the rows."
            )
    return said


def _counts_rows(column: Floats) -> bool:
    whole = np.isfinite(column).all() and (column == np.floor(column)).all()
    return bool(whole) and column.size > 100 and np.unique(column).size == column.size


def data_in_words(folds: Sequence[Fold], notes: Sequence[str]) -> list[str]:
    """What a study uses: rows, queries, features; queries that are in training and test data."""
    train = folds[0].train
    names = [
        f"{name} (category)" if name in train.categories else name for name in train.feature_names
    ]
    width = train.features.shape[1]
    said = _size_in_words(folds[0])
    if any(_size_in_words(fold) != said for fold in folds):
        said = f"{folds[0].name}: {said}"
    listed = f": {', '.join(names)}" if names and width <= MOST_NAMES else ""
    if train.categories and not listed:
        listed = f", of which categories: {', '.join(train.categories)}"
    lines = [f"{said}; {_count(width, 'feature')}{listed}."]
    shared = {
        fold.name: len(common)
        for fold in folds
        if fold.test.grouped and (common := {*fold.train.qid.tolist()} & {*fold.test.qid.tolist()})
    }
    if shared:
        where = ", ".join(f"{name} ({n:,})" for name, n in shared.items())
        lines.append(
            "Some queries have the same identifier in training and in test data; if they are the "
            f"same queries, test values are too high: {where}."
        )
    return [*lines, *notes]


def _size_in_words(fold: Fold) -> str:
    rows = sum(part.labels.size for part in fold.parts)
    if not fold.test.grouped:
        relevant = sum(int((part.labels >= 1).sum()) for part in fold.parts)
        return (
            f"{rows:,} rows, {relevant:,} of them with a label of 1 or more, as one ranking "
            "without queries"
        )
    has = [
        np.logical_or.reduceat(part.labels >= 1, part.queries.boundaries[:-1])
        for part in fold.parts
    ]
    queries = np.concatenate(has)
    return (
        f"{rows:,} rows; {_count(queries.size, 'query', 'queries')}, {int((~queries).sum()):,} "
        "without a relevant document"
    )


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


N_FOLDS = 5


def folds_of(config: Config) -> list[Fold]:
    """The folds that the options of a study select, with the features that these ask for."""
    return folds_and_notes(config)[0]


def folds_and_notes(config: Config) -> tuple[list[Fold], list[str]]:
    """The folds, and sentences about the columns that they use or leave out."""
    every, notes = _all_folds(config)
    folds = [_with_features(every[i], config) for i in _indices(config.folds, len(every))]
    return folds, notes


def _all_folds(config: Config) -> tuple[list[Fold], list[str]]:
    data, splits, columns = config.data, config.splits, {"qid": config.qid, "label": config.label}
    if len(config.shares) != 3:
        raise ValueError(
            f"shares {config.shares} should be three: training, validation and test queries"
        )
    if not splits and config.shares != SHARES:
        raise ValueError("shares are those of random splits: set splits as well")
    if not data or Path(data).is_dir():
        if not data:
            _refuse_columns(config, "the built-in digits have none: set data as well")
        elif config.qid == NO_QUERIES:
            raise ValueError(
                "--qid none is for a single CSV or Parquet file, which is split into folds"
            )
        folds, notes = digits_queries(), list[str]()
        if data:
            with warnings.catch_warnings():
                if config.weight or config.features or config.drop:  # columns were considered
                    warnings.filterwarnings("ignore", ".*read as features")
                read = read_folds(data, valid=config.valid or None, **columns)
            folds, notes = selected(_complete(data, read), config)
        if not splits:
            return folds, notes
        whole = join(folds[0].parts, "all queries")
    else:
        whole, notes = _one_set(config)
        if not splits:
            return _cross_validation(whole, data), notes
        if not whole.grouped:
            raise ValueError(
                "--splits divides queries: a table without queries is split into five folds of "
                "rows; leave --splits out"
            )
    return random_splits(whole, splits, *config.shares), notes


def _one_set(config: Config) -> tuple[RankingData, list[str]]:
    """The queries of a file or of generated data, and sentences about the columns of a table."""
    path = Path(config.data)
    if config.data.partition(":")[0] == MADE_UP:
        _refuse_columns(config, "generated data has none: set data as well")
        return _made_up(config.data), []
    refuse_missing(path)
    if path.suffix.lower() in SUFFIXES:
        return read_table_of(path, config)
    _refuse_columns(config, f"{path} is neither .csv nor .parquet, so its columns have no names")
    return read_data(path), []


def _refuse_columns(config: Config, why: str) -> None:
    """Raise a ValueError if options name columns, which the data does not have."""
    named = (config.qid, config.label) != (Config.qid, Config.label)
    if named or config.weight or config.features or config.drop:
        raise ValueError(
            f"qid, label, weight, features and drop are columns of CSV and Parquet files; {why}"
        )


def _cross_validation(whole: RankingData, data: str) -> list[Fold]:
    """Five folds, or a ValueError that says what to do with fewer queries or rows."""
    if whole.grouped and whole.n_queries < N_FOLDS:
        raise ValueError(
            f"{data} has {whole.n_queries} queries, which cannot be split into {N_FOLDS} folds: "
            "add queries, or pass --qid none if all rows are one ranking"
        )
    try:
        return cross_validation(whole, N_FOLDS)
    except ValueError:
        relevant = int((whole.labels >= 1).sum())
        raise ValueError(
            f"{data} has {relevant} rows with a label of 1 or more, and "
            f"{whole.labels.size - relevant} others: {N_FOLDS} folds need {N_FOLDS} of each"
        ) from None


def _complete(data: str, folds: list[Fold]) -> list[Fold]:
    """Give each fold a unique name, after checking that no numbered fold is missing."""
    names = [fold.name for fold in folds]
    counted = [int(match[1]) for name in names if (match := re.fullmatch(r"(?i)fold(\d+)", name))]
    missing = sorted(set(range(1, max(counted, default=0))) - set(counted))
    if missing:
        raise ValueError(
            f"{data} has {', '.join(names)}, but no {', '.join(f'Fold{n}' for n in missing)}: the "
            "mean over these folds could be mistaken for that over all folds; add the missing "
            "ones, or pass the folder of a single fold"
        )
    if len(set(names)) == len(names):
        return folds
    # Fold1/set1.train.txt and Fold2/set1.train.txt
    return [replace(fold, name=f"{fold.name} {n}") for n, fold in enumerate(folds, start=1)]


def _made_up(name: str) -> RankingData:
    number = name.partition(":")[2] or "500"
    if not number.isdecimal():
        raise ValueError(f"{name!r} is not {MADE_UP} or {MADE_UP}:N with N queries")
    return web_search_like(int(number))


def _indices(folds: str, n: int) -> list[int]:
    """Indices of the selected folds: the first N, or those listed."""
    if not folds:
        return list(range(n))
    try:
        numbers = [int(part) for part in folds.split(",")]
    except ValueError:
        raise ValueError(f"folds {folds!r} is not a number or a list such as 1,3") from None
    if "," not in folds:
        numbers = list(range(1, numbers[0] + 1))
    if not numbers or min(numbers) < 1 or max(numbers) > n:
        raise ValueError(f"folds {folds!r}: the data has folds 1 to {n}")
    return [number - 1 for number in numbers]


def _with_features(fold: Fold, config: Config) -> Fold:
    """The fold with the features that methods are trained on."""

    def changed(part: RankingData) -> RankingData:
        numbers = numeric_part(part)
        if config.scaling == "query":
            scaled = QueryScaler().fit_transform(numbers.features, qid=part.qid)
            numbers = replace(numbers, features=scaled)
        if config.relative:
            numbers = relative_to_query(numbers, config.relative)
        if not part.categories:
            return numbers
        codes = [part.feature_names.index(name) for name in part.categories]
        return replace(
            numbers,
            features=np.hstack([numbers.features, part.features[:, codes]]),
            feature_names=(*numbers.feature_names, *part.categories),
            categories=part.categories,
        )

    if config.scaling == "none" and not config.relative:
        return fold
    if not fold.test.grouped:
        raise ValueError("--scaling query and --relative need queries: the table has none")
    return Fold(fold.name, *map(changed, fold.parts))
