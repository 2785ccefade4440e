"""The trainer of scikit-learn compatible estimators."""

import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import threads_for
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import numeric_part
from lambdaplus.lists.vectors import numbers
from lambdaplus.study.methods import Criterion
from lambdaplus.study.tasks import Fitted, Task


def train_estimator(task: Task) -> Fitted | dict[Criterion, Fitted]:
    """Fit the estimator ``task.method.target``, passing the arguments that its signatures accept.

    Those of lambdaplus that take a ``metric`` are fitted for each metric of the task.  Others are
    fitted once; they are told the first metric.

    Constructor: ``random_state``, ``n_jobs``, ``metric`` and ``eval_metric``; fit: ``qid`` or
    ``group``, and ``eval_set=(X, y, qid)``, or ``eval_set=[(X, y)]`` with ``eval_qid=[qid]``;
    predict: ``qid``; also ``sample_weight`` if there are weights.  A classifier ranks by its
    ``decision_function`` or ``predict_proba``.  Categories are left out.
    """
    estimator = find_class(task.method.target)
    if task.method.origin == "lambdaplus" and "metric" in inspect.signature(estimator).parameters:
        return {metric: fit_estimator(task, metric) for metric in task.metrics}
    return fit_estimator(task, task.metrics[0])


def fit_estimator(task: Task, metric: Criterion) -> Fitted:
    """Fit the estimator once, for this metric."""
    estimator, criterion = find_class(task.method.target), str(metric)
    train, valid = numeric_part(task.train), numeric_part(task.valid)
    offered = {
        "random_state": task.seed,
        "n_jobs": threads_for(train.labels.size, task.threads),
        **dict.fromkeys(("metric", "eval_metric"), criterion),
    }
    accepted = inspect.signature(estimator).parameters
    model = estimator(**{**{k: v for k, v in offered.items() if k in accepted}, **task.parameters})
    fit_arguments = inspect.signature(model.fit).parameters
    data: dict[str, Any] = {"qid": train.qid} if "qid" in fit_arguments else {"group": train.group}
    if train.weights is not None:
        data["sample_weight"] = train.weights
    data["eval_set"] = valid.features, valid.labels, valid.qid
    if "eval_qid" in fit_arguments:  # as LightGBM's and XGBoost's rankers take evaluation sets
        data |= {"eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid]}
    passed = {name: value for name, value in data.items() if name in fit_arguments}
    model.fit(train.features, train.labels, **passed)
    takes_queries = "qid" in inspect.signature(model.predict).parameters

    def predict(data: RankingData) -> Floats:
        features = numeric_part(data).features
        # Of rankers, such as McRank, `predict` returns scores; of classifiers, classes.
        if hasattr(model, "decision_function"):
            return numbers(model.decision_function(features), "scores")
        if hasattr(model, "predict_proba"):
            return numbers(model.predict_proba(features)[:, -1], "scores")
        queries = {"qid": data.qid} if takes_queries else {}
        return numbers(model.predict(features, **queries), "scores")

    return Fitted(predict, _rounds(model), _curve(model, criterion))


def _rounds(model: Any) -> int:
    """Number of passes or rounds of the model, from the attributes that estimators have."""
    for name in ("n_iter_", "n_rounds_", "best_iteration_", "n_estimators_", "n_passes_"):
        rounds = getattr(model, name, None)
        if rounds is not None and np.ndim(rounds) == 0 and rounds > 0:  # LightGBM: -1 without one
            return int(rounds)
    return 0


def _curve(model: Any, criterion: str) -> list[float]:
    curve = getattr(model, "learning_curve_", ())
    return list(map(float, getattr(model, "learning_curves_", {}).get(criterion, curve)))


def find_class(target: Any) -> Any:
    """The class itself, or that given as ``module:Class``, which may be in the current folder.

    Importing a module runs its code; the class is not called here.
    """
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    try:
        with _current_folder_for(module):
            found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, ImportError) and module.startswith("lambdaplus"):
            raise
        raise ValueError(f"{target!r} cannot be imported as module:Class: {error}") from None
    if not (inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "predict")):
        raise ValueError(f"{target!r} is not a class with the methods fit and predict")
    return found


@contextmanager
def _current_folder_for(module: str) -> Iterator[None]:
    """Import from the current folder in this block, if the module is not found otherwise."""
    package, before = module.partition(".")[0], [*sys.path]
    if package not in sys.modules and importlib.util.find_spec(package) is None:
        sys.path.append(os.getcwd())
    try:
        yield
    finally:
        sys.path[:] = before
