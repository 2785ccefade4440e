"""What searches and cross-validations of scikit-learn do with the score of a ranker.

They score a fitted model after `fit` has ended, and turn errors of scores into NaN.  So that no
search ends with NaN, or with the best value of several metrics, `fit` looks at what called it.
"""

from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from sklearn import get_config

from lambdaplus.compute.messages import warn
from lambdaplus.estimators.metrics_by_name import metric_of_score
from lambdaplus.evaluation.scorers import ScoreOfQueries
from lambdaplus.frameworks.call_stack import (
    frames_of_scikit_learn,
    scores_of,
    splits_of_scikit_learn,
)
from lambdaplus.lists.columns import columns_of
from lambdaplus.objectives.by_name import find_objective

ROUTING = """
    sklearn.set_config(enable_metadata_routing=True)
    search = GridSearchCV(ranker, grid, cv=lambdaplus.query_folds(qid=qid))
    search.fit(X, y, qid=qid)
"""
"""How scikit-learn passes queries to rankers."""

HOW_QUERIES_COME = (
    "In scikit-learn's searches and cross-validations, qid arrives by these lines "
    "(cross_val_score and others take params={'qid': qid}):\n" + ROUTING
)

_WARNED: WeakSet[Any] = WeakSet()  # searches


def refuse_scores_without_queries() -> None:
    """Raise a ValueError if the model would be scored without queries after this fit."""
    split = next(splits_of_scikit_learn(), {})
    if "scorer" not in split or get_config()["enable_metadata_routing"]:
        return
    if "qid" in (columns_of(split.get("X")) or ()):
        return
    called = scores_of(split["scorer"])
    lacking = (isinstance(one, ScoreOfQueries) and one.qid is None for one in called)
    if "score" in called or any(lacking):
        raise ValueError(
            "scikit-learn passes qid to fit and not to score here, so all scores would be NaN or "
            f"of one ranking of all rows. {HOW_QUERIES_COME}"
        )


def warn_of_several_metrics(model: Any) -> None:
    """Warn once if a search compares candidates by different metrics, each of its objective.

    Other processes do not see the candidates: then the refit of the best one warns.
    """
    for frame in frames_of_scikit_learn():
        search, candidates = frame.get("self"), _candidates(frame)
        if search is None or not candidates or getattr(search, "scoring", None) is not None:
            continue
        if search in _WARNED:
            return
        by: dict[str, Any] = {}
        for candidate in candidates:
            objective, preferred = _of_candidate(candidate, model)
            try:
                metric = metric_of_score(find_objective(objective), preferred).metrics[0]
            except (TypeError, ValueError):  # which the fit of this candidate says
                continue
            by.setdefault(str(metric), objective)
        if len(by) > 1:
            _WARNED.add(search)
            of = ", ".join(f"{metric} of {objective!r}" for metric, objective in by.items())
            warn(
                f"this search compares values of different metrics, {of}, so the best one is not "
                f"known: pass the estimator eval_metric={next(iter(by))!r}, or the search "
                f"scoring=lambdaplus.scorer({next(iter(by))!r})"
            )
        return


def _candidates(frame: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parameters that a search tries, before the first fit or after the last."""
    results = frame.get("results")
    found = results.get("params") if isinstance(results, Mapping) else None
    found = found or frame.get("candidate_params")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _of_candidate(candidate: Mapping[str, Any], model: Any) -> tuple[Any, Any]:
    """The objective and the metrics of a candidate, whose estimator may be one of the values."""
    of = next((v for v in candidate.values() if hasattr(v, "objective")), model)
    values = [of.objective, getattr(of, "eval_metric", None)]
    for place, name in enumerate(("objective", "eval_metric")):
        for key, value in candidate.items():
            if key == name or key.endswith(f"__{name}"):
                values[place] = value
    return values[0], values[1]
