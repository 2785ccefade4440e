"""Folds of one data set: whole queries, disjoint parts, balance."""

import itertools
import warnings
from collections.abc import Iterable

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.data.ranking_data import joined
from lambdaplus.data.splits import held_out
from papers.balanced_splits import balanced_splits


def small_set(n_queries: int) -> RankingData:
    """Queries of 1, 2 or 3 rows; each row's feature and label say which one it is."""
    qid = np.repeat(np.arange(n_queries) + 100, np.arange(n_queries) % 3 + 1)
    rows = np.arange(len(qid), dtype=np.float64)
    return RankingData(rows[:, None], rows, qid, "small")


def queries(fold: Fold) -> list[list[int]]:
    return [np.unique(part.qid).tolist() for part in fold.parts]


def flat(lists: Iterable[list[int]]) -> list[int]:
    return [*itertools.chain.from_iterable(lists)]


def test_balanced_splits_have_their_sizes() -> None:
    for i, fold in enumerate(balanced_splits(small_set(20), 4, 9, 5, 6), start=1):
        assert (fold.name, fold.test.name) == (f"Split{i}", f"Split{i} test")
        assert [len(found) for found in queries(fold)] == [9, 5, 6]
        assert sorted(flat(queries(fold))) == list(range(100, 120))


def test_a_share_of_the_queries_is_rounded_down() -> None:
    for n_queries, share, expected in ((10, 0.57, 5), (100, 0.29, 29), (100, 0.57, 57)):
        kept, apart = held_out(small_set(n_queries), share)  # .29 and .57 times 100 are just below
        assert (kept.n_queries, apart.n_queries) == (n_queries - expected, expected)
        assert not {*kept.qid} & {*apart.qid}
    for impossible in (0, 10):
        with pytest.raises(ValueError, match=f"{impossible} of 10 queries cannot be set aside"):
            held_out(small_set(10), max(0.05, impossible / 10))


def test_cross_validation_rotates_over_subsets_of_whole_queries() -> None:
    data = small_set(23)
    folds = cross_validation(data, 5, random_state=1)
    assert [fold.name for fold in folds] == [f"Fold{i}" for i in range(1, 6)]
    tested = [queries(fold)[2] for fold in folds]
    assert sorted(map(len, tested)) == [4, 4, 5, 5, 5]
    assert sorted(flat(tested)) == list(range(100, 123))
    for i, fold in enumerate(folds):
        train, valid, _ = queries(fold)
        assert valid == tested[i - 1]
        assert train == sorted(flat(tested[i - step] for step in (2, 3, 4)))
        for part in fold.parts:
            own = np.isin(data.qid, part.qid)
            assert part.labels.tolist() == part.features[:, 0].tolist() == data.labels[own].tolist()
            assert part.qid.tolist() == data.qid[own].tolist()
    assert tested != [queries(fold)[2] for fold in cross_validation(data, 5)]


def test_cross_validation_refuses_too_few_and_too_many_folds() -> None:
    with pytest.raises(ValueError, match="n_folds must be a whole number, at least 3, got 2"):
        cross_validation(small_set(10), 2)
    with pytest.raises(ValueError, match=r"small has 10 queries, .* 11 folds: .* --qid none"):
        cross_validation(small_set(10), 11)
    rows = RankingData(np.ones((9, 1)), np.arange(9) > 4, np.zeros(9, int), grouped=False)
    with pytest.raises(ValueError, match=r"the data has 4 rows .*, and 5 others: 5 folds need 5"):
        cross_validation(rows, 5)
    with pytest.raises(ValueError, match="has 9 rows, which cannot be split into 10 folds"):
        cross_validation(rows, 10)


def test_grades_that_are_rarer_than_folds_are_divided_with_others_of_their_side() -> None:
    labels = np.repeat([0, 1, 2], [30, 8, 1])
    data = RankingData(labels[:, None], labels, np.zeros(39, int), grouped=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn warns of a class with fewer rows than folds
        folds = cross_validation(data, 3)
    assert [int((fold.test.labels >= 1).sum()) for fold in folds] == [3, 3, 3]


def test_rows_with_real_labels_are_divided_at_random() -> None:
    labels = np.arange(23) - 11.5
    data = RankingData(labels[:, None], labels, np.zeros(23, int), grouped=False)
    folds = cross_validation(data, 5)
    assert sorted(fold.test.labels.size for fold in folds) == [4, 4, 5, 5, 5]
    assert sorted(np.concatenate([fold.test.labels for fold in folds])) == labels.tolist()
    for fold in folds:
        assert sorted(np.concatenate([part.labels for part in fold.parts])) == labels.tolist()
        assert not any(part.grouped for part in fold.parts)
        whole = joined(fold)
        assert (whole.grouped, whole.qid.tolist()) == (False, [0] * 23)
        assert sorted(whole.labels) == labels.tolist()
