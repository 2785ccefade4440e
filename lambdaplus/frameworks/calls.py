"""Conversion of the arguments that LightGBM and XGBoost pass to scores and `Queries`.

Neither framework is imported here: data sets are recognised by the module of their class.
"""

import sys
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from lambdaplus.compute.arguments import plain
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.collective import ONE_MACHINE, LightGBMWorkers, Workers, XGBoostWorkers
from lambdaplus.compute.parallel import Team, limit_threads, on_team
from lambdaplus.frameworks.data_sets import (
    RawData,
    group_sizes,
    read_lightgbm,
    read_xgboost,
    refuse_parts_of_queries,
    xgboost_field,
)
from lambdaplus.frameworks.internals import (
    calling_booster,
    lightgbm_parameter,
    openmp_functions,
    own_metrics,
    xgboost_learner,
)
from lambdaplus.ranking.queries import Queries

Framework = Literal["lightgbm", "xgboost", "arrays"]

SUFFIX = "_lambdaplus"  # at the end, since XGBoost maximises metrics by the beginning of the name

_MOST_KEPT = 8  # data sets of one training, if a framework passes arrays

LOST_QUERIES = (
    "an evaluation set has no queries, and the training data has: pass group= (or qid=) with each "
    "set. To evaluate all rows as one list, pass one_group=True to eval_metric"
)


@dataclass
class Training:
    """What our objectives and metrics know of the training of a booster.

    It is created in their first call, and found by the booster or, in a call by hand, by the data
    set.
    """

    threads: int = 0  # that are set for it; 0 if they are not
    by_query: bool | None = None  # whether the training data has queries, if an objective knows
    rounds: int = 0  # of our objective
    is_evaluated: bool = False  # whether it has a metric of ours
    renamed: frozenset[str] | None = None  # our metrics of which the framework has one, too
    has_warned_of_positions: bool = False
    # Of each data set that still exists, or of the booster if the framework passes arrays.
    queries: WeakKeyDictionary[Any, list[tuple[RawData, Queries]]] = field(
        default_factory=WeakKeyDictionary
    )


_trainings: WeakKeyDictionary[Any, Training] = WeakKeyDictionary()
_lock = threading.Lock()


def _training_of(owner: Any, booster: Any) -> Training:
    if owner is None:
        return Training()
    with _lock:
        if owner not in _trainings:
            _trainings[owner] = Training(0 if booster is None else _threads_of(booster))
        return _trainings[owner]


