"""Folds of one data set by whole queries: repeated random splits and cross-validation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arguments import check_flag
from lambdaplus.data.ranking_data import Fold, RankingData

_Ints = NDArray[np.int64]
_PARTS = ("train", "vali", "test")


def random_splits(
    data: RankingData,
    n: int,
    train: float = 0.6,
    valid: float = 0.2,
    test: float | None = None,
    *,
    balanced: bool = False,
    random_state: int = 0,
) -> list[Fold]:
    """Split the queries of a data set at random into training, validation and test, `n` times.

    Parameters
    ----------
    data : RankingData
    n : int
        Number of splits.
    train, valid, test : int or float
        Number of queries in each part (int), or share of all queries (float), rounded down. If
        `test` is not given, the test part gets the remaining queries. If the parts do not add up to
        all queries, some are left out of each split.
    balanced : bool, default=False
        Whether to draw the splits together, so that over the splits the numbers of times that two
        queries are in training differ by at most one; likewise for validation and test. If the
        numbers are divisible, as in 50 splits of 50 queries into 10, 5 and 35 (Yue, Finley,
        Radlinski and Joachims, SIGIR 2007, section 6), every query is used equally often in each
        part.
    random_state : int, default=0
        Seed of the splits.

    Returns
    -------
    list of Fold
        Named Split1, Split2, ...; queries keep the order of `data`, and each part is a copy.

    Raises
    ------
    ValueError
        If `n` is less than one, `balanced` is neither True nor False, a part gets no query, or the
        parts have more queries in total than there are.

    Notes
    -----
    For balanced splits, queries are arranged in a circle, of which each split uses three arcs that
    begin at evenly spaced positions: the number of arcs of fixed length that contain a query is the
    mean number, rounded down or up. Pairs of splits then exchange queries at random (the
    "curveball" algorithm of Strona et al., Nature Communications 5:4114, 2014), which changes
    neither the sizes nor these numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.data import RankingData, random_splits
    >>> data = RankingData(np.ones((10, 1)), np.ones(10), np.arange(10))
    >>> splits = random_splits(data, 10, 2, 1, 7, balanced=True)
    >>> splits[0].name, len(splits[0].train.qid), len(splits[0].test.qid)
    ('Split1', 2, 7)
    >>> np.unique(np.concatenate([split.train.qid for split in splits]), return_counts=True)[1]
    array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    if n < 1:
        raise ValueError(f"at least one split is needed, not {n}")
    check_flag(balanced=balanced)
    n_queries = data.n_queries
    sizes = _sizes(n_queries, train, valid, test)
    rng = np.random.default_rng(random_state)
    if balanced:
        roles = _balanced_roles(rng, n, n_queries, sizes)
    else:
        roles = rng.permuted(np.tile(_dealt(n_queries, sizes), (n, 1)), axis=1)
    return [
        _fold(f"Split{i + 1}", [data.take_queries(np.flatnonzero(row == p)) for p in range(3)])
        for i, row in enumerate(roles)
    ]


