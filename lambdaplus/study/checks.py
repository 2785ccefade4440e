"""Checks of a study before its first fit, so that mistakes are reported early.

Examples
--------
>>> from lambdaplus.study import find_methods
>>> from lambdaplus.study.checks import check_parameters
>>> check_parameters(find_methods("svm:map")[0], {"C": [1.0], "max_pases": [9]})
Traceback (most recent call last):
ValueError: svm:map: StructuralSVM has no parameter 'max_pases' (did you mean 'max_passes'?)
"""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaplus.evaluation import eval_metric
from lambdaplus.frameworks.internals import lightgbm_parameters
from lambdaplus.study.boosting import (
    OBJECTIVE_OPTIONS,
    train_lightgbm,
    train_xgboost,
    with_options,
)
from lambdaplus.study.estimator_trainer import find_class, train_estimator
from lambdaplus.study.methods import Method, Settings

if TYPE_CHECKING:
    from lambdaplus.study.study import Study

# Parameters that the study sets, by all names that the frameworks accept.
_OF_THE_STUDY = {
    "objective", "metric", "eval_metric", "num_iterations", "n_estimators", "num_boost_round",
    "early_stopping_round", "early_stopping_rounds", "seed", "random_state", "num_threads",
    "nthread", "n_jobs", "disable_default_eval_metric",
}  # fmt: skip


# More would take a day at a second each, and draw parameters for minutes before the first.
MOST_FITS, MOST_TRIALS = 100_000, 1_000


def check_study(study: Study) -> None:
    """Raise a ValueError if there is nothing to fit, or if two results have the same name."""
    parts: dict[str, Sequence[Any]] = {
        "folds": [fold.name for fold in study.folds],
        "methods": [method.name for method in study.methods],
        "metrics": [str(metric) for metric in study.metrics],
        "seeds": study.seeds,
    }
    for what, names in parts.items():
        if not names:
            raise ValueError(f"{what} is empty: a study needs at least one")
        if twice := [str(name) for name, n in Counter(names).items() if n > 1]:
            raise ValueError(
                f"{what}: {', '.join(twice)} is given more than once, but results are identified "
                "by name: use different names"
            )
    for seed in study.seeds:
        if (
            isinstance(seed, bool)
            or not isinstance(seed, (int, np.integer))
            or not 0 <= seed < 2**31
        ):
            raise ValueError(f"seeds: {seed!r} is not a whole number from 0 to {2**31 - 1}")
    if study.trials > MOST_TRIALS:
        raise ValueError(f"trials = {study.trials}: a search may have at most {MOST_TRIALS:,}")
    fits = len(study.folds) * len(study.methods) * len(study.seeds) * max(study.trials, 1)
    if fits > MOST_FITS:
        raise ValueError(
            f"{fits:,} fits, of all folds, methods, seeds and trials, are more than a study may "
            f"have: at most {MOST_FITS:,}"
        )
    if study.jobs < 1:
        raise ValueError(f"jobs={study.jobs} should be at least 1")
    check_settings(study.settings)
    for criterion in {*([study.select] if study.select else ()), *_criteria(study.methods)}:
        eval_metric(criterion)
    for method in study.methods:
        check_parameters(method, {**{k: [v] for k, v in method.fixed.items()}, **method.grid})


def _criteria(methods: Iterable[Method]) -> set[str]:
    return {method.criterion for method in methods}


_AT_LEAST = {"rounds": 1, "patience": 1, "leaves": 2, "documents_in_leaf": 0, "threads": 1}


def check_settings(settings: Settings) -> None:
    """Raise a ValueError for numbers that are not valid in any framework."""
    for name, least in _AT_LEAST.items():
        value = getattr(settings, name)
        if not _is_whole(value) or value < least:
            raise ValueError(f"{name} = {value!r} should be a whole number, at least {least}")
    if not 0 < settings.learning_rate < np.inf:
        raise ValueError(f"learning_rate = {settings.learning_rate!r} should be a positive number")


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_parameters(method: Method, grid: Mapping[str, Any]) -> None:
    """Raise a ValueError for invalid grids, and for parameters without effect.

    Parameters
    ----------
    method : Method
    grid : dict of str to sequence
        Values to try for each parameter.
    """
    for name, values in grid.items():
        listed = isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, (str, bytes))
        if not listed or not len(values):
            raise ValueError(
                f"{method.name}: {name} = {values!r} should be a list of the values to try"
            )
    if method.trainer is train_estimator:
        _check_estimator(method, grid)
    elif method.trainer in (train_lightgbm, train_xgboost):
        for name in sorted(_OF_THE_STUDY & grid.keys()):
            raise ValueError(
                f"{method.name}: {name} cannot be tried, since the study sets it for every method"
            )
        check = _check_lightgbm if method.trainer is train_lightgbm else _check_xgboost
        check(method, {k: v for k, v in grid.items() if k not in OBJECTIVE_OPTIONS})
        for name in OBJECTIVE_OPTIONS & grid.keys():
            for value in grid[name]:
                with_options(method.target, {name: value})


def _check_estimator(method: Method, names: Iterable[str]) -> None:
    made = find_class(method.target)
    known = inspect.signature(made).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in names:
        if name not in known:
            raise ValueError(
                f"{method.name}: {made.__name__} has no parameter {name!r}{_hint(name, known)}"
            )


def _check_lightgbm(method: Method, names: Iterable[str]) -> None:
    try:
        groups = lightgbm_parameters()
    except ImportError:  # not installed, or LightGBM 3, which can't tell
        return
    main = {alias: name for name, aliases in groups.items() for alias in (name, *aliases)}
    for name in names:
        if main.get(name, name) != name:
            raise ValueError(
                f"{method.name}: {name} is another name of {main[name]}: use that name, since "
                "LightGBM ignores one of them if both are set"
            )
        if name not in main:
            known = set(main.values())
            raise ValueError(
                f"{method.name}: LightGBM has no parameter {name!r}{_hint(name, known)}"
            )


def _check_xgboost(method: Method, grid: Mapping[str, Any]) -> None:
    """Raise a ValueError for parameters that XGBoost reports as unused."""
    if "eta" in grid:
        raise ValueError(
            f"{method.name}: eta is another name of learning_rate: use that name, since XGBoost "
            "ignores one of them if both are set"
        )
    try:
        import xgboost
    except ImportError:
        return
    data = xgboost.DMatrix(np.zeros((2, 1)), label=[0, 1])
    native = {"objective": method.target} if isinstance(method.target, str) else {}
    with warnings.catch_warnings(record=True) as caught, xgboost.config_context(verbosity=1):
        warnings.simplefilter("always")
        try:
            xgboost.Booster(
                {**native, **{name: values[0] for name, values in grid.items()}}, [data]
            ).save_config()
        except xgboost.core.XGBoostError as error:
            said = str(error).strip().splitlines()[0]
            raise ValueError(f"{method.name}: XGBoost rejects its parameters: {said}") from None
    said = " ".join(str(warning.message) for warning in caught)
    unused = re.search(r"Parameters: \{(.*?)\} are not used", said)
    for name in re.findall(r'"(.*?)"', unused[1]) if unused else ():
        raise ValueError(
            f"{method.name}: XGBoost has no parameter {name!r}"
            + _hint(name, xgboost.XGBRanker().get_params())
        )


def _hint(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
