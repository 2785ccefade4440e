"""The folds of a study: from a folder, from one file, or generated."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

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

MADE_UP = "web-search-like"


def folds_of(
    data: str = "",
    splits: int = 0,
    shares: tuple[float, ...] = (0.6, 0.2, 0.2),
    balanced: bool = False,
    valid: float = 0.0,
) -> list[Fold]:
    """Read or generate the folds of a data set.

    Parameters
    ----------
    data : str
        A folder, read by `read_folds`; a file, read by `read_data`; or ``web-search-like`` for 500
        synthetic queries, ``web-search-like:N`` for N of them.  Files and synthetic data are split
        into five folds by `cross_validation`.  By default, the built-in digits.
    splits : int
        Number of `random_splits` to use instead; of a folder, all queries of its first fold are
        split.
    shares, balanced
        Training, validation and test queries of each split; see `random_splits`.
    valid : float
        Share of training queries for validation if a folder has no validation part.

    Raises
    ------
    ValueError, ImportError
        If the data or the numbers of queries are invalid, or a fold is missing.
    FileNotFoundError
        If the data does not exist.
    MemoryError
        If synthetic data would not fit into memory.
    """
    if len(shares) != 3:
        raise ValueError(f"shares {shares} should be three: of training, validation, test queries")
    if balanced and not splits:
        raise ValueError("balanced is an option of repeated splits: set the number of splits")
    path = Path(data)
    if data and not path.is_dir():
        made_up = data.partition(":")[0] == MADE_UP
        whole = _made_up(data) if made_up else read_data(path)
        return (
            random_splits(whole, splits, *shares, balanced=balanced)
            if splits
            else cross_validation(whole)
        )
    folds = _complete(data, read_folds(path, valid=valid or None)) if data else digits_queries()
    if not splits:
        return folds
    whole = join([folds[0].train, folds[0].valid, folds[0].test], "all queries")
    return random_splits(whole, splits, *shares, balanced=balanced)


def _complete(data: str, folds: list[Fold]) -> list[Fold]:
    """Give each fold a unique name, after checking that no numbered fold is missing."""
    names = [fold.name for fold in folds]
    counted = [int(found[1]) for name in names if (found := re.fullmatch(r"(?i)fold(\d+)", name))]
    missing = sorted(set(range(1, max(counted, default=0))) - set(counted))
    if missing:
        raise ValueError(
            f"{data} has {', '.join(names)}, and no {', '.join(f'Fold{n}' for n in missing)}: the "
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
