"""`RelativeFeatures`: scikit-learn's conventions, pipelines and names."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_data import graded

from lambdaplus import query_folds
from lambdaplus.baselines import RankSVM
from lambdaplus.data import relative_features
from lambdaplus.estimators import LightGBMRanker, RelativeFeatures, XGBoostRanker


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


def test_the_query_is_required() -> None:
    data = graded()
    with pytest.raises(ValueError, match=r"needs qid=.*enable_metadata_routing=True"):
        RelativeFeatures().fit_transform(data.features)
    for options, message in (({"kind": "share"}, "not one of"), ({"replace": 2}, "neither True")):
        with pytest.raises(ValueError, match=message):
            RelativeFeatures(**options).fit(data.features)


@pytest.mark.parametrize(
    "ranker",
    [
        LightGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1),
        XGBoostRanker(n_estimators=5),
        RankSVM(),
    ],
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


@pytest.mark.skipif(
    [*map(int, sklearn.__version__.split(".")[:2])] < [1, 8],
    reason="before 1.8, searches do not pass metadata to score of a Pipeline",
)
def test_searches_choose_the_kind() -> None:
    data = graded()
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(RelativeFeatures(), LightGBMRanker(n_estimators=3, verbose=-1)),
            {"relativefeatures__kind": ["rank", "z", ("rank", "z")]},
            cv=query_folds(qid=data.qid, n_splits=2), error_score="raise",
        )  # fmt: skip
        search.fit(data.features, data.labels, qid=data.qid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["relativefeatures__kind"] in ("rank", "z", ("rank", "z"))


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
