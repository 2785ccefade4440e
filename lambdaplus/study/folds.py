"""The folds of a study: read or generated, and the features that methods are trained on."""

import re
from dataclasses import replace
from pathlib import Path

from lambdaplus.baselines import QueryScaler
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
from lambdaplus.data.relative_features import relative_to_query
from lambdaplus.study.config import MADE_UP, SHARES, Config


def folds_of(config: Config) -> list[Fold]:
    """The folds that the options of a study select, with the features that these ask for."""
    folds = _all_folds(config)
    return [_with_features(folds[i], config) for i in _indices(config.folds, len(folds))]


def _all_folds(config: Config) -> list[Fold]:
    data, splits, columns = config.data, config.splits, {"qid": config.qid, "label": config.label}
    if len(config.shares) != 3:
        raise ValueError(
            f"shares {config.shares} should be three: training, validation and test queries"
        )
    if not splits and config.shares != SHARES:
        raise ValueError("shares are those of random splits: set splits as well")
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
            folds = _complete(data, read_folds(path, valid=config.valid or None, **columns))
        if not splits:
            return folds
        whole = join(folds[0].parts, "all queries")
    return random_splits(whole, splits, *config.shares)


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
        if config.scaling == "query":
            scaled = QueryScaler().fit_transform(part.features, qid=part.qid)
            part = replace(part, features=scaled)
        return relative_to_query(part, config.relative) if config.relative else part

    return Fold(fold.name, *map(changed, fold.parts))
