"""The estimators accept the arguments of LGBMRanker and XGBRanker, and work with their tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import Small, graded

import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)

KINDS = [LightGBMRanker, XGBoostRanker, LightGBMClassifier, XGBoostClassifier]
every_estimator = pytest.mark.parametrize("kind", KINDS)
rankers = pytest.mark.parametrize("kind", KINDS[:2])
SMALL: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1, "early_stopping_rounds": None}


def fitted(kind: Any, data: Small | None = None, *, options: Any = None, **fit: Any) -> Any:
    data = graded() if data is None else data
    options = {**SMALL, **(options or {})}
    if kind in KINDS[:2]:
        return kind(**options).fit(data.features, data.labels, qid=data.qid, **fit)
    return kind(calibration=None, **options).fit(data.features, data.binary, **fit)


def raw(model: Any, X: Any) -> Any:
    if hasattr(model, "classes_"):
        return model.decision_function(X) + model.offset_
    return model.predict(X)


def held_out(kind: Any) -> Any:
    part = graded().queries(40, 60)
    if kind in KINDS[:2]:
        return part.features, part.labels, part.qid
    return part.features, part.binary


@every_estimator
def test_callbacks_are_called_each_round(kind: Any) -> None:
    seen = []
    if "LightGBM" in kind.__name__:
        callback: Any = lambda env: seen.append(env.iteration)  # noqa: E731
    else:

        class Count(xgb.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                seen.append(epoch)
                return False

        callback = Count()
    fitted(kind, callbacks=[callback])
    assert seen == list(range(8))


@every_estimator
def test_evaluation_sets_have_the_names_they_are_given(kind: Any) -> None:
    given = held_out(kind)
    model = fitted(kind, eval_set=[given, given], eval_names=["train", "holdout"])
    assert list(model.evals_result_) == ["train", "holdout"]
    assert list(fitted(kind, eval_set=given, eval_names="mine").evals_result_) == ["mine"]
    for names in (["one"], ["one", "one"], [1, 2]):
        with pytest.raises(ValueError, match="eval_names must be 2 different names"):
            fitted(kind, eval_set=[given, given], eval_names=names)
    with pytest.raises(ValueError, match="eval_names was passed without eval_set"):
        fitted(kind, eval_names=["one"])


@pytest.mark.slow
@every_estimator
def test_training_goes_on_from_a_model(kind: Any, tmp_path: Path) -> None:
    X = graded().features
    whole = fitted(kind, options={"n_estimators": 16})
    first = fitted(kind)
    file = tmp_path / ("model.txt" if "LightGBM" in kind.__name__ else "model.json")
    first.save_model(file)
    for given in (
        {"init_model": first}, {"xgb_model": first}, {"init_model": first.get_booster()},
        {"init_model": str(file)},
    ):  # fmt: skip
        more = fitted(kind, **given)
        assert more.best_iteration_ == 16
        assert_allclose(raw(more, X), raw(whole, X), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="mean the same: pass one"):
        fitted(kind, init_model=first, xgb_model=first)
    # The best round is counted from the first of all.
    options = {"early_stopping_rounds": 3, "n_estimators": 60, "learning_rate": 0.8}
    stopped = fitted(kind, options=options, init_model=first, eval_set=held_out(kind))
    [curve] = stopped.evals_result_["valid_0"].values()
    assert stopped.best_iteration_ == 8 + int(np.argmax(curve)) + 1
    trees = stopped.get_booster()
    count = trees.num_trees() if "LightGBM" in kind.__name__ else trees.num_boosted_rounds()
    assert count == stopped.best_iteration_


def test_models_of_the_frameworks_own_estimators_go_on() -> None:
    data = graded()
    theirs = lgb.LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1)
    theirs.fit(data.features, data.labels, group=data.sizes)
    assert fitted(LightGBMRanker, init_model=theirs).best_iteration_ == 11
    own = xgb.XGBRanker(n_estimators=3, n_jobs=1).fit(data.features, data.labels, qid=data.qid)
    assert fitted(XGBoostRanker, xgb_model=own).best_iteration_ == 11


@every_estimator
def test_features_have_the_names_they_are_given(kind: Any) -> None:
    names = ["title", "body", "clicks", "age", "price"]
    model = fitted(kind, feature_name=names)
    booster = model.get_booster()
    found = booster.feature_name() if "LightGBM" in kind.__name__ else booster.feature_names
    assert found == names
    assert_array_equal(raw(model, graded().features), raw(fitted(kind), graded().features))
    assert_array_equal(model.feature_importances_, fitted(kind).feature_importances_)
    for wrong in (names[:3], [*names[:4], "title"]):
        with pytest.raises(ValueError, match="feature_name must be 5 different names"):
            fitted(kind, feature_name=wrong)


@rankers
def test_predictions_by_some_rounds(kind: Any) -> None:
    X = graded().features
    model, short = fitted(kind), fitted(kind, options={"n_estimators": 3})
    assert_array_equal(model.predict(X, num_iteration=3), short.predict(X))
    assert_array_equal(model.predict(X, iteration_range=(0, 3)), short.predict(X))
    assert_array_equal(model.predict(X, num_iteration=8), model.predict(X))
    parts = model.predict(X, iteration_range=(0, 3)) + model.predict(X, iteration_range=(3, 8))
    assert_allclose(parts, model.predict(X), rtol=1e-5, atol=1e-5)
    for wrong in ({"num_iteration": 9}, {"num_iteration": 0}, {"iteration_range": (5, 5)}):
        with pytest.raises(ValueError, match="this model has 8"):
            model.predict(X, **wrong)
    with pytest.raises(ValueError, match="not both"):
        model.predict(X, num_iteration=3, iteration_range=(0, 3))


@rankers
def test_contributions_of_features_add_up_to_the_score(kind: Any) -> None:
    X = graded().features
    model = fitted(kind)
    found = model.predict(X, pred_contrib=True)
    assert found.shape == (len(X), 6)
    assert_allclose(found.sum(axis=1), model.predict(X), rtol=1e-4, atol=1e-5)
    some = model.predict(X, pred_contrib=True, num_iteration=3)
    assert_allclose(some.sum(axis=1), model.predict(X, num_iteration=3), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@every_estimator
def test_shap_explains_the_model_that_predicts(kind: Any) -> None:
    shap = pytest.importorskip("shap")
    X = graded().features
    options = {"early_stopping_rounds": 5, "n_estimators": 40, "learning_rate": 0.8}
    model = fitted(kind, options=options, eval_set=held_out(kind))
    explainer = shap.TreeExplainer(model.get_booster())
    found = np.asarray(explainer.shap_values(X)).reshape(X.shape)
    expected = np.ravel(explainer.expected_value)[0]
    assert_allclose(found.sum(axis=1) + expected, raw(model, X), rtol=1e-4, atol=1e-4)
