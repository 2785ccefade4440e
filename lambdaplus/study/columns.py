"""The columns of a table: its labels, queries, weights and features, and what is left out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.arguments import hint
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.ranking_data import with_queries
from lambdaplus.data.table_files import INDEX, NO_QUERIES, WEIGHT_NAMES, TableFile
from lambdaplus.ranking.queries import rows_by_query
from lambdaplus.study.config import Config

MOST_VALUES = 255  # of a category
ROWS_OF_A_VALUE = 10  # on average, at least; text with fewer, such as a title, is left out
QUERY_NAMES = (
    "query", "query_id", "queryid", "q_id", "session", "session_id", "search_id", "srch_id",
    "impression_id", "request_id", "group", "group_id", "user", "user_id", "customer",
    "customer_id", "day", "date",
)  # fmt: skip
LABEL_NAMES = (
    "labels", "relevance", "rel", "grade", "rating", "target", "y", "class", "clicked", "click",
    "purchased", "is_fraud", "fraud", "forward_return", "return",
)  # fmt: skip


class TableData(NamedTuple):
    """A table, what became of its columns, and what they were taken for."""

    data: RankingData
    notes: list[str]
    order: NDArray[Any] | None  # of the rows
    config: Config  # with the columns that were taken
    levels: dict[str, list[str]]  # the values of each category, in the order of their codes


def read_table_of(file: Path, config: Config) -> TableData:
    """Read a CSV or Parquet file."""
    table = TableFile(file, [])
    config, guesses = _guess_columns(table, config)
    whole = config.qid == NO_QUERIES
    queries, label, weight = ("" if whole else config.qid), config.label, config.weight
    roles = {"qid": queries, "label": label, "weight": weight, "order": config.order}
    _refuse_missing_columns(table, roles)
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
    order = table.places(config.order) if config.order else None
    taken = {*filter(None, roles.values())}
    wanted = _wanted(config, table.names, taken)
    features, levels, left_out = _features_of(table, wanted, config)
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
        categories=tuple(levels),
        grouped=False,
    )
    if queries:
        data = with_queries(data, qid)
        order = None if order is None else order[rows_by_query(qid)]
    notes = [
        *guesses,
        *([f"Left out: {', '.join(left_out)}."] if left_out else []),
        *weight_in_words(config.weight, config),
        *_doubts(data, config),
    ]
    return TableData(data, notes, order, config, levels)


def _guess_columns(table: TableFile, config: Config) -> tuple[Config, list[str]]:
    """Columns of queries and labels with other names than the default, if these are not there.

    The sentences say what was taken for what, and how to change it.
    """
    taken, said = config, []
    if config.label == Config.label and config.label not in table.names:
        several = _named_like(table, LABEL_NAMES, config)
        if len(several) > 1:
            raise ValueError(
                f"{table.file} has no column 'label', and the labels may be in "
                f"{' or '.join(several)}: name the column with --label"
            )
        if several:
            taken = replace(taken, label=several[0])
            said.append(f"{several[0]} has the labels")
    if config.qid == Config.qid and config.qid not in table.names and taken.label in table.names:
        name = next(iter(_named_like(table, QUERY_NAMES, taken)), "")
        taken = replace(taken, qid=name or NO_QUERIES)
        said.append(
            f"{name} has the queries"
            if name
            else "no column has the queries, so that all rows are one ranking"
        )
    if not said:
        return config, []
    now = f"--qid {shlex.quote(taken.qid)} --label {shlex.quote(taken.label)}"
    return taken, [
        f"Guessed by names of columns: {', and '.join(said)}.",
        f"To change it: lambdaplus compare {shlex.quote(str(table.file))} {now}, with other "
        "columns, or --qid none without queries.",
    ]


def _named_like(table: TableFile, names: Sequence[str], config: Config) -> list[str]:
    """Columns with these names, in any case, and the same value in several rows."""
    lower = {name.strip().lower(): name for name in reversed(table.names)}
    used = {config.label, config.weight, *config.drop, *config.features}
    found = [lower[name] for name in names if lower.get(name, "") not in ("", *used)]
    return [name for name in found if table.repeats(name)]


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
                    f"--{option}: {name!r} is the column of the labels, queries, weights or order"
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
) -> tuple[dict[str, Floats], dict[str, list[str]], list[str]]:
    """Features by name, the values of categories, and what is left out, with the reason."""
    features: dict[str, Floats] = {}
    levels: dict[str, list[str]] = {}
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
                left_out.append(f"{name} ({table.type_in_words(name)})")
                continue
            known = int(np.isfinite(column).sum())
            if len(values) > MOST_VALUES or len(values) * ROWS_OF_A_VALUE > known:
                left_out.append(f"{name} (text with {len(values):,} different values)")
                continue
            levels[name] = values
        features[name] = column
    return features, levels, left_out


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
    notes = [f"Left out: {', '.join(left_out)}."] if left_out else []
    folds = [Fold(fold.name, *map(changed, fold.parts)) for fold in folds]
    return folds, [*notes, *weight_in_words(config.weight, config)]


def weight_in_words(name: str, config: Config) -> list[str]:
    """What is done with row weights, a column or a file; nothing without a name."""
    if not name:
        return []
    use = f"Weights: {name}, in training and in validation values"
    if config.qid == NO_QUERIES:
        return [f"{use}, and in AUC and average precision of test rows."]
    return [f"{use}. In test means and in tests, each query counts equally."]


def _doubts(data: RankingData, config: Config) -> list[str]:
    """Columns that may be no features, but were not named."""
    doubts = []
    for name, column in zip(data.feature_names, data.features.T, strict=True):
        if name in config.features:
            continue
        if name.strip().lower() in WEIGHT_NAMES:
            doubts.append(
                f"{name} is used as a feature: pass --weight {name} if it weights the rows, or "
                f"--drop {name}."
            )
        elif name not in data.categories and _counts_rows(column):
            doubts.append(
                f"{name} is used as a feature, but has a different whole number in each row: pass "
                f"--drop {name} if it numbers the rows."
            )
    return doubts


def _counts_rows(column: Floats) -> bool:
    whole = np.isfinite(column).all() and (column == np.floor(column)).all()
    return bool(whole) and column.size > 100 and np.unique(column).size == column.size
