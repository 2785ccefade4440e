"""Estimators on a dozen small queries, and arguments of `fit`, for their contracts."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_data import graded

import lambdaplus as lp
import lambdaplus.lightgbm as lgb


def in_turn(qid: Any) -> Any:
    """The rows of all queries by turns: the order of queries, and of the rows of each, stays."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(qid)) + 1])
    number = np.arange(len(qid)) - np.repeat(first, np.diff(np.append(first, len(qid))))
    return np.argsort(number, kind="stable")


DATA = graded(12)
X, Y, QID = DATA.ranking
HALF = QID < 6
RANKERS = (lp.LightGBMRanker, lp.XGBoostRanker)
CLASSIFIERS = (lp.LightGBMClassifier, lp.XGBoostClassifier)
NATIVES = ("lambdarank", "rank:ndcg", "binary", "binary:logistic")
NATIVE = dict(zip(RANKERS + CLASSIFIERS, NATIVES, strict=True))
NATIVELY = {kind: {"objective": name} for kind, name in NATIVE.items()}
ORDER = np.random.default_rng(0).permutation(len(X))
FIRST_SCORES = np.linspace(-1.0, 1.0, len(X))
SOURCE = __file__
each_ranker = pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
each_estimator = pytest.mark.parametrize(
    "kind", RANKERS + CLASSIFIERS, ids=lambda kind: kind.__name__
)


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1, "min_child_samples": 2} if issubclass(kind, lgb.LGBMModel) else {}
    quiet |= {"cv": None} if kind in CLASSIFIERS else {}
    return kind(**{"n_estimators": 3, "n_jobs": 1, "objective": "map", **quiet, **options})


def fit(kind: Any, given: Any = (), **options: Any) -> Any:
    call = {"X": X, "y": Y, "qid": QID, **dict(given)}
    if kind in CLASSIFIERS:
        call = {name: value for name, value in call.items() if not name.endswith("qid")}
        call["y"] = call["y"] > 1
        call["eval_set"] = [(features, y > 1) for features, y in call.get("eval_set") or ()] or None
    return made(kind, **options).fit(**call)


def watched(kind: Any, given: Any = (), **options: Any) -> Any:
    """With an evaluation set."""
    quiet = {} if issubclass(kind, lgb.LGBMModel) else {"verbose": False}
    rest = {"eval_set": [(X[~HALF], Y[~HALF])], "eval_qid": [QID[~HALF]], **quiet}
    first = {"X": X[HALF], "y": Y[HALF], "qid": QID[HALF]}
    return fit(kind, {**first, **rest, **dict(given)}, **options)


def names(kind: Any, **options: Any) -> list[str]:
    """The names of the metrics that are recorded."""
    return list(next(iter(curves(watched(kind, **options)).values())))


def scores(model: Any, features: Any) -> Any:
    return getattr(model, "decision_function", model.predict)(features)


def curves(model: Any) -> Any:
    found = model.evals_result_ if isinstance(model, lgb.LGBMModel) else model.evals_result()
    return {name: dict(curve) for name, curve in found.items()}


def on(kind: Any, features: Any, others: Any = None, **given: Any) -> Any:
    """Scores and curves of a training on these features, which are an evaluation set, too."""
    rest = {"eval_set": [(features, Y)], "eval_qid": [QID]}
    model = fit(kind, {"X": features, **rest, **given}, eval_metric="map")
    return scores(model, features if others is None else others), curves(model)


def named(features: Any, **more: Any) -> dict[str, Any]:
    return {f"f{i}": np.ascontiguousarray(x) for i, x in enumerate(features.T)} | more


def own_kind(kind: Any, lightgbm: Any, xgboost: Any) -> Any:
    return lightgbm if issubclass(kind, lgb.LGBMModel) else xgboost


def with_one(values: Any, value: Any) -> Any:
    found = np.asarray(values).astype(object if value is pd.NA else float)
    found[3] = value
    return found
