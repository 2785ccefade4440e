"""Detection of searches and cross-validations of scikit-learn that split queries."""

import sys
import warnings
from typing import Any

import numpy as np

from lambdaplus.data.arguments import identifiers

_MODULE, _FUNCTION = "sklearn.model_selection._validation", "_fit_and_score"
_DEPTH = 40  # frames between that and the fit of a ranker in a pipeline


def warn_of_split_queries(qid: Any) -> None:
    """Warn if this fit, on rows of these queries, belongs to a split that cuts queries.

    A ranker sees only the rows that it is fitted on.  Those that it will be scored on are known to
    the function of scikit-learn that calls it, which is found on the stack.
    """
    fold = _calling_split()
    if fold is None:
        return
    fitted = identifiers(qid)
    pairs = [
        (values, fold["score_params_test"].get(name))
        for name, values in fold["score_params_train"].items()
    ]
    if "qid" in getattr(fold["X_train"], "columns", ()):
        pairs.append((fold["X_train"]["qid"], fold["X_test"]["qid"]))
    for train, test in pairs:
        if np.shape(train) != fitted.shape or not np.array_equal(np.asarray(train), fitted):
            continue
        cut = np.intersect1d(fitted, np.asarray(test))
        if cut.size:
            warnings.warn(
                f"this cross-validation splits queries: {cut.size} have rows that are fitted and "
                "others that are scored, so scores are not those of new queries. Pass "
                "cv=lambdaplus.query_folds(qid=qid, n_splits=5), or cv=GroupKFold() with "
                "groups=qid",
                stacklevel=4,
            )
        return


def _calling_split() -> dict[str, Any] | None:
    """The variables of the function of scikit-learn that fits and scores a fold, if it calls."""
    frame = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame.f_back is None:
            return None
        frame = frame.f_back
        if frame.f_code.co_name == _FUNCTION and frame.f_globals.get("__name__") == _MODULE:
            variables = dict(frame.f_locals)
            needed = {"score_params_train", "score_params_test", "X_train", "X_test"}
            return variables if needed <= variables.keys() else None
    return None
