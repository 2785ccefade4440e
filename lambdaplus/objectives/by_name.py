"""Objectives by name, those of lambdaplus or of the framework."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import FunctionType
from typing import Any

from lambdaplus.compute.messages import hint
from lambdaplus.metrics import Declaration, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum
from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.lambda_objective import lambda_objective
from lambdaplus.objectives.metric_objective import LambdaObjective
from lambdaplus.objectives.objective import Objective, ObjectiveOn

Named = str | Declaration | RankingMetric | WeightedSum

NATIVE: Mapping[str, str] = {
    "lambdarank": "ndcg@10",
    "rank_xendcg": "ndcg@10",
    "rank:ndcg": "ndcg@10",
    "rank:map": "map",
    "rank:pairwise": "ndcg@10",
}
"""The frameworks' own ranking objectives, and the metric of `score` for each."""


def may_be_native(name: str) -> bool:
    """Whether a framework may know this name; LightGBM reads only what is before a blank or =."""
    return re.fullmatch(r"[\w:@.-]+", name) is not None


@contextmanager
def unknown_objective_explained(objective: Any, framework: str) -> Iterator[None]:
    """Of a name that neither knows, an error that lists the objectives of lambdaplus.

    To another error of the framework, add why the name, which it may not know, is none of ours.
    """
    if not isinstance(objective, str) or objective in NATIVE:
        yield
        return
    try:
        lambda_objective(objective.removeprefix("lambda_"))
        problem = ""
    except ValueError as error:
        problem = str(error)
    if not may_be_native(objective):
        raise ValueError(problem)
    try:
        yield
    except Exception as error:
        of_framework = problem and type(error).__name__ == f"{framework}Error"
        if of_framework and "Unknown objective" in str(error):
            raise ValueError(
                f"{framework} has no objective {objective!r}{hint(objective, NATIVE)}; of "
                f"lambdaplus: {problem}"
            ) from None
        if of_framework:
            what = f"The objective {objective!r} is one of {framework}, if any"
            error.add_note(f"{what}{hint(objective, NATIVE)}; of lambdaplus: {problem}")
        raise


@contextmanager
def unknown_metric_explained(names: Any) -> Iterator[None]:
    """Of a metric that XGBoost does not know, an error with what lambdaplus has under its name."""
    try:
        yield
    except Exception as error:
        for name in names if isinstance(names, list | tuple) else [names]:
            if isinstance(name, str) and f"Unknown metric function {name}" in str(error):
                try:
                    lambda_objective(name)
                    said = f"pass custom_metric=lambdaplus.eval_metric({name!r})"
                except ValueError as problem:
                    said = str(problem)
                raise ValueError(f"XGBoost has no metric {name!r}; of lambdaplus: {said}") from None
        raise


def refuse_no_function(given: Any) -> None:
    """Raise a TypeError for names and metrics in place of functions that evaluate scores."""
    for metric in given if isinstance(given, list | tuple) else [given]:
        ours = str(getattr(metric, "__module__", "")).startswith("lambdaplus.")
        shown = getattr(metric, "__qualname__", repr(str(metric)))
        maker = isinstance(metric, type | FunctionType) and "<locals>" not in shown
        if isinstance(metric, Named) or (ours and maker):  # such as eval_metric without ()
            raise TypeError(
                f"{shown} is no function of scores and data: pass eval_metric('map'), for example"
            )


@lru_cache(maxsize=64)  # the error for another name takes as long as predicting a few rows
def _is_ours(name: str) -> bool:
    """Whether this is the name of a metric or of a sum of metrics."""
    try:
        lambda_objective(name.removeprefix("lambda_"))
    except ValueError:
        return False
    return True


def find_objective(objective: Any, one_group: bool = False) -> Any:
    """The objective for a metric; anything else is returned unchanged, for the framework.

    With ``one_group``, as in classifiers, it treats all rows as one ranking for any metric.  A
    TypeError is raised for another callable of lambdaplus, such as a metric, and for several.
    """
    if isinstance(objective, list | tuple | dict):
        raise TypeError(
            f"objective={objective!r} is no single objective: pass one, or their sum, such as "
            "combine({lambda_objective('map'): 1, lambda_objective('ndcg'): 0.5})"
        )
    ours = str(getattr(objective, "__module__", "")).startswith("lambdaplus.")
    if callable(objective) and ours and not isinstance(objective, Objective | Named):
        shown = getattr(objective, "__qualname__", repr(objective))
        raise TypeError(f"{shown} is not an objective: pass lambda_objective('map'), for example")
    if isinstance(objective, str):
        if _is_ours(objective):
            objective = lambda_objective(objective.removeprefix("lambda_"))
    elif isinstance(objective, Named):
        objective = lambda_objective(objective)
    return _with_one_group(objective) if one_group else objective


def _with_one_group(objective: Any, part: bool = False) -> Any:
    """The objective with ``one_group``; some metrics rank all rows together without it."""
    if isinstance(objective, CombinedObjective):
        parts = [(_with_one_group(part, part=True), weight) for part, weight in objective.parts]
        return CombinedObjective(tuple(parts))
    if isinstance(objective, ObjectiveOn):
        return objective.of(_with_one_group(objective.objective, part))
    if isinstance(objective, LambdaObjective):
        if objective.metric.compares_some:
            raise ValueError(
                f"the objective {str(objective.metric)!r} reads labels in a way of its own, and a "
                "classifier trains on 0 and 1: use a ranker, or 'auc', the share of pairs of the "
                "two classes in order"
            )
        if part or not objective.metric.weighs_rows:
            return replace(objective, one_group=True)
        return objective.of_rows
    return objective
