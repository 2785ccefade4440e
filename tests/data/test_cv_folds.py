"""Folds that keep queries together, and cross-validation with these folds."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from small_data import GRADED, Recorder

import lambdaplus as lp
import lambdaplus.xgboost as lxgb
from lambdaplus import query_folds

ONE_THREAD = {"verbosity": 0, "nthread": 1}


@given(
    st.lists(st.integers(1, 9), min_size=3, max_size=30),
    st.integers(2, 3),
    st.booleans(),
    st.integers(0, 99),
)
def test_folds_are_a_partition_into_whole_queries(
    sizes: list[int], n_splits: int, shuffle: bool, seed: int
) -> None:
    options: Any = {"n_splits": n_splits, "shuffle": shuffle, "seed": seed}
    folds = query_folds(group=sizes, **options)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    assert len(folds) == n_splits
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(len(qid)))
    for train, test in folds:
        assert test.size > 0
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(qid)))
        assert not set(qid[train]) & set(qid[test])
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    again = query_folds(qid=qid, **options)
    mixed = np.random.default_rng(seed).permutation(qid)  # rows of a query may be apart
    assert not any({*mixed[a]} & {*mixed[b]} for a, b in query_folds(qid=mixed, **options))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))


def test_the_seed_assigns_queries() -> None:
    def dealt(**options: Any) -> list[bytes]:
        return [test.tobytes() for _, test in query_folds(group=[5] * 20, **options)]

    assert dealt() == dealt(seed=0) != dealt(seed=1)
    assert dealt(shuffle=False) == dealt(shuffle=False, seed=1)


def matrix(rows: Any = slice(None), weighted: bool = True) -> xgb.DMatrix:
    part, taken = GRADED.rows(rows), np.unique(GRADED.qid[rows])
    weight = GRADED.query_weights[taken] if weighted else None
    return xgb.DMatrix(part.features, part.labels, group=part.sizes, weight=weight)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_xgboosts_cv_is_training_on_each_fold_by_itself(weighted: bool) -> None:
    folds = query_folds(group=GRADED.sizes, n_splits=3)
    found = lxgb.cv(
        ONE_THREAD, matrix(weighted=weighted), 5, folds=folds, obj=lp.lambda_ndcg,
        custom_metric=lp.eval_mrr, as_pandas=False,
    )  # fmt: skip
    values = []
    for train, test in folds:
        curve: Any = {}
        lxgb.train(
            ONE_THREAD, matrix(train, weighted), 5, obj=lp.lambda_ndcg, custom_metric=lp.eval_mrr,
            evals=[(matrix(test, weighted), "test")], evals_result=curve, verbose_eval=False,
        )  # fmt: skip
        values.append(curve["test"]["mrr"])
    assert_allclose(found["test-mrr-mean"], np.mean(values, axis=0), atol=2e-6)


def parts_seen(**options: Any) -> list[tuple[int, int, int]]:
    """Rows, queries and weights of each training part."""

    def look(scores: Any, part: Any) -> tuple[int, int, int]:
        return len(scores), part.get_uint_info("group_ptr").size - 1, part.get_weight().size

    recorder = Recorder(lp.lambda_ndcg, look)
    lxgb.cv(ONE_THREAD, matrix(), 1, obj=recorder, as_pandas=False, **options)
    return recorder.seen


def test_xgboosts_cv_makes_folds_of_whole_queries_with_their_weights() -> None:
    sizes = GRADED.sizes
    for seen, options in (
        (parts_seen(nfold=4, seed=3), {"n_splits": 4, "seed": 3}),
        (parts_seen(), {"n_splits": 3}),
        (parts_seen(shuffle=False), {"n_splits": 3, "shuffle": False}),
    ):
        folds = query_folds(group=sizes, **options)  # type: ignore[arg-type]
        assert [rows for rows, _, _ in seen] == [train.size for train, _ in folds]
        assert all(queries == weights for _, queries, weights in seen)
    assert parts_seen(folds=GroupKFold(3)) == parts_seen(shuffle=False)


def test_folds_that_cut_queries_raise() -> None:
    half = np.arange(0, GRADED.n, 2), np.arange(1, GRADED.n, 2)
    with pytest.raises(ValueError, match="splits 60 of 60 queries"):
        parts_seen(folds=[half])


def test_without_queries_it_is_xgboosts_own() -> None:
    flat = xgb.DMatrix(GRADED.features, GRADED.binary)
    options: Any = {"obj": lp.lambda_auc, "custom_metric": lp.eval_auc, "as_pandas": False}
    plain = {**ONE_THREAD, "base_score": 0.0, "disable_default_eval_metric": 1}
    assert lxgb.cv(ONE_THREAD, flat, 3, seed=5, **options) == xgb.cv(
        plain, flat, 3, seed=5, **options
    )


# By date -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0, 3])  # in days
def test_folds_by_date_are_those_of_time_series_split(gap: int) -> None:
    """One query a day, rows in any order, dates of several kinds."""
    random = np.random.default_rng(0)
    day = random.permutation(np.repeat(np.arange(40), 3))
    dates = np.datetime64("2025-12-20") + day
    wanted = [
        tuple(np.flatnonzero(np.isin(day, days)).tolist() for days in split)
        for split in TimeSeriesSplit(4, gap=gap).split(np.arange(40))
    ]
    periods = pd.PeriodIndex(dates, freq="D")
    of_dates = dates, dates.astype(str), dates.astype(str).tolist(), periods, pd.Series(periods)
    for order, left_out in (
        (day, gap), (day / 8, gap / 8), *((order, f"{gap}d") for order in of_dates),
    ):  # fmt: skip
        found = query_folds(qid=dates.astype(str), n_splits=4, order=order, gap=left_out)
        assert [tuple(rows.tolist() for rows in split) for split in found] == wanted


def test_queries_of_a_date_stay_together_and_a_gap_is_in_days() -> None:
    query = np.repeat(np.arange(60), 5)
    day = query // 3  # three queries a day
    for train, test in query_folds(qid=query, n_splits=5, order=day, gap=2):
        assert day[test].min() - day[train].max() == 3
        assert not {*query[train]} & {*query[test]}


DAYS = {"qid": ["a", "a", "b", "b"], "n_splits": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass either"),
        ({"qid": [1, 2], "group": [1, 1]}, "pass either"),
        ({"group": [2, -1]}, "integers, at least 1 each"),
        ({"group": [3, 3]}, "2 queries cannot be split into 5 folds"),
        ({"qid": [3, 3, 4]}, "2 queries cannot be split into 5 folds"),
        ({"group": [3, 3], "n_splits": True}, "n_splits must be a whole number, at least 2"),
        ({**DAYS, "order": [1, 2, 3, 3]},
         r"query a has several values of order, such as 1 and 2 \(row 1\)"),
        ({**DAYS, "order": [1, 1, 2, 2], "n_splits": 3},
         "order has 2 different values, too few for 3 blocks"),
        ({**DAYS, "order": [1, 1, 2, 2], "gap": 1},
         "order has 2 different values, too few for 2 blocks"),
        ({**DAYS, "order": ["1/2/26"] * 2 + ["2/2/26"] * 2}, "order has text such as '1/2/26'"),
        ({**DAYS, "order": ["30092025"] * 2 + ["01102025"] * 2}, "format='%d%m%Y'"),
        ({**DAYS, "order": [30092025] * 2 + [1102025] * 2}, "format='%d%m%Y'"),
        ({**DAYS, "order": ["09302025"] * 2 + ["10012025"] * 2}, "format='%m%d%Y'"),
        ({**DAYS, "order": [1.0, 1.0, np.nan, 2.0]}, "order is missing in row 2"),
        ({**DAYS, "order": ["nan", "nan", "1", "2"]}, "order is missing in row 0"),
        ({**DAYS, "order": [1, 2]}, "order must have one entry per row"),
        ({"qid": range(9), "order": range(9), "n_splits": 2, "gap": np.timedelta64(1, "D")},
         "is a duration, and order has numbers, such as 0: pass it as a number in their unit"),
        ({**DAYS, "gap": 1}, "gap is a time before that of order: pass order="),
    ],
)  # fmt: skip
def test_impossible_folds_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        query_folds(**options)