class Call(NamedTuple):
    """One call by a framework."""

    framework: Framework
    data: Any  # lightgbm.Dataset, xgboost.DMatrix, or the scores if arrays are passed
    scores: Any  # (n,)
    queries: Queries
    training: Training
    owner: Any = None  # the data set, or the booster of an estimator; None in a call by hand
    booster: Any = None  # that is trained; None in a call by hand

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
            warnings.warn(
                f"{objective!r} does not use the positions of this data set: "
                "lambdaplus.objectives.position_bias.PositionBias(objective) learns their bias",
                stacklevel=4,
            )

    def trains(self) -> None:
        """Remember the training data; warn if XGBoost stops early by its default metric."""
        if self.booster is None:
            return
        training = self.training
        if not training.rounds:
            training.by_query = self.queries.divided
        training.rounds += 1
        if training.rounds <= 2 and framework_of(self.booster) == "xgboost":
            stops = self.booster.attr("best_score") is not None
            if training.rounds == 2 and stops and not training.is_evaluated:
                _warn_of_default_metric(self.booster)
            training.is_evaluated |= stops  # by the training that this one continues

    def evaluates(self, one_group: bool) -> None:
        """Raise a ValueError if the training data has queries and this set has none.

        A training without queries, which may have its reasons, is warned of.
        """
        if self.booster is None:
            return
        training, divided = self.training, self.queries.divided
        by_query = training.by_query
        if not training.rounds and self.framework == "lightgbm":  # an objective of LightGBM
            whole = getattr(self.data, "reference", None)  # the training data
            by_query = True if whole is not None and group_sizes(whole) is not None else None
        if by_query and not divided and not one_group:
            raise ValueError(LOST_QUERIES)
        unknown = not (training.rounds or training.is_evaluated) and by_query is None
        if unknown and not (divided or one_group) and _ranks(self.booster):
            warnings.warn(f"if the training data has queries: {LOST_QUERIES}", stacklevel=3)
        training.is_evaluated = True
        if by_query is False and divided:
            warnings.warn(
                "the training data has no queries, but an evaluation set has, so the objective "
                "ranks all rows as one list, and the metric each query: pass group= (or qid=) with "
                "the training data",
                stacklevel=3,
            )
            training.by_query = None

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
def read_call(first: Any, second: Any, weight: Any = None, group: Any = None) -> Iterator[Call]:
    """Read the arguments ``(scores, data set)`` or ``(labels, scores, weight, group)``.

    An error within this context is raised on all workers of the training, and threads are those of
    the training.
    """
    framework, booster = framework_of(second), calling_booster()
    owner = booster if framework == "arrays" else second
    workers = _workers_of(framework, second, booster)
    training = _training_of(owner if booster is None else booster, booster)
    team = _team_of(booster, training.threads)
    with workers.together(), limit_threads(training.threads), on_team(team):
        if framework == "arrays":
            sizes = None if group is None else plain(group, "group")
            weights = None if weight is None else plain(weight, "weight")
            raw, scores = RawData(plain(first, "labels"), sizes, weights), second
        else:
            raw = (read_lightgbm if framework == "lightgbm" else read_xgboost)(second)
            scores = first
        queries = _queries_of(training, owner, raw, workers)
        yield Call(framework, second, scores, queries, training, owner, booster)


def _ranks(booster: Any) -> bool:
    """Whether XGBoost trains this booster with a ranking objective of its own."""
    if framework_of(booster) != "xgboost":
        return False
    name: str = xgboost_learner(booster)["objective"]["name"]
    return name.startswith("rank:")


def framework_of(data: Any) -> Framework:
    """The framework of a data set or a booster; "arrays" if it is neither's."""
    for kind in type(data).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("lightgbm", "xgboost"):
            return root  # type: ignore[return-value]
    return "arrays"


def _workers_of(framework: Framework, second: Any, booster: Any) -> Workers:
    """The workers of the training of the data set, or of the booster if an estimator calls."""
    owner = framework_of(booster) if framework == "arrays" else framework
    if owner == "xgboost":
        collective = sys.modules.get("xgboost.collective")
        connected = collective is not None and collective.get_world_size() > 1
        return XGBoostWorkers(collective) if connected else ONE_MACHINE
    # Parameters that are stored with the data set may be of another training.
    params = getattr(booster if framework_of(booster) == "lightgbm" else second, "params", None)
    if not params:
        return ONE_MACHINE
    refuse_bagging_by_query(params)  # LightGBM's estimators pass arrays
    return lightgbm_workers(params)


def lightgbm_workers(params: dict[str, Any]) -> Workers:
    """The workers of a LightGBM training, if these parameters distribute the rows."""
    if not str(lightgbm_parameter(params, "tree_learner")).startswith(("data", "voting")):
        return ONE_MACHINE
    machines = lightgbm_parameter(params, "machines", "")
    listed = len(machines.split(",") if isinstance(machines, str) else machines)
    size = max(int(lightgbm_parameter(params, "num_machines", 1)), listed)
    return LightGBMWorkers(size) if size > 1 else ONE_MACHINE


def _threads_of(booster: Any) -> int:
    """Number of threads set for a booster; 0 if it is not set."""
    if framework_of(booster) == "lightgbm":
        threads = lightgbm_parameter(booster.params, "num_threads")
    else:
        threads = xgboost_learner(booster)["generic_param"].get("nthread")
    return max(int(threads or 0), 0)


