"""Warnings about searches and cross-validations of scikit-learn, which are found on the stack.

They may cut queries, or try objectives that train the same model.  A ranker sees only the rows
that it is fitted on.  Those that it will be scored on are known to the functions of scikit-learn
that call it (see `callers`).  With the folds of `query_folds`, there is nothing to warn of, but a
search with ``cv=5`` would split queries without a word.
"""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import identifiers
from lambdaplus.compute.warn_once import warn
from lambdaplus.frameworks.internals import callers
from lambdaplus.objectives.by_name import find_objective
from lambdaplus.objectives.equal_objectives import equal_objectives

_SEARCHES = "sklearn.model_selection._search"
_SPLITS = ("sklearn.model_selection._validation", "sklearn.feature_selection._rfe")


def warn_of_split_queries(qid: Any) -> None:
    """Warn if this fit, on rows of these queries, belongs to a split that cuts queries."""
    split: dict[str, Any] = {}
    fitted = identifiers(qid)
    for frame in callers(*_SPLITS):
        if not split and {"X", "train", "test"} <= {*frame.f_code.co_varnames}:
            split = dict(frame.f_locals)
        for whole in _of_all_rows(frame) if split else ():
            train = _rows(whole, split.get("train"))
            if train.shape != fitted.shape or not np.array_equal(train, fitted):
                continue
            if np.isin(np.asarray(whole), fitted).sum() > fitted.size:
                warn(
                    "this cross-validation splits queries: some have rows in both training and "
                    "test folds, so scores are not those of new queries, or lack rows, as in "
                    "learning curves and successive halving by rows. Pass "
                    "cv=lambdaplus.query_folds(qid=qid, n_splits=5), with order= and gap= for "
                    "queries in time, or cv=GroupKFold() with groups=qid, and take whole queries "
                    "or fewer trees as the smaller resource",
                    stacklevel=4,
                )
            return


def warn_of_equal_objectives() -> None:
    """Warn if this fit belongs to a search, in this process, of objectives that are equal."""
    for frame in callers(_SEARCHES):
        search = frame.f_locals.get("self")
        given = getattr(search, "param_grid", getattr(search, "param_distributions", ()))
        for space in [given] if isinstance(given, dict) else given:
            for name, values in space.items():
                if name.rpartition("__")[2] == "objective" and isinstance(values, list | tuple):
                    _warn_of_equal({str(value): find_objective(value) for value in values})
            return


def _warn_of_equal(objectives: dict[str, Any]) -> None:
    for alike in equal_objectives(objectives):
        warn(
            f"this search tries {', '.join(alike)}, which train the same model, since the same "
            "surrogate weighs their pairs: keep one of them, or pass lambda_objective(name, "
            "surrogate=name) to weigh pairs by the metric itself",
            stacklevel=5,
        )


def _of_all_rows(frame: FrameType) -> Iterator[Any]:
    """What a function of scikit-learn passes to fit or score, for all rows."""
    variables = frame.f_locals
    routed = getattr(variables.get("routed_params"), "estimator", None)
    for given in (
        *map(variables.get, ("score_params", "fit_params", "params")),
        getattr(routed, "fit", None),
    ):
        yield from (given or {}).values() if isinstance(given, dict) else ()
    X = variables.get("X")
    if "qid" in getattr(X, "columns", ()):
        yield X["qid"]  # type: ignore[index]


def _rows(values: Any, rows: Any) -> Any:
    """These rows of the values; none if there are not as many."""
    try:
        return np.asarray(values)[np.asarray(rows)]
    except (IndexError, TypeError):  # of part of the rows, or of none
        return np.empty(0)
