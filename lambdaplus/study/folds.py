"""The folds of a study: read or built in, and the features that methods are trained on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.transformers import in_unit_range
from lambdaplus.compute.memory import give_back
from lambdaplus.compute.messages import refuse_missing
from lambdaplus.data import Fold, RankingData, digits_queries
from lambdaplus.data.column_guesses import doubts, guess_columns
from lambdaplus.data.column_names import Columns
from lambdaplus.data.column_plan import agreed, plan_in_words
from lambdaplus.data.feature_rows import SharedFeatures
from lambdaplus.data.folders import files_of_folds, read_file, read_fold
from lambdaplus.data.ranking_data import sharing
from lambdaplus.data.repeated_text import RepeatedText
from lambdaplus.data.splits import folds_of_rows, time_line
from lambdaplus.data.table_columns import TableData, read_table_data
from lambdaplus.data.table_files import NO_QID, TableFile
from lambdaplus.data.time_gap import Gap, is_gap
from lambdaplus.data.time_in_words import folds_in_time
from lambdaplus.data.walk_forward import parts_in_time
from lambdaplus.saved_model.columns import Column
from lambdaplus.saved_model.files import table_kind
from lambdaplus.study.config import Config
from lambdaplus.study.data_in_words import weights_in_words
from lambdaplus.study.words import Nouns

N_FOLDS = 5


class StudyData(NamedTuple):
    """What a configuration names: its folds, all rows of a single file, and what was taken."""

    folds: list[Fold]
    notes: list[str]  # about columns that are used or left out
    config: Config  # with the columns that were taken
    all_rows: RankingData | None = None
    columns: Sequence[Column] = ()  # of a table: the features, and what is left out


def read_study_data(config: Config) -> StudyData:
    """Read the data, split it into folds, and select those that are asked for."""
    path = Path(config.data)
    if not config.data:
        if config.columns != Columns():
            raise ValueError(
                "qid, label, weight, features, categories, drop and order are columns of CSV and "
                "Parquet files; the built-in digits have none: set data as well"
            )
        read = StudyData(_chosen(digits_queries(), config), [], config)
    else:
        read = _of_folder(path, config) if path.is_dir() else _of_one_file(path, config)
    folds, notes = read.folds, read.notes
    if (train := folds[0].train).weights is not None:
        notes = [*notes, weights_in_words(config.weight, train.grouped, Nouns.of(read.config.qid))]
    give_back()
    return read._replace(folds=folds, notes=[*filter(None, notes)])


def _of_folder(folder: Path, config: Config) -> StudyData:
    """The folds of a folder."""
    if config.qid == NO_QID or config.order:
        raise ValueError("--qid none and --order are for a single file, which is split into folds")
    plans: dict[Path, Sequence[Column]] = {}
    unsure: dict[str, None] = {}

    def read(file: Path) -> RankingData:
        found = read_file(file, config.columns)
        if table_kind(file):
            plans[file] = found.columns
            unsure.update(dict.fromkeys(doubts(found.data, config.columns)))
        return found.data

    found = files_of_folds(folder, may_lack_valid=config.valid > 0)
    names = _complete(folder, [name for name, _ in found])
    shared, folds = SharedFeatures(), []
    chosen = _indices(config.folds, len(found))
    once = RepeatedText(read, shared)
    if len(chosen) > 1 and config.scaling == "none":  # or features are not those of the files
        for file in (found[i][1].get(part) for part in ("vali", "test") for i in chosen):
            if file:
                once.remember(file)
    for i in chosen:  # one in memory, besides what they share
        fold = replace(read_fold(*found[i], once, config.valid or None), name=names[i])
        fold = _with_features(fold, config)
        folds.append(Fold(fold.name, *(sharing(part, shared) for part in fold.parts)))
    columns = agreed(plans)
    return StudyData(folds, [plan_in_words(columns), *unsure], config, columns=columns)


def _of_one_file(file: Path, config: Config) -> StudyData:
    """The folds of a single file."""
    refuse_missing(file)
    if not table_kind(file):
        data = read_file(file, config.columns).data
        return StudyData(_chosen(folds_of_rows(data, N_FOLDS), config), [], config, data)
    opened = TableFile.read(file)
    columns, guesses = guess_columns(opened, config.columns)
    config = replace(config, qid=columns.qid, label=columns.label)
    read = read_table_data(opened, columns)
    if read.data.grouped and read.data.n_queries == 1:
        raise ValueError(
            f"{file}, column {config.qid!r} has the value {read.data.qid.item(0)!r} in all rows, "
            "but folds are made of queries: name another column with --qid, or pass --qid none, "
            "so that folds are made of rows and all rows are one ranking"
        )
    notes = [
        *guesses,
        plan_in_words(read.columns, Nouns.of(config.qid).query),
        *doubts(read.data, columns),
    ]
    gap = config.gap or 0
    if config.order:
        notes += _folds_in_time(read, gap)
        if opened.has_time_zone(config.order):
            notes.append(f"Times of {config.order} are shown in UTC, and days are those of UTC.")
    folds = folds_of_rows(read.data, N_FOLDS, order=read.order, gap=gap)
    return StudyData(_chosen(folds, config), notes, config, read.data, read.columns)


def _folds_in_time(read: TableData, gap: Gap) -> Iterator[str]:
    """The times and rows of the parts of each fold, which `folds_of_rows` makes."""
    data = read.data
    line = time_line(
        np.asarray(read.order), data.qid if data.grouped else np.arange(data.labels.size)
    )
    parts = parts_in_time(line, N_FOLDS, gap)
    yield "Folds in time: each is validated, and then tested, on later rows than it is trained on."
    yield from folds_in_time(line.values[line.place], parts, str(gap) if is_gap(gap) else "")


def _chosen(folds: list[Fold], config: Config) -> list[Fold]:
    return [_with_features(folds[i], config) for i in _indices(config.folds, len(folds))]


def _complete(folder: Path, names: list[str]) -> list[str]:
    """Unique names of folds, after checking that no numbered fold is missing."""
    counted = [int(match[1]) for name in names if (match := re.fullmatch(r"(?i)fold(\d+)", name))]
    missing = sorted(set(range(1, max(counted, default=0))) - set(counted))
    if missing:
        raise ValueError(
            f"{folder} has {', '.join(names)}, but no {', '.join(f'Fold{n}' for n in missing)}: "
            "the mean over these folds could be mistaken for that over all folds; add the missing "
            "ones, or pass the folder of a single fold"
        )
    if len(set(names)) == len(names):
        return names
    # Fold1/set1.train.txt and Fold2/set1.train.txt
    return [f"{name} {n}" for n, name in enumerate(names, start=1)]


def _indices(folds: str, n: int) -> list[int]:
    """Indices of the selected folds: the first N, or those listed."""
    if not folds:
        return list(range(n))
    try:
        numbers = [int(number) for number in folds.split(",")]
    except ValueError:
        raise ValueError(f"folds {folds!r} is not a number or a list such as 1,3") from None
    if "," not in folds:
        numbers = list(range(1, numbers[0] + 1))
    if not numbers or min(numbers) < 1 or max(numbers) > n:
        raise ValueError(f"folds {folds!r}: the data has folds 1 to {n}")
    return [number - 1 for number in numbers]


def _with_features(fold: Fold, config: Config) -> Fold:
    """The fold with the features that methods are trained on."""

    def scaled(part: RankingData) -> RankingData:
        numbers = [name not in part.categories for name in part.feature_names] or slice(None)
        features = part.features.copy()
        if not np.isfinite(features[:, numbers]).all():
            raise ValueError(
                f"{part.name}: missing or infinite features cannot be scaled to [0, 1] in each "
                "query: fill them in, or leave the scaling out"
            )
        features[:, numbers] = in_unit_range(features[:, numbers], part.queries.boundaries)
        return replace(part, features=features)

    if config.scaling == "none":
        return fold
    if not fold.test.grouped:
        raise ValueError("--scaling query needs queries: the table has none")
    return Fold(fold.name, *map(scaled, fold.parts))
