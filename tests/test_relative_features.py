"""Features relative to the query, against their definitions by SciPy, and their transformer."""

import pickle
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import graded

from lambdaplus.baselines import RankSVM
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import relative_features
from lambdaplus.estimators import LightGBMRanker, RelativeFeatures, XGBoostRanker

KINDS = ("rank", "z")


def by_definition(column: np.ndarray, kind: str) -> np.ndarray:
    """One feature of one query."""
    found, seen = np.full(column.size, np.nan), ~np.isnan(column)
    values = column[seen].astype(np.float64)
    if not values.size:
        return found
    if (values == values[0]).all():
        relative = np.zeros(values.size)
    elif kind == "rank":
        relative = (stats.rankdata(values) - (values.size + 1) / 2) / values.size
    else:
        relative = stats.zscore(values)
    found[seen] = relative
    return found


def by_force(X: np.ndarray, qid: np.ndarray, kind: str) -> np.ndarray:
    found = np.empty(X.shape)
    for query in np.unique(qid):
        for column in range(X.shape[1]):
            found[qid == query, column] = by_definition(X[qid == query, column], kind)
    return found


def drawn(n: int = 700, queries: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features with ties and missing values, in queries of 1 to 200 rows that are not adjacent."""
    random = np.random.default_rng(seed)
    X = np.stack([random.normal(1e6, 1.0, n), random.integers(0, 3, n), np.ones(n)], axis=1)
    X[random.random(X.shape) < 0.2] = np.nan
    share = 0.7 ** np.arange(queries)
    return X, random.choice(queries, n, p=share / share.sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_relative_features_are_those_of_the_definition(kind: str, dtype: type) -> None:
    X, qid = drawn()
    X = X.astype(dtype)
    found = relative_features(X, qid=qid, kind=kind, replace=True)
    assert found.dtype == dtype
    absolute = 1e-6 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(found, by_force(X, qid, kind), rtol=1e-6, atol=absolute)


value = st.one_of(
    st.floats(-1e6, 1e6, width=32), st.sampled_from([0.0, -0.0, 1.0, float("nan"), 3e38, 1e-45])
)


@hypothesis.given(st.data())
def test_ranks_are_those_of_scipy_and_permute_with_the_rows(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    X = data.draw(arrays(np.float64, (n, 2), elements=value))
    qid = data.draw(arrays(np.int64, n, elements=st.integers(0, 4)))
    rows = np.array(data.draw(st.permutations(range(n))))
    found = relative_features(X, qid=qid, kind=["rank", "z"])
    np.testing.assert_array_equal(found[:, :2], X)
    np.testing.assert_allclose(found[:, 2:4], by_force(X, qid, "rank"), rtol=1e-15, atol=1e-15)
    z = found[:, 4:]
    np.testing.assert_array_equal(np.isnan(z), np.isnan(X))
    for query in np.unique(qid):
        mine = z[qid == query]
        bound = np.sqrt(np.maximum((~np.isnan(mine)).sum(axis=0) - 1, 0))  # Samuelson's inequality
        assert (np.nan_to_num(np.abs(mine)) <= bound * (1 + 1e-12)).all()
    permuted = relative_features(X[rows], qid=qid[rows], kind=["rank", "z"])
    np.testing.assert_array_equal(permuted, found[rows])  # to the last bit


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_depends_on_its_own_features_alone(kind: str) -> None:
    X, qid = drawn()
    mine = qid == 3
    found = relative_features(X, qid=qid, kind=kind, replace=True)[mine]
    alone = relative_features(X[mine], qid=qid[mine], kind=kind, replace=True)
    others = np.where(mine[:, None], X, np.random.default_rng(1).normal(size=X.shape))
    among_others = relative_features(others, qid=qid, kind=kind, replace=True)[mine]
    np.testing.assert_array_equal(alone, found)
    np.testing.assert_array_equal(among_others, found)
    with pytest.raises(TypeError):  # there is no way to pass labels
        relative_features(X, np.ones(len(X)), qid=qid)  # type: ignore[misc]


def test_single_documents_constants_and_missing_values() -> None:
    nan = np.nan
    X = [[5.0, 1.0, nan], [5.0, nan, nan], [5.0, 3.0, 7.0], [9.0, 4.0, nan]]
    found = relative_features(X, qid=["a", "a", "a", "b"], kind=KINDS, replace=True)
    of_second = {"rank": (-0.25, 0.25), "z": (-1, 1)}
    for kind, part in zip(KINDS, np.split(found, len(KINDS), axis=1), strict=True):
        low, high = of_second[kind]
        expected = [[0, low, nan], [0, nan, nan], [0, high, 0], [0, 0, nan]]
        np.testing.assert_allclose(part, expected, err_msg=kind)


def test_queries_are_given_by_qid_or_group() -> None:
    X, qid = drawn()
    order = np.argsort(qid, kind="stable")
    group = np.unique(qid, return_counts=True)[1]
    found = relative_features(X[order], group=group)
    np.testing.assert_array_equal(found, relative_features(X, qid=qid)[order])
    text = np.char.add("q", qid.astype(str))
    np.testing.assert_array_equal(relative_features(X, qid=text), relative_features(X, qid=qid))


def test_threads_and_memory_layout_do_not_change_a_bit() -> None:
    random = np.random.default_rng(0)
    X, qid = random.normal(size=(20_000, 7)), np.sort(random.integers(0, 90, 20_000))
    found = []
    for threads, given in ((1, X), (3, X), (2, np.asfortranarray(X)), (1, X[::1, :])):
        with limit_threads(threads):
            found.append(relative_features(given, qid=qid, kind=KINDS))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def columns() -> dict[str, Any]:
    return {"bm25": [1.0, 2.0, 5.0, 4.0], "clicks": [3, 1, 1, 1], "site": ["a", "b", "a", "b"]}


def test_pandas_frames_keep_index_types_and_categories() -> None:
    X = pd.DataFrame(columns(), index=[7, 7, 3, 1]).astype({"bm25": "float32", "site": "category"})
    X["age"] = pd.array([1, None, 3, 4], dtype="Int32")
    X["new"] = [True, False, True, True]
    found = relative_features(X, qid=[1, 1, 2, 2], kind=["rank", "z"])
    numbers = ("bm25", "clicks", "age", "new")
    added = [f"{name}|{kind}" for kind in KINDS for name in numbers]
    assert list(found.columns) == [*X.columns, *added]
    pd.testing.assert_frame_equal(found[X.columns], X)
    assert found["bm25|rank"].dtype == np.float32
    assert found["age|rank"].dtype == np.float64
    assert found["bm25|rank"].tolist() == [-0.25, 0.25, 0.25, -0.25]
    assert found["clicks|z"].tolist() == [1, -1, 0, 0]
    np.testing.assert_array_equal(found["age|rank"], [0, np.nan, -0.25, 0.25])
    assert found["new|rank"].tolist() == [0.25, -0.25, 0, 0]
    replaced = relative_features(X, qid=[1, 1, 2, 2], replace=True)
    assert list(replaced.columns) == ["site", *added[:4]]


def test_frames_are_refused_with_a_reason() -> None:
    X, group = pd.DataFrame(columns()), [2, 2]
    for given, message in (
        (X[["site"]], "no column of X has numbers"),
        (X.assign(**{"bm25|rank": 1.0}), r"X has a column 'bm25\|rank' already"),
        (pd.concat([X, X], axis=1), "two columns of X have the same name, 'bm25'"),
        (X.assign(clicks=pd.arrays.SparseArray([0, 0, 1, 0])), "column 'clicks' is sparse"),
        (pl.LazyFrame(columns()), r"LazyFrame: pass X\.collect\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            relative_features(given, group=group)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": None}, "pass qid= .* or group="),
        ({"group": [4]}, "not both"),
        ({"qid": [1, 2]}, "one entry per row"),
        ({"qid": None, "group": [2, 3]}, "add up to 5, but there are 4 rows"),
        ({"kind": "share"}, "'share' is not one of rank, z"),
        ({"kind": []}, "one or more of rank, z"),
        ({"kind": ["z", "z"]}, "each once"),
        ({"replace": "yes"}, "neither True nor False"),
        ({"X": sparse.csr_array(np.eye(4))}, r"sparse, but zeros have ranks .* X\.toarray\(\)"),
        ({"X": np.ones((0, 2)), "qid": []}, "X has no rows"),
        ({"X": np.ones(4)}, "2-D with a row for each document"),
        ({"X": [["a"], ["b"], ["c"], ["d"]]}, "X must be numbers"),
        ({"X": np.ones((4, 1), dtype=complex)}, "X must be numbers"),
        ({"X": [[1.0], [np.inf], [2.0], [3.0]], "kind": "z"}, "infinite in row 1, column 0"),
    ],
)
def test_invalid_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"X": np.arange(4.0)[:, None], "qid": [1, 1, 2, 2], **change}
    with pytest.raises(ValueError, match=message):
        relative_features(call.pop("X"), **call)


# `RelativeFeatures` -------------------------------------------------------------------------------


class OfOneQuery(RelativeFeatures):
    """For scikit-learn's checks, which pass no qid."""

    def transform(self, X: Any, qid: Any = None) -> Any:
        return super().transform(X, qid=np.zeros(len(np.asarray(X)), int) if qid is None else qid)


@parametrize_with_checks(
    [OfOneQuery(), OfOneQuery(["z", "rank"], replace=True)],
    expected_failed_checks=lambda _: {
        "check_methods_subset_invariance": "relative to the documents that are passed together",
    },
)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_transformer_is_the_function() -> None:
    data = graded()
    for options in ({}, {"kind": "z"}, {"kind": ["rank", "z"], "replace": True}):
        made = clone(RelativeFeatures(**options)).fit(data.features)
        expected = relative_features(data.features, qid=data.qid, **options)
        found = pickle.loads(pickle.dumps(made)).transform(data.features, qid=data.qid)
        np.testing.assert_array_equal(found, expected)
        both = RelativeFeatures(**options).fit_transform(data.features, qid=data.qid)
        np.testing.assert_array_equal(both, expected)


def test_the_query_is_required_and_options_are_checked() -> None:
    for options, message in (
        ({}, r"needs qid=.*enable_metadata_routing=True"),
        ({"kind": "share"}, "not one of"),
        ({"replace": 2}, "neither True"),
    ):
        with pytest.raises(ValueError, match=message):
            RelativeFeatures(**options).fit_transform(graded().features)


OF_LIGHTGBM = LightGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1)


