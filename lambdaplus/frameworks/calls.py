"""Conversion of the arguments that LightGBM and XGBoost pass to scores and `Queries`.

Neither framework is imported here: data sets are recognised by the module of their class.
"""

import inspect
import json
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import MethodType
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from lambdaplus.compute.arguments import plain
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.collective import ONE_MACHINE, LightGBMWorkers, Workers, XGBoostWorkers
from lambdaplus.compute.parallel import Team, limit_threads, on_team
from lambdaplus.compute.warn_once import warn
from lambdaplus.frameworks.data_sets import (
    RawData,
    group_sizes,
    read_lightgbm,
    read_xgboost,
    refuse_cut_queries,
)
from lambdaplus.frameworks.internals import (
    calling_booster,
    lightgbm_parameter,
    openmp_functions,
    xgboost_field,
)
from lambdaplus.ranking.queries import Queries

Framework = Literal["lightgbm", "xgboost", "arrays"]


# Queries are cached as long as their owner exists: the data set, or the booster of an estimator,
# which passes the arrays of the training data and of each validation set in each round.
_kept: WeakKeyDictionary[Any, deque[tuple[RawData, Queries]]] = WeakKeyDictionary()
_threads: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
_warned: WeakSet[Any] = WeakSet()  # data sets with positions
_lock = threading.Lock()
_MOST_KEPT = 8

LOST_QUERIES = (
    "an evaluation set has no queries, and the training data has: pass group= (or qid=) with each "
    "set. To evaluate all rows as one list, pass one_group=True to eval_metric"
)


@dataclass
class _Training:
    """What our objectives and metrics were called with in the training of a booster."""

    by_query: bool | None = None  # whether the training data has queries, if an objective knows
    rounds: int = 0  # of our objective
    is_evaluated: bool = False  # whether it has a metric of ours


_trainings: WeakKeyDictionary[Any, _Training] = WeakKeyDictionary()  # by booster


class Call(NamedTuple):
    """One call by a framework."""

    framework: Framework
    data: Any  # lightgbm.Dataset, xgboost.DMatrix, or the scores if arrays are passed
    scores: Any  # (n,)
    queries: Queries
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
        if self.framework != "lightgbm" or getattr(self.data, "position", None) is None:
            return
        if self.data not in _warned:
            _warned.add(self.data)
            warn(
                f"{objective!r} does not use the positions of this data set: "
                "lambdaplus.objectives.position_bias.PositionBias(objective) learns their bias",
                stacklevel=4,
            )

    def trains(self) -> None:
        """Remember the training data; warn if XGBoost stops early by its default metric."""
        if self.booster is None:
            return
        training = _trainings.setdefault(self.booster, _Training())
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
        training = _trainings.setdefault(self.booster, _Training())
        by_query, divided = training.by_query, self.queries.divided
        if not training.rounds and self.framework == "lightgbm":  # an objective of LightGBM
            whole = getattr(self.data, "reference", None)  # the training data
            by_query = True if whole is not None and group_sizes(whole) is not None else None
        if by_query and not divided and not one_group:
            raise ValueError(LOST_QUERIES)
        unknown = not (training.rounds or training.is_evaluated) and by_query is None
        if unknown and not (divided or one_group) and _ranks(self.booster):
            warn(f"if the training data has queries: {LOST_QUERIES}", stacklevel=3)
        training.is_evaluated = True
        if by_query is False and divided:
            warn(
                "the training data has no queries, but an evaluation set has, so the objective "
                "ranks all rows as one list, and the metric each query: pass group= (or qid=) with "
                "the training data",
                stacklevel=3,
            )
            training.by_query = None

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


class SignatureOfCalls:
    """The signature of an object's calls, which LightGBM's estimators ask for in each round."""

    def __get__(self, called: Any, kind: type) -> inspect.Signature | None:
        # That of the class itself is the signature of its constructor.
        return None if called is None else _signature_of_calls(kind)