def cross_validation(data: RankingData, n_folds: int = 5, *, random_state: int = 0) -> list[Fold]:
    """Split the queries of a data set at random into parts, each of which is tested on once.

    Parameters
    ----------
    data : RankingData
    n_folds : int, default=5
        Number of parts, whose numbers of queries differ by at most one. As in LETOR, fold `i` tests
        on part `i`, validates on the part before it and trains on the others.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    list of Fold
        Named Fold1, Fold2, ...; each part is a copy.

    Raises
    ------
    ValueError
        If there are fewer than three folds, or fewer queries than folds.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.data import RankingData, cross_validation
    >>> data = RankingData(np.ones((10, 1)), np.ones(10), np.arange(10))
    >>> folds = cross_validation(data)
    >>> sorted(np.concatenate([fold.test.qid for fold in folds]).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if not 3 <= n_folds <= data.n_queries:
        raise ValueError(
            f"n_folds must be from 3 to the number of queries, {data.n_queries}, not {n_folds}"
        )
    part_of = np.random.default_rng(random_state).permutation(np.arange(data.n_queries) % n_folds)
    folds = []
    for i in range(n_folds):
        test, valid = part_of == i, part_of == (i - 1) % n_folds
        queries = [np.flatnonzero(chosen) for chosen in (~test & ~valid, valid, test)]
        folds.append(_fold(f"Fold{i + 1}", [data.take_queries(chosen) for chosen in queries]))
    return folds


def held_out(
    data: RankingData, share: float, *, random_state: int = 0
) -> tuple[RankingData, RankingData]:
    """Split off a share of the queries at random; return the remaining queries and the share.

    Raises
    ------
    ValueError
        If one of the two parts gets no query.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.data import RankingData
    >>> from lambdaplus.data.splits import held_out
    >>> rest, chosen = held_out(RankingData(np.ones((10, 1)), np.ones(10), np.arange(10)), 0.2)
    >>> rest.n_queries, chosen.n_queries
    (8, 2)
    """
    n_queries = data.n_queries
    size = _count(share, n_queries)
    if not 0 < size < n_queries:
        raise ValueError(f"{size} of {n_queries} queries cannot be set aside; each part needs one")
    order = np.random.default_rng(random_state).permutation(n_queries)
    return data.take_queries(np.sort(order[size:])), data.take_queries(np.sort(order[:size]))


def _fold(name: str, parts: Sequence[RankingData]) -> Fold:
    named = [part.renamed(f"{name} {p}") for part, p in zip(parts, _PARTS, strict=True)]
    return Fold(name, *named)


def _sizes(n_queries: int, *parts: float | None) -> list[int]:
    """Number of queries of each part."""
    sizes = [_count(part, n_queries) for part in parts if part is not None]
    sizes += [n_queries - sum(sizes)] * (3 - len(sizes))
    if min(sizes) < 1 or sum(sizes) > n_queries:
        raise ValueError(
            "{} training, {} validation and {} test queries".format(*sizes)
            + f" cannot be taken out of {n_queries}: each part needs one, and all together no more"
        )
    return sizes


def _count(part: float, n_queries: int) -> int:
    """Number of queries; a share is rounded down, and 0.29 of 100 is 29 in spite of rounding."""
    if not isinstance(part, Real) or not np.isfinite(part):
        raise ValueError(f"{part!r} is neither a number of queries nor a share of them")
    return int(part * n_queries + 1e-9) if isinstance(part, float) else part


def _dealt(n_queries: int, sizes: list[int]) -> _Ints:
    """Part of each query if they are assigned in order; 3 stands for no part."""
    return np.repeat(np.arange(4), [*sizes, n_queries - sum(sizes)])


def _balanced_roles(
    rng: np.random.Generator, n: int, n_queries: int, sizes: list[int]
) -> NDArray[np.int64]:
    """Part of each query (columns) in each split (rows)."""
    circle = _dealt(n_queries, sizes)
    starts = np.arange(n) * n_queries // n
    roles = np.stack([np.roll(circle, start) for start in starts])
    roles = rng.permutation(rng.permutation(roles, axis=0), axis=1)
    # Ten rounds in which every split exchanges queries with its neighbours in a random order, for
    # each pair of parts; according to Strona et al., half as many per row are sufficient.
    for _ in range(10):
        order = rng.permutation(n)
        for one, other in itertools.pairwise(order):
            for a, b in itertools.combinations(range(4), 2):
                _trade(rng, roles[one], roles[other], a, b)
    return roles


def _trade(rng: np.random.Generator, one: _Ints, other: _Ints, a: int, b: int) -> None:
    """Redistribute the queries that are in part `a` of one split and part `b` of the other."""
    gives, gets = (one == a) & (other == b), (one == b) & (other == a)
    pool = rng.permutation(np.flatnonzero(gives | gets))
    first, second = pool[: np.count_nonzero(gives)], pool[np.count_nonzero(gives) :]
    one[first], other[first] = a, b
    one[second], other[second] = b, a
