"""Splits that keep queries whole: row indices, and cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.arguments import whole_number
from lambdaplus.compute.array_types import Ints
from lambdaplus.data.ranking_data import (
    Fold,
    RankingData,
    in_memory,
    named_fold,
    rows_of_data,
    rows_of_queries,
)
from lambdaplus.data.time_gap import Gap, is_gap
from lambdaplus.data.time_order import places_and_values
from lambdaplus.data.walk_forward import TimeLine, parts_in_time, splits_in_time
from lambdaplus.lists.keys import identifiers, numbered

HIGHEST_GRADE = 30  # of LightGBM's ranking objectives; larger labels are real values


def query_folds(
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    n_splits: int = 5,
    shuffle: bool = True,
    seed: int = 0,
    order: ArrayLike | None = None,
    gap: Gap = 0,
) -> list[tuple[Ints, Ints]]:
    """Split the rows of a data set into folds of whole queries.

    The result can be passed as ``folds=`` to `lightgbm.cv`, `lambdaplus.lightgbm.cv` and
    `lambdaplus.xgboost.cv` (not to `xgboost.cv`), and as ``cv=`` to scikit-learn's searches.

    Parameters
    ----------
    qid : (n,) array_like, optional
        Query of each row; the rows of a query do not have to be adjacent.
    group : (n_queries,) array_like of int, optional
        Query sizes in row order, instead of ``qid``; one of the two has to be passed.
    n_splits : int, default=5
        Number of folds, from 2 to the number of queries.
    shuffle : bool, default=True
        Assign queries to folds at random.  Otherwise folds get about the same number of rows.
    seed : int, default=0
        Seed of the random assignment.
    order : (n,) array_like, optional
        Date or number of each row, the same in all rows of a query; dates as text are 2026-11-26.
        Queries are not shuffled then: each fold is tested on a block of dates, and trained on all
        earlier ones, as by `~sklearn.model_selection.TimeSeriesSplit`.
    gap : str, timedelta or number, default=0
        What to leave out before the first date that is tested, such as the time that labels look
        ahead: a duration such as "30d", "12h" or `numpy.timedelta64(30, "D")` before dates, a
        number before numbers.

    Returns
    -------
    list of (train, test)
        Row indices of every fold, ascending: (n_train,) and (n_test,) int64.

    Raises
    ------
    ValueError
        If both or neither of ``qid`` and ``group`` are passed, a query is missing, a size is
        invalid, there are fewer than 2 folds or fewer queries than folds, a query has two dates,
        there are too few dates, the gap has no unit or another one than ``order``, leaves out
        nothing or all training rows, or text in ``order`` has another order as numbers than as
        dates or versions (3001.2022, 2023.10), or is a number with a plus sign, an exponent or
        zeros before the first digit.

    Examples
    --------
    >>> from lambdaplus import query_folds
    >>> [test.tolist() for _, test in query_folds(group=[2, 1, 3], n_splits=3, shuffle=False)]
    [[3, 4, 5], [0, 1], [2]]
    >>> days = ["2026-11-23", "2026-11-24", "2026-11-25", "2026-11-26"]
    >>> [(train.tolist(), test.tolist()) for train, test in
    ...  query_folds(qid=days, order=days, n_splits=2, gap="1d")]
    [([0], [2]), ([0, 1], [3])]
    """
    if (qid is None) == (group is None):
        raise ValueError("pass either qid= (one per row) or group= (sizes)")
    if group is not None:
        qid = numbered(group)
    ids = identifiers(qid)
    whole_number("n_splits", n_splits, least=2)
    if order is not None:
        return splits_in_time(time_line(order, ids), n_splits, gap)
    if is_gap(gap):
        raise ValueError("gap is a time before that of order: pass order= as well")
    n_queries = np.unique(ids).size
    if n_queries < n_splits:
        raise ValueError(f"{n_queries} queries cannot be split into {n_splits} folds")
    splitter = query_splitter(n_splits, shuffle, seed)
    return list(splitter.split(ids, groups=ids))


def query_splitter(n_splits: int, shuffle: bool, seed: int) -> Any:
    """scikit-learn's splitter by group, which shuffles queries with this seed."""
    from sklearn.model_selection import GroupKFold

    return GroupKFold(n_splits, shuffle=shuffle, random_state=seed if shuffle else None)


def time_line(order: ArrayLike, qid: NDArray[Any]) -> TimeLine:
    """The times of rows, which are the same in all rows of a query."""
    place, values = places_and_values(order, qid.size)
    _, first, query = np.unique(qid, return_index=True, return_inverse=True)
    other = np.flatnonzero(place != place[first][query])
    if other.size:
        row = int(other[0])
        dates = identifiers(order, "order")
        raise ValueError(
            f"query {qid[row]!s} has several values of order, such as {dates[first[query[row]]]!s} "
            f"and {dates[row]!s} (row {row}): a query needs one"
        )
    return TimeLine(place, values)