@cache
def _signature_of_calls(kind: type) -> inspect.Signature:
    return inspect.signature(MethodType(kind.__call__, kind))


@contextmanager
def read_call(first: Any, second: Any, weight: Any = None, group: Any = None) -> Iterator[Call]:
    """Read the arguments ``(scores, data set)`` or ``(labels, scores, weight, group)``.

    An error within this context is raised on all workers of the training, and threads are those of
    the training.
    """
    framework, booster = framework_of(second), calling_booster()
    workers = _workers_of(framework, second, booster)
    threads = 0 if booster is None else _threads_of(booster)
    with workers.together(), limit_threads(threads), on_team(_team_of(booster, threads)):
        if framework == "arrays":
            sizes = None if group is None else plain(group, "group")
            weights = None if weight is None else plain(weight, "weight")
            raw = RawData(plain(first, "labels"), sizes, weights)
            queries = _queries_of(booster, raw, workers)
            yield Call(framework, second, second, queries, booster, booster)
        else:
            raw = (read_lightgbm if framework == "lightgbm" else read_xgboost)(second)
            yield Call(framework, second, first, _queries_of(second, raw, workers), second, booster)


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
    if booster not in _threads:
        if framework_of(booster) == "lightgbm":
            threads = lightgbm_parameter(booster.params, "num_threads")
        else:
            config = json.loads(booster.save_config())
            threads = config["learner"]["generic_param"].get("nthread")
        _threads[booster] = max(int(threads or 0), 0)
    return _threads[booster]


def _team_of(booster: Any, threads: int) -> Team | None:
    """The OpenMP threads of a training; None if they are unknown, or in a call by hand."""
    framework = framework_of(booster)
    functions = None if framework == "arrays" else openmp_functions(framework)
    if functions is None:
        return None
    parallel, most = functions
    return Team(threads or most(), parallel)


def _ranks(booster: Any) -> bool:
    """Whether XGBoost trains this booster with a ranking objective of its own."""
    if framework_of(booster) != "xgboost":
        return False
    name: str = json.loads(booster.save_config())["learner"]["objective"]["name"]
    return name.startswith("rank:")


def _warn_of_default_metric(booster: Any) -> None:
    learner = json.loads(booster.save_config())["learner"]
    default = learner["objective"]["name"] == "reg:squarederror"
    if default and [metric["name"] for metric in learner["metrics"]] == ["rmse"]:
        warn(
            "XGBoost evaluates its default metric, rmse, which takes scores for predictions of "
            "labels, and without custom_metric= stops early by it, at the wrong round: pass "
            "disable_default_eval_metric=1 and custom_metric=lambdaplus.eval_metric('map'), for "
            "example",
            stacklevel=4,
        )


def refuse_bagging_by_query(params: Mapping[str, Any]) -> None:
    """Raise a ValueError if these LightGBM parameters enable bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "with bagging_by_query=True, LightGBM learns nothing from a custom objective: set it "
            "to False; bagging by rows works"
        )


def _queries_of(owner: Any, raw: RawData, workers: Workers) -> Queries:
    """The cached queries of this owner, if they are of the same data, or new ones."""
    if owner is None:
        return _new_queries(owner, raw, workers)
    with _lock:
        if owner not in _kept:
            _kept[owner] = deque(maxlen=_MOST_KEPT if type(owner).__name__ == "Booster" else 1)
        kept = _kept[owner]
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
    with _lock:
        kept.append((RawData(raw.labels.copy(), sizes, weights), queries))
    return queries


def _same(kept: tuple[Any, ...], raw: tuple[Any, ...]) -> bool:
    return all(map(np.array_equal, kept, raw))  # None is equal to None only


def _new_queries(owner: Any, raw: RawData, workers: Workers) -> Queries:
    """The queries of this worker, none if it has no rows, or its rows of one list."""
    refuse_cut_queries(owner)
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
