"""One object for each training, with what our objectives and metrics know of it."""

import copy
import threading
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lambdaplus.compute.collective import ONE_MACHINE, Workers
from lambdaplus.frameworks.data_sets import Framework, framework_of
from lambdaplus.frameworks.internals import lightgbm_parameter, xgboost_learner
from lambdaplus.frameworks.openmp_team import OpenMPTeam, team_of
from lambdaplus.frameworks.stored_fields import StoredFields, weights_of_rows
from lambdaplus.lists.queries import Queries

_MOST_KEPT = 8  # data sets of one training, if a framework passes arrays


@dataclass(eq=False)
class Training:
    """What our objectives and metrics know of the training of a booster.

    It is created in their first call, and found by the booster or, in a call by hand, by the data
    set.
    """

    threads: int = 0  # that are set for it; 0 if they are not
    team: OpenMPTeam | None = None  # those of the framework that calls
    workers: Workers = ONE_MACHINE  # of the last call, since XGBoost's may be connected later
    grouped: bool | None = None  # whether the training data has queries, if an objective knows
    rounds: int = 0  # of our objective
    is_evaluated: bool = False  # whether it has a metric of ours
    renamed: frozenset[str] | None = None  # our metrics of which the framework has one, too
    has_warned_of_positions: bool = False
    has_warned_of_minimising: bool = False
    # Of each data set that still exists, or of the booster if the framework passes arrays.
    queries: WeakKeyDictionary[Any, list[tuple[StoredFields, Queries]]] = field(
        default_factory=WeakKeyDictionary
    )

    def queries_of(
        self, framework: Framework, data: Any, booster: Any, stored: StoredFields
    ) -> Queries:
        """The queries of a data set, or of the arrays of a booster: new ones if they changed."""
        owner = booster if framework == "arrays" else data
        if owner is None:
            return self._new_queries(framework, data, stored)
        kept, workers = self.queries.setdefault(owner, []), self.workers
        recent = list(kept)
        # Compare the contents, since objects may be reused and arrays overwritten.
        here = workers.size, workers.number
        same = [
            (old.workers.size, old.workers.number) == here and _same(known, stored)
            for known, old in recent
        ]
        if workers.size > 1 and workers.connected:
            # New queries need reductions: all workers create them, or none.
            padded = np.array(same + [False] * (_MOST_KEPT - len(same)), np.int64)
            same = workers.smallest(padded).astype(bool).tolist()
        if any(same):
            return recent[same.index(True)][1]
        queries = self._new_queries(framework, data, stored)
        # The caller may overwrite its arrays.  Copies of the same type are fast to compare.
        most = _MOST_KEPT if framework == "arrays" else 1
        kept[:] = [*recent, (copy.deepcopy(stored), queries)][-most:]
        return queries

    def _new_queries(self, framework: Framework, data: Any, stored: StoredFields) -> Queries:
        """The queries of this worker, none if it has no rows, or its rows of one list."""
        weights = weights_of_rows(framework, data, stored)
        labels, sizes, workers = stored.labels, stored.sizes, self.workers
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


def _same(kept: tuple[Any, ...], stored: tuple[Any, ...]) -> bool:
    return all(map(np.array_equal, kept, stored))  # None is equal to None only


_trainings: WeakKeyDictionary[Any, Training] = WeakKeyDictionary()
_lock = threading.Lock()


def training_of(owner: Any, booster: Any = None) -> Training:
    """The training of a booster, or by hand of a data set; a new one in each call with arrays."""
    if owner is None:
        return Training()
    with _lock:
        training = _trainings.get(owner)
        if training is None:
            threads = 0 if booster is None else _threads_of(booster)
            training = _trainings[owner] = Training(threads, team_of(booster, threads))
        return training


def _threads_of(booster: Any) -> int:
    """Number of threads set for a booster; 0 if it is not set."""
    if framework_of(booster) == "lightgbm":
        threads = lightgbm_parameter(booster.params, "num_threads")
    else:
        threads = xgboost_learner(booster)["generic_param"].get("nthread")
    return max(int(threads or 0), 0)
