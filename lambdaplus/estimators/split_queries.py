"""A warning for searches and cross-validations of scikit-learn that split queries.

A ranker sees only the rows that it is fitted to.  The others, of the same queries, are known to the
functions of scikit-learn that call it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lambdaplus.compute.messages import warn
from lambdaplus.frameworks.call_stack import splits_of_scikit_learn
from lambdaplus.lists.columns import columns_of
from lambdaplus.lists.keys import identifiers


def warn_of_split_queries(qid: Any) -> None:
    """Warn if this fit, to rows of these queries, belongs to a split that cuts queries."""
    splits = [*splits_of_scikit_learn()]
    if not splits or "train" not in splits[0]:
        return
    fitted, rows = identifiers(qid), splits[0]["train"]
    for split in splits:
        for of_all_rows in _of_all_rows(split):
            if not np.array_equal(_taken(of_all_rows, rows), fitted):
                continue
            if np.isin(np.asarray(of_all_rows), fitted).sum() > len(fitted):
                warn(
                    "this cross-validation splits queries: some have rows that are fitted and "
                    "others that are scored or left out, so scores are not those of new queries. "
                    "Pass cv=lambdaplus.query_folds(qid=qid, n_splits=5), or cv=GroupKFold() with "
                    "groups=qid; in successive halving, take resource='n_estimators', not rows"
                )
            return


def _of_all_rows(variables: Mapping[str, Any]) -> Iterator[Any]:
    """What a function of scikit-learn passes to fit or score, for all rows."""
    routed = getattr(variables.get("routed_params"), "estimator", None)
    named = [variables.get(name) for name in ("score_params", "fit_params", "params")]
    for given in (*named, getattr(routed, "fit", None)):
        yield from given.values() if isinstance(given, Mapping) else ()
    if "qid" in (columns_of(variables.get("X")) or ()):
        yield variables["X"]["qid"]


def _taken(values: Any, rows: Any) -> Any:
    """These rows of the values; none if there are not as many."""
    try:
        return np.asarray(values)[np.asarray(rows)]
    except (IndexError, TypeError):  # of part of the rows, or of none
        return None