def _team_of(booster: Any, threads: int) -> Team | None:
    """The OpenMP threads of a training; None if they are unknown, or in a call by hand."""
    framework = framework_of(booster)
    functions = None if framework == "arrays" else openmp_functions(framework)
    if functions is None:
        return None
    parallel, most = functions
    return Team(threads or most(), parallel)


def _warn_of_default_metric(booster: Any) -> None:
    learner = xgboost_learner(booster)
    default = learner["objective"]["name"] == "reg:squarederror"
    if default and [metric["name"] for metric in learner["metrics"]] == ["rmse"]:
        warnings.warn(
            "XGBoost evaluates its default metric, rmse, which takes scores for predictions of "
            "labels, and without custom_metric= stops early by it, at the wrong round: pass "
            "disable_default_eval_metric=1 and custom_metric=lambdaplus.eval_metric('map'), for "
            "example",
            stacklevel=4,
        )


def _warn_of_renamed(booster: Any, names: Collection[str]) -> None:
    framework, off = "LightGBM", "metric='None'"
    if framework_of(booster) == "xgboost":
        framework, off = "XGBoost", "disable_default_eval_metric=1 and no eval_metric"
    shown = ", ".join(f"{name} is reported as {name}{SUFFIX}" for name in sorted(names))
    warnings.warn(
        f"{framework} evaluates a metric of its own under the same name, so {shown}. To evaluate "
        f"ours alone, set {off}",
        stacklevel=4,
    )


def refuse_bagging_by_query(params: Mapping[str, Any]) -> None:
    """Raise a ValueError if these LightGBM parameters enable bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "with bagging_by_query=True, LightGBM learns nothing from a custom objective: set it "
            "to False; bagging by rows works"
        )


def _queries_of(training: Training, owner: Any, raw: RawData, workers: Workers) -> Queries:
    """The queries of this owner, if they are of the same data, or new ones."""
    if owner is None:
        return _new_queries(owner, raw, workers)
    kept = training.queries.setdefault(owner, [])
    recent = list(kept)
    # Compare the contents, since objects may be reused and arrays overwritten.
    same = [old.workers.size == workers.size and _same(known, raw) for known, old in recent]
    if workers.size > 1 and workers.connected:
        # New queries need reductions: all workers create them, or none.
        padded = np.array(same + [False] * (_MOST_KEPT - len(same)), np.int64)
        same = workers.smallest(padded).astype(bool).tolist()
    if any(same):
        return recent[same.index(True)][1]
    queries = _new_queries(owner, raw, workers)
    # The caller may overwrite its arrays.  Copies of the same type are fast to compare.
    sizes, weights = (None if part is None else part.copy() for part in (raw.sizes, raw.weights))
    most = _MOST_KEPT if type(owner).__name__ == "Booster" else 1
    kept[:] = [*recent, (RawData(raw.labels.copy(), sizes, weights), queries)][-most:]
    return queries


def _same(kept: tuple[Any, ...], raw: tuple[Any, ...]) -> bool:
    return all(map(np.array_equal, kept, raw))  # None is equal to None only


def _new_queries(owner: Any, raw: RawData, workers: Workers) -> Queries:
    """The queries of this worker, none if it has no rows, or its rows of one list."""
    refuse_parts_of_queries(owner)
    labels, sizes, weights = raw
    if workers.size > 1 and (sizes is None or workers.connected):
        kinds = np.array([sizes is not None, labels.size > 0 and sizes is None], np.int64)
        with_queries, without = workers.largest(kinds)
        if with_queries and without:
            raise ValueError(
                "some workers have query groups and others have rows without: pass qid= (or "
                "group=) on all of them, or on none"
            )
        sizes = np.empty(0) if with_queries and sizes is None else sizes
    return Queries(labels, group=sizes, weight=weights, workers=workers)
