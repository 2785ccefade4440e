"""Metadata routing passes what the parents take, since signatures have the parents' names."""

import inspect
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import sklearn
import xgboost as xgb
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from small_estimators import CLASSIFIERS, QID, RANKERS, X, Y, each_estimator, made

import lambdaplus as lp

PARENTS = dict(zip(RANKERS + CLASSIFIERS, (lgb.LGBMRanker, xgb.XGBRanker, lgb.LGBMClassifier,
                                           xgb.XGBClassifier), strict=True))  # fmt: skip
METHODS = ("fit", "predict", "predict_proba", "decision_function")
BINARY = (Y > 1).astype(int)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def names(kind: Any, method: str) -> set[str]:
    found = inspect.signature(getattr(kind, method)).parameters.values()
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return {one.name for one in found if one.kind not in variable} - {"self", "X", "y"}


@pytest.mark.parametrize("method", METHODS)
@each_estimator
def test_every_argument_of_the_parent_can_be_routed(kind: Any, method: str) -> None:
    if not hasattr(kind, method):
        return
    parent = "predict" if method == "decision_function" else method
    leaves = {"pred_leaf", "pred_contrib"} if method == "decision_function" else set()
    wanted = names(PARENTS[kind], parent) - leaves
    assert wanted <= names(kind, method)
    request = getattr(kind(), f"set_{method}_request")
    assert request(**dict.fromkeys(wanted, True)).get_metadata_routing()
    assert getattr(kind, method).__qualname__ == f"{kind.__name__}.{method}"


@pytest.mark.parametrize("kind", [lp.LightGBMRanker, lp.LightGBMClassifier])
def test_a_pipeline_transforms_evaluation_sets_and_stops_early(kind: Any) -> None:
    if "eval_X" not in names(lgb.LGBMModel, "fit"):
        pytest.skip("LightGBM before 4.7 has sets of pairs, which a pipeline does not transform")
    more: dict[str, Any] = {"qid": QID, "eval_qid": [QID]} if kind in RANKERS else {}
    labels = Y if kind in RANKERS else BINARY
    model = made(kind, n_estimators=200).set_fit_request(
        eval_X=True, eval_y=True, callbacks=True, **{"eval_qid": True} if more else {}
    )
    steps = [("scale", StandardScaler()), ("rank", model)]
    features = 100.0 + X
    pipeline = Pipeline(steps, transform_input=["eval_X"]).fit(
        features, labels, eval_X=(features.copy(),), eval_y=(labels,),
        callbacks=[lgb.early_stopping(2, verbose=False)], **more,
    )  # fmt: skip
    fitted = pipeline[-1]
    scaled = StandardScaler().fit_transform(features)
    alone = made(kind, n_estimators=200).fit(
        scaled, labels, eval_set=[(scaled.copy(), labels)],
        callbacks=[lgb.early_stopping(2, verbose=False)], **more,
    )  # fmt: skip
    assert 0 < fitted.best_iteration_ == alone.best_iteration_ < 200
    assert fitted.evals_result_ == alone.evals_result_


@pytest.mark.parametrize("kind", [lp.XGBoostRanker, lp.XGBoostClassifier])
def test_a_pipeline_passes_margins_and_rounds_to_xgboost(kind: Any) -> None:
    more: dict[str, Any] = {"qid": QID} if kind in RANKERS else {}
    labels, margin = Y if kind in RANKERS else BINARY, np.linspace(-1.0, 1.0, len(Y))
    model = made(kind).set_fit_request(base_margin=True, verbose=True)
    model.set_predict_request(base_margin=True, iteration_range=True)
    given: dict[str, Any] = {"base_margin": margin, "iteration_range": (0, 2)}
    fit = {"base_margin": margin, "verbose": False, **more}
    found = Pipeline([("rank", model)]).fit(X, labels, **fit).predict(X, **given)
    alone = made(kind).fit(X, labels, **fit).predict(X, **given)
    np.testing.assert_array_equal(found, alone)


def test_a_subclass_keeps_its_own_signature() -> None:
    class Mine(lp.LightGBMRanker):
        def fit(self, X: Any, y: Any, mine: Any = None, **kwargs: Any) -> Any:
            return super().fit(X, y, **kwargs)

    assert names(Mine, "fit") == {"mine"}
    assert Mine.predict is lp.LightGBMRanker.predict