@pytest.mark.parametrize(
    "ranker",
    [OF_LIGHTGBM, XGBoostRanker(n_estimators=5), RankSVM()],
    ids=lambda ranker: type(ranker).__name__,
)
def test_pipelines_pass_the_query(ranker: Any) -> None:
    data = graded()
    relative = relative_features(data.features, qid=data.qid)
    expected = clone(ranker).fit(relative, data.labels, qid=data.qid).predict(relative)
    with sklearn.config_context(enable_metadata_routing=True):
        if isinstance(ranker, RankSVM):
            ranker = clone(ranker).set_fit_request(qid=True)
        pipeline = make_pipeline(RelativeFeatures(), ranker)
        pipeline.fit(data.features, data.labels, qid=data.qid)
        np.testing.assert_array_equal(pipeline.predict(data.features, qid=data.qid), expected)


def test_names_are_those_of_the_result() -> None:
    X = pd.DataFrame({"bm25": [1.0, 2.0], "site": ["a", "b"], "clicks": [3, 4]})
    for given in (X, pl.from_pandas(X)):
        for replace in (False, True):
            made = RelativeFeatures(["rank", "z"], replace=replace)
            found = made.fit_transform(given, qid=[1, 1])
            assert list(found.columns) == made.get_feature_names_out().tolist()
            assert made.relative_.tolist() == [True, False, True]
    made = RelativeFeatures("z").fit(np.eye(2))
    assert made.get_feature_names_out().tolist() == ["x0", "x1", "x0|z", "x1|z"]
    framed = made.set_output(transform="pandas").transform(np.eye(2), qid=[0, 0])
    assert list(framed.columns) == ["x0", "x1", "x0|z", "x1|z"]
    with pytest.raises(ValueError, match="feature names"):
        RelativeFeatures().fit(X).transform(X.rename(columns={"bm25": "tf"}), qid=[1, 1])


