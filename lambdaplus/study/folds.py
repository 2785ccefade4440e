"""The folds of a study, from a file, a folder or a built-in data set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

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
from lambdaplus.data.ranking_data import join
from lambdaplus.study.config import MADE_UP, SHARES


def folds_of(
    data: str = "",
    splits: int = 0,
    shares: tuple[float, ...] = SHARES,
    balanced: bool = False,
    valid: float = 0.0,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> list[Fold]:
    """Read or generate the folds of a data set, by options of `Config`."""
    if len(shares) != 3:
        raise ValueError(f"shares {shares} should be three: training, validation and test queries")
    if not splits and (balanced or shares != SHARES):
        raise ValueError("shares and balanced are options of random splits: set splits as well")
    path, made_up = Path(data), data.partition(":")[0] == MADE_UP
    if (made_up or not data) and any(name != column for name, column in columns.items()):
        raise ValueError("qid and label are columns of CSV and Parquet files: set data as well")
    if data and not path.is_dir():
        whole = _made_up(data) if made_up else read_data(path, **columns)
        if not splits:
            return cross_validation(whole)
    else:
        folds = digits_queries()
        if data:
            folds = _complete(data, read_folds(path, valid=valid or None, **columns))
        if not splits:
            return folds
        whole = join([folds[0].train, folds[0].valid, folds[0].test], "all queries")
    return random_splits(whole, splits, *shares, balanced=balanced)


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
