"""Conversion of the arguments that LightGBM and XGBoost pass to scores and `Queries`.

Neither framework is imported here: data sets are recognised by the module of their class.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.messages import warn
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.frameworks.call_stack import Caller, find_caller
from lambdaplus.frameworks.data_sets import (
    Framework,
    framework_of,
    group_sizes,
)
from lambdaplus.frameworks.internals import own_metrics, xgboost_field, xgboost_learner
from lambdaplus.frameworks.stored_fields import StoredFields, read_lightgbm, read_xgboost
from lambdaplus.frameworks.trainings import Training, training_of
from lambdaplus.frameworks.workers import workers_of
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.vectors import checked_array

SUFFIX = "_lambdaplus"  # at the end, since XGBoost maximises metrics by the beginning of the name

LOST_QUERIES = (
    "an evaluation set has no queries, and the training data has: pass group= (or qid=) with each "
    "set. To evaluate all rows as one list, pass one_group=True to eval_metric"
)


class Call(NamedTuple):
    """One call by a framework."""

    framework: Framework
    data: Any  # lightgbm.Dataset, xgboost.DMatrix, or the scores if arrays are passed
    scores: Any  # (n,)
    queries: Queries
    training: Training
    owner: Any = None  # the data set, or the booster of an estimator; None in a call by hand
    caller: Caller = Caller()

    @property
    def booster(self) -> Any:
        """The one that is trained or evaluated; None in a call by hand."""
        return self.caller.booster

    def positions(self) -> Ints:
        """Position at which each document was shown, from 0, (n,) int64; see `PositionBias`."""
        if self.framework != "lightgbm":
            starts = np.repeat(self.queries.boundaries[:-1], self.queries.sizes)
            return np.arange(self.queries.n_documents) - starts
        # LightGBM before 4.1 does not have this field, and get_field raises an error.
        has_field = hasattr(self.data, "get_position")
        field = self.data.get_field("position") if has_field else None
        if field is None:
            raise ValueError(
                "this data set has no positions: pass lightgbm.Dataset(position=), one number per "
                "row (LightGBM 4.1 or newer)"
            )
        return np.asarray(field, dtype=np.int64)

    def warn_of_positions(self, objective: Any) -> None:
        """Warn once of positions in a LightGBM data set, which only `PositionBias` uses."""
        unused = self.framework == "lightgbm" and getattr(self.data, "position", None) is not None
        if unused and not self.training.has_warned_of_positions:
            self.training.has_warned_of_positions = True
            warn(
                f"{objective!r} does not use the positions of this data set: "
                "lambdaplus.objectives.position_bias.PositionBias(objective) learns their bias"
            )

    def trains(self) -> None:
        """Remember the training data; warn if XGBoost stops early by its default metric."""
        if self.booster is None:
            return
        training = self.training
        if not training.rounds:
            training.grouped = self.queries.grouped
        training.rounds += 1
        if training.rounds <= 2 and framework_of(self.booster) == "xgboost":
            stops = self.booster.attr("best_score") is not None
            if training.rounds == 2 and stops and not training.is_evaluated:
                _warn_of_default_metric(self.booster)
            training.is_evaluated |= stops  # by the training that this one continues

    def check_evaluation_set(self, one_group: bool) -> None:
        """Raise a ValueError if the training data has queries and this set has none.

        A training without queries, which may have its reasons, is warned of.
        """
        if self.booster is None:
            return
        training, here = self.training, self.queries.grouped
        grouped = training.grouped
        if not training.rounds and self.framework == "lightgbm":  # an objective of LightGBM
            training_data = getattr(self.data, "reference", None)
            has_some = training_data is not None and group_sizes(training_data) is not None
            grouped = True if has_some else None
        if grouped and not here and not one_group:
            raise ValueError(LOST_QUERIES)
        unknown = not (training.rounds or training.is_evaluated) and grouped is None
        if unknown and not (here or one_group) and _ranks(self.booster):
            warn(f"if the training data has queries: {LOST_QUERIES}")
        training.is_evaluated = True
        if grouped is False and here:
            warn(
                "the training data has no queries, but an evaluation set has, so the objective "
                "ranks all rows as one list, and the metric each query: pass group= (or qid=) with "
                "the training data"
            )
            training.grouped = None

    def reported_names(self, names: Collection[str]) -> dict[str, str]:
        """The name for each metric: its own, unless the framework reports a metric of that name.

        Under one name, LightGBM and XGBoost would record the values of both metrics in turn.
        """
        if self.booster is None:
            return {name: name for name in names}
        if self.training.renamed is None:
            self.training.renamed = own_metrics(self.booster).intersection(names)
            if self.training.renamed:
                _warn_of_renamed(self.booster, self.training.renamed)
        return {name: name + SUFFIX * (name in self.training.renamed) for name in names}

    def is_first(self, scores: Floats) -> bool:
        """Whether these are the scores at the start of a training."""
        if not scores.size or scores.min() == scores.max():
            return True
        initial = None
        if self.framework == "lightgbm":
            initial = self.data.get_field("init_score")
        elif self.framework == "xgboost":
            initial = xgboost_field(self.data, "base_margin")
        return initial is not None and np.array_equal(np.ravel(initial), scores)


@contextmanager
def read_call(
    first: Any, second: Any, weight: Any = None, group: Any = None, *, of: object = None
) -> Iterator[Call]:
    """Read the arguments ``(scores, data set)`` or ``(labels, scores, weight, group)``.

    An error within this context is raised on all workers of the training, as is one if they call
    an objective or metric ``of`` another description, and threads are those of the training.
    """
    framework, caller = framework_of(second), find_caller()
    booster = caller.booster
    owner = booster if framework == "arrays" else second
    workers = workers_of(framework, second, booster)
    training = training_of(owner if booster is None else booster, booster)
    training.workers = workers
    with workers.together(of):
        if framework == "arrays":
            sizes = None if group is None else checked_array(group, "group")
            weights = None if weight is None else checked_array(weight, "weight")
            stored, scores = StoredFields(checked_array(first, "labels"), sizes, weights), second
        else:
            stored = (read_lightgbm if framework == "lightgbm" else read_xgboost)(second)
            scores = first
        # A table has many short steps, between which the framework's threads wait busily.
        with limit_threads(training.threads, None if stored.sizes is None else training.team):
            queries = training.queries_of(framework, second, booster, stored)
            yield Call(framework, second, scores, queries, training, owner, caller)


def _ranks(booster: Any) -> bool:
    """Whether XGBoost trains this booster with a ranking objective of its own."""
    if framework_of(booster) != "xgboost":
        return False
    name: str = xgboost_learner(booster)["objective"]["name"]
    return name.startswith("rank:")


def _warn_of_default_metric(booster: Any) -> None:
    learner = xgboost_learner(booster)
    default = learner["objective"]["name"] == "reg:squarederror"
    if default and [metric["name"] for metric in learner["metrics"]] == ["rmse"]:
        warn(
            "XGBoost evaluates its default metric, rmse, which takes scores for predictions of "
            "labels, and without custom_metric= stops early by it, at the wrong round: pass "
            "disable_default_eval_metric=1 and custom_metric=lambdaplus.eval_metric('map'), for "
            "example"
        )


def _warn_of_renamed(booster: Any, names: Collection[str]) -> None:
    framework, off = "LightGBM", "metric='None'"
    if framework_of(booster) == "xgboost":
        framework, off = "XGBoost", "disable_default_eval_metric=1 and no eval_metric"
    shown = ", ".join(f"{name} is reported as {name}{SUFFIX}" for name in sorted(names))
    warn(
        f"{framework} evaluates a metric of its own under the same name, so {shown}. To evaluate "
        f"ours alone, set {off}"
    )
