"""The trainer of scikit-learn compatible estimators: the baselines, and those of the user."""

import importlib
import inspect
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import hint, numbers
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import numeric_part
from lambdaplus.study.methods import Fitted, Method, Task

_CRITERION = ("metric", "eval_metric")  # arguments that are the validation metric of the method


def train_estimator(task: Task) -> Fitted:
    """Fit the estimator ``task.method.target``, passing the arguments that its signatures accept.

    Constructor: ``random_state``, ``n_jobs``, ``metric`` and ``eval_metric``; fit: ``qid`` or
    ``group``, and ``eval_set=(X, y, qid)``, or ``eval_set=[(X, y)]`` with ``eval_qid=[qid]``;
    predict: ``qid``; also ``sample_weight`` if there are weights.  A classifier ranks by its
    ``decision_function`` or ``predict_proba``.  Categories are left out.
    """
    train, valid = numeric_part(task.train), numeric_part(task.valid)
    criterion = str(task.method.criterion)
    made = find_class(task.method.target)
    own = {
        "random_state": task.seed,
        "n_jobs": task.settings.threads,
        **dict.fromkeys(_CRITERION, criterion),
    }
    accepted = inspect.signature(made).parameters
    model = made(**{**{k: v for k, v in own.items() if k in accepted}, **task.parameters})
    takes = inspect.signature(model.fit).parameters
    data: dict[str, Any] = {"qid": train.qid} if "qid" in takes else {"group": train.group}
    if train.weights is not None:
        data["sample_weight"] = train.weights
    data["eval_set"] = valid.features, valid.labels, valid.qid
    if "eval_qid" in takes:  # as LightGBM's and XGBoost's rankers take evaluation sets
        data |= {"eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid]}
    passed = {name: value for name, value in data.items() if name in takes}
    model.fit(train.features, train.labels, **passed)
    by_query = "qid" in inspect.signature(model.predict).parameters

    def predict(part: RankingData) -> Floats:
        features = numeric_part(part).features
        # Of rankers, such as McRank, `predict` returns scores; of classifiers, classes.
        if hasattr(model, "decision_function"):
            return numbers(model.decision_function(features), "scores")
        if hasattr(model, "predict_proba"):
            return numbers(model.predict_proba(features)[:, -1], "scores")
        queries = {"qid": part.qid} if by_query else {}
        return numbers(model.predict(features, **queries), "scores")

    return Fitted(predict, _rounds(model), _curve(model, criterion))


def refuse_unknown_parameters(method: Method) -> None:
    """Raise a ValueError for parameters in the grid that the constructor does not take."""
    parameters = inspect.signature(find_class(method.target)).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name in method.grid:
        if name not in parameters:
            raise ValueError(
                f"{method.name} has no parameter {name!r}{hint(name, parameters)}; it has "
                + ", ".join(parameters)
            )


def constructor_in_words(method: Method) -> str:
    """The arguments of the estimator, with its defaults, and the values that are tried."""
    made = find_class(method.target)
    defaults = {name: p.default for name, p in inspect.signature(made).parameters.items()}
    arguments = {**defaults, **dict.fromkeys(_CRITERION, str(method.criterion)), **method.fixed}
    unsaid = {"random_state", "n_jobs", *method.grid}
    call = ", ".join(
        f"{name}={arguments[name]!r}"
        for name in defaults
        if name not in unsaid and arguments[name] is not inspect.Parameter.empty
    )
    tried = (f"{name} from {', '.join(map(str, values))}" for name, values in method.grid.items())
    return "; ".join([f"{made.__name__}({call})", *tried])


def _rounds(model: Any) -> int:
    """Number of passes or rounds of the model, from the attributes that estimators have."""
    for name in ("n_iter_", "n_rounds_", "best_iteration_", "n_estimators_", "n_passes_"):
        rounds = getattr(model, name, None)
        if rounds is not None and np.ndim(rounds) == 0 and rounds > 0:  # LightGBM: -1 without one
            return int(rounds)
    return 0


def _curve(model: Any, criterion: str) -> list[float]:
    curve = getattr(model, "learning_curve_", ())
    curve = getattr(model, "learning_curves_", {}).get(criterion, curve)
    for curves in getattr(model, "evals_result_", {}).values():
        curve = curves.get(criterion, curve)
    return list(map(float, curve))


def find_class(target: Any) -> Any:
    """The class itself, or that given as ``module:Class``."""
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        if isinstance(error, ImportError) and module.startswith("lambdaplus"):
            raise
        raise ValueError(f"{target!r} cannot be imported as module:Class: {error}") from None
