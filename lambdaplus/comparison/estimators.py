"""The trainer of scikit-learn style estimators: the baselines, and any that the user names."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.datasets import RankingData
from lambdaplus.queries import Floats


def train_estimator(
    method: Method,
    parameters: Parameters,
    train: RankingData,
    valid: RankingData,
    settings: Settings,
    seed: int,
) -> Fitted:
    """Fit the estimator ``method.target`` names; it is passed what its signatures ask for.

    The constructor may take ``random_state``, ``n_jobs`` and ``metric``; fit may take ``qid`` or
    ``group`` and ``eval_set=(X, y, qid)``; predict may take ``qid``.
    """
    made = find_class(method.target)
    own = {"random_state": seed, "n_jobs": settings.threads, "metric": method.criterion}
    asked = inspect.signature(made).parameters
    chosen = {name: value for name, value in own.items() if name in asked}
    model = made(**{**chosen, **parameters})
    data = {
        "qid": train.qid,
        "group": train.group,
        "eval_set": (valid.dense_features, valid.labels, valid.qid),
    }
    takes = inspect.signature(model.fit).parameters
    given = {name: value for name, value in data.items() if name in takes}
    if "qid" in given:
        given.pop("group", None)
    model.fit(train.dense_features, train.labels, **given)
    by_query = "qid" in inspect.signature(model.predict).parameters

    def predict(part: RankingData) -> Floats:
        queries = {"qid": part.qid} if by_query else {}
        return np.asarray(model.predict(part.dense_features, **queries), dtype=np.float64)

    return Fitted(predict, _rounds(model), _curve(model, method.criterion))


def _rounds(model: Any) -> int:
    """Passes or rounds that it kept, by the names that estimators give them."""
    for name in ("n_iter_", "n_rounds_", "n_estimators_", "n_passes_"):
        found = getattr(model, name, None)
        if found is not None and np.ndim(found) == 0:
            return int(found)
    return 0


def _curve(model: Any, criterion: str) -> tuple[float, ...]:
    found = getattr(model, "learning_curve_", ())
    found = getattr(model, "learning_curves_", {}).get(criterion, found)
    return tuple(float(value) for value in found)


def find_class(name: str) -> Any:
    """The class that ``module:Class`` names.

    Raises
    ------
    ValueError
        If there is no such module or class.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        if isinstance(error, ImportError) and module.startswith("lambdaplus"):
            raise
        raise ValueError(f"{name!r} is not module:Class: {error}") from None