def cross_validation(
    data: RankingData,
    n_folds: int = 5,
    *,
    random_state: int = 0,
    order: ArrayLike | None = None,
    gap: Gap = 0,
) -> list[Fold]:
    """Split the queries of a data set into folds for cross-validation, at random or by date.

    Parameters
    ----------
    data : RankingData
    n_folds : int, default=5
        Number of folds, from 3 to the number of queries. The queries are divided into as many
        subsets, whose sizes differ by at most one. As in LETOR, fold `i` tests on subset `i`,
        validates on the one before it and trains on the others. Of a table without queries, the
        rows are divided, each label evenly unless labels are real numbers.
    random_state : int, default=0
        Seed of the folds.
    order : (n,) array_like, optional
        Date or number of each row, as in `query_folds`, for folds that walk forward: each tests on
        a block of dates, validates on the block before it and trains on all earlier ones.
    gap : str, timedelta or number, default=0
        What to leave out before the validation part, and before the test part, as in `query_folds`.

    Returns
    -------
    list of Fold
        Named Fold1, Fold2, ...; each part is a copy.

    Raises
    ------
    ValueError
        If there are fewer than three folds, fewer queries than folds or, without queries, fewer
        rows than folds with labels of 1 or more, or below 1; and as in `query_folds` for ``order``.

    Examples
    --------
    >>> from lambdaplus.data import RankingData, cross_validation
    >>> data = RankingData([[0.5]] * 20, labels=[1] * 20, qid=range(20))
    >>> folds = cross_validation(data)
    >>> sum(fold.test.n_queries for fold in folds)
    20
    """
    folds = folds_of_rows(data, n_folds, random_state=random_state, order=order, gap=gap)
    return [Fold(fold.name, *map(in_memory, fold.parts)) for fold in folds]


def folds_of_rows(
    data: RankingData,
    n_folds: int,
    *,
    random_state: int = 0,
    order: ArrayLike | None = None,
    gap: Gap = 0,
) -> list[Fold]:
    """The folds of `cross_validation`, whose parts share the features of the data."""
    whole_number("n_folds", n_folds, least=3)
    take = partial(rows_of_data, data, shared=True)
    if order is not None:
        rows = np.arange(data.labels.size)
        line = time_line(order, data.qid if data.grouped else rows)
        return [
            named_fold(f"Fold{i}", *map(take, parts))
            for i, parts in enumerate(parts_in_time(line, n_folds, gap), start=1)
        ]
    if is_gap(gap):
        raise ValueError("gap is a time before that of order: pass order= as well")
    if not data.grouped:
        subsets = _subsets_of_rows(data, n_folds, random_state)
        return rotated(subsets, lambda rows: take(np.sort(rows)))
    if n_folds > data.n_queries:
        raise ValueError(
            f"{data.name or 'the data'} has {data.n_queries} queries, which cannot be split into "
            f"{n_folds} folds: add queries or, if all rows are one ranking, pass grouped=False "
            "(lambdaplus compare --qid none)"
        )
    subsets = _random_subsets(data.n_queries, n_folds, random_state)
    return rotated(subsets, lambda chosen: take(rows_of_queries(data, np.sort(chosen))))


def _random_subsets(n: int, n_subsets: int, seed: int) -> list[Ints]:
    subset_of = np.random.default_rng(seed).permutation(np.arange(n) % n_subsets)
    return [np.flatnonzero(subset_of == i) for i in range(n_subsets)]


def are_real(labels: NDArray[np.float64]) -> bool:
    """Whether labels are no grades: negative, with decimals, or large."""
    return bool((labels < 0).any() or (labels % 1 != 0).any() or labels.max() > HIGHEST_GRADE)


def _subsets_of_rows(data: RankingData, n_folds: int, seed: int) -> list[Ints]:
    """Subsets of a table without queries, with the same shares of labels if these are grades."""
    from sklearn.model_selection import StratifiedKFold

    name, n = data.name or "the data", data.labels.size
    if n < n_folds:
        raise ValueError(f"{name} has {n} rows, which cannot be split into {n_folds} folds")
    if are_real(data.labels):
        return _random_subsets(n, n_folds, seed)
    labels, counts = np.unique(data.labels, return_counts=True)
    relevant = int(counts[labels >= 1].sum())
    if min(relevant, n - relevant) < n_folds:
        raise ValueError(
            f"{name} has {relevant} rows with a label of 1 or more, and {n - relevant} others: "
            f"{n_folds} folds need {n_folds} of each"
        )
    # Labels that are rarer than folds are divided with the other ones of their side.
    classes = data.labels if counts.min() >= n_folds else data.labels >= 1
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return [test for _, test in splitter.split(classes, classes)]


def rotated(subsets: list[Ints], take: Callable[[Ints], RankingData]) -> list[Fold]:
    """Folds that test on one subset each, validate on the one before it and train on the others."""
    folds = []
    for i in range(len(subsets)):
        *others, valid, test = subsets[i + 1 :] + subsets[: i + 1]
        fold = map(take, (np.concatenate(others), valid, test))
        folds.append(named_fold(f"Fold{i + 1}", *fold))
    return folds


def held_out(data: RankingData, share: float) -> tuple[RankingData, RankingData]:
    """Split a share of the queries off at random; return the remaining queries and the share."""
    n_queries = data.n_queries
    size = int(share * n_queries + 1e-9)  # 0.29 of 100 is 29, although 0.29 * 100 is below 29
    if not 0 < size < n_queries:
        raise ValueError(f"{size} of {n_queries} queries cannot be set aside; each part needs one")
    order = np.random.default_rng(0).permutation(n_queries)
    return data.take_queries(np.sort(order[size:])), data.take_queries(np.sort(order[:size]))
