"""The trainer of scikit-learn style estimators: the baselines, and any that the user names."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Fitted, Method, Parameters, Settings
from lambdaplus.datasets import RankingData


def train_estimator(
    method: Method,
    parameters: Parameters,
    train: RankingData,
    valid: RankingData,
    settings: Settings,
    seed: int,
) -> Fitted:
    """Fit the estimator ``method.target`` names; it is passed what its signatures ask for.

    The constructor may take ``random_state`` and ``metric``, fit may take ``qid``, ``group`` and
    ``eval_set=(X, y, qid)``.
    """
    made = find_class(method.target)
    asked = inspect.signature(made).parameters
    chosen: dict[str, Any] = dict(parameters)
    if "random_state" in asked:
        chosen.setdefault("random_state", seed)
    if "metric" in asked and "metric" not in chosen:
        chosen["metric"] = method.criterion
    model = made(**chosen)
    takes = inspect.signature(model.fit).parameters
    given: dict[str, Any] = {}
    if "qid" in takes:
        given["qid"] = train.qid
    elif "group" in takes:
        given["group"] = train.group
    if "eval_set" in takes:
        given["eval_set"] = (valid.features, valid.labels, valid.qid)
    model.fit(np.asarray(train.features), train.labels, **given)
    rounds = getattr(model, "n_iter_", 0)
    curve = getattr(model, "validation_curve_", ())
    return Fitted(
        lambda features: np.asarray(model.predict(features), dtype=np.float64),
        int(rounds) if np.ndim(rounds) == 0 else 0,
        tuple(float(value) for value in curve),
    )


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