# Nothing is lost silently ------------------------------------------------------------------------


BEYOND = [2**53, 2**53 + 1]


@pytest.mark.parametrize(
    "X",
    [
        np.array(BEYOND)[:, None],
        np.array(BEYOND, dtype=object)[:, None],
        pd.DataFrame({"x": BEYOND}),
        pd.DataFrame({"x": pd.array(BEYOND, dtype="Int64")}),
        pd.DataFrame({"x": pd.array(BEYOND, dtype="int64[pyarrow]")}),
        pl.DataFrame({"x": BEYOND}),
    ],
    ids=["array", "objects", "pandas", "Int64", "pyarrow", "polars"],
)
def test_integers_that_would_tie_are_refused(X: Any) -> None:
    for use in (relative_features, RelativeFeatures().fit_transform):
        with pytest.raises(ValueError, match="9007199254740993, which a float64 cannot represent"):
            use(X, qid=[1, 1])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_fitted_columns_get_relative_features_whatever_their_values(make: Any) -> None:
    names = ["a|rank", "b|rank"]
    fitted = make({"a": [1.0, 2.0], "text": ["x", "y"], "b": [3, 4], "none": [None, None]})
    made = RelativeFeatures(replace=True).fit(fitted)
    later = {"a": [None, None], "text": [1.0, 2.0], "b": [3, 4], "none": [7.0, 8.0]}
    found = made.transform(make(later), qid=[1, 1])
    assert list(found.columns) == made.get_feature_names_out().tolist() == ["text", "none", *names]
    expected = [[np.nan, -0.25], [np.nan, 0.25]]
    np.testing.assert_array_equal(found[names].to_numpy().astype(float), expected)
    with pytest.raises(ValueError, match="column 'a' of X, which had numbers in fit, has text now"):
        made.transform(make({**later, "a": ["x", "y"]}), qid=[1, 1])
