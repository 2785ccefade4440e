"""The trainer of scikit-learn compatible estimators: the baselines, and those of the user."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.study.methods import Fitted, Method, Parameters, Settings


def train_estimator(
    method: Method,
    parameters: Parameters,
    train: RankingData,
    valid: RankingData,
    settings: Settings,
    seed: int,
) -> Fitted:
    """Fit the estimator ``method.target``, passing the arguments that its signatures accept.

    These are, for the constructor, ``random_state``, ``n_jobs``, ``metric`` and ``eval_metric``;
    for fit, ``qid`` or ``group`` and ``eval_set=(X, y, qid)``, or ``eval_set=[(X, y)]`` with
    ``eval_qid=[qid]``; for predict, ``qid``.
    """
    made = find_class(method.target)
    own = {
        "random_state": seed,
        "n_jobs": settings.threads,
        "metric": method.criterion,
        "eval_metric": method.criterion,
    }
    asked = inspect.signature(made).parameters
    chosen = {name: value for name, value in own.items() if name in asked}
    model = made(**{**chosen, **parameters})
    data = {
        "qid": train.qid,
        "group": train.group,
        "eval_set": (valid.features, valid.labels, valid.qid),
    }
    takes = inspect.signature(model.fit).parameters
    if "eval_qid" in takes:  # as LightGBM's and XGBoost's rankers take evaluation sets
        data |= {"eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid]}
    given = {name: value for name, value in data.items() if name in takes}
    if "qid" in given:
        given.pop("group", None)
    model.fit(train.features, train.labels, **given)
    by_query = "qid" in inspect.signature(model.predict).parameters

    def predict(part: RankingData) -> Floats:
        queries = {"qid": part.qid} if by_query else {}
        return np.asarray(model.predict(part.features, **queries), dtype=np.float64)

    return Fitted(predict, _rounds(model), _curve(model, method.criterion))


def _rounds(model: Any) -> int:
    """Number of passes or rounds of the model, from the attributes that estimators have."""
    for name in ("n_iter_", "n_rounds_", "best_iteration_", "n_estimators_", "n_passes_"):
        found = getattr(model, name, None)
        if found is not None and np.ndim(found) == 0 and found > 0:  # LightGBM: -1 without one
            return int(found)
    return 0


def _curve(model: Any, criterion: str) -> tuple[float, ...]:
    found = getattr(model, "learning_curve_", ())
    found = getattr(model, "learning_curves_", {}).get(criterion, found)
    for curves in getattr(model, "evals_result_", {}).values():
        found = curves.get(criterion, found)
    return tuple(float(value) for value in found)


def find_class(name: str) -> Any:
    """Import the class given as ``module:Class``.

    Raises
    ------
    ValueError
        If the module or class does not exist.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        if isinstance(error, ImportError) and module.startswith("lambdaplus"):
            raise
        raise ValueError(f"{name!r} is not module:Class: {error}") from None
