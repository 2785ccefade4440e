"""Conversion of the arguments that LightGBM and XGBoost pass to scores and `Queries`.

Neither framework is imported here: data sets are recognised by the module of their class.

In a training on several machines, each worker is called with its own rows, and all of them at the
same time; what they need of each other they reduce (see `lambdaplus.compute.collective`).
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.collective import ONE_MACHINE, Workers, lightgbm_workers, xgboost_workers
from lambdaplus.data.arrays import plain
from lambdaplus.data.queries import Floats, Ints, Queries
from lambdaplus.frameworks.internals import calling_booster

Framework = Literal["lightgbm", "xgboost", "arrays"]


class RawData(NamedTuple):
    """Labels, weights and query sizes as stored by a framework."""

    labels: NDArray[Any]
    sizes: NDArray[Any] | None
    weights: NDArray[Any] | None


Kept = deque[tuple[RawData, Queries]]

_lock = threading.Lock()
_by_data_set: WeakKeyDictionary[Any, tuple[RawData, Queries]] = WeakKeyDictionary()
# Estimators pass arrays: those of the training data and of each validation set, in each round.  The
# queries made from them are cached for the lifetime of the booster that is trained; for a caller
# without a booster, the latest ones are cached.
_latest: Kept = deque(maxlen=1)
_by_booster: WeakKeyDictionary[Any, Kept] = WeakKeyDictionary()
_threads: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
_BY_COLUMN = 1  # xgboost.core.DataSplitMode.COL


class Call(NamedTuple):
    """One call by a framework: its name, the data, the scores and the queries.

    Attributes
    ----------
    framework : {"lightgbm", "xgboost", "arrays"}
    data : lightgbm.Dataset, xgboost.DMatrix or (n,) array_like
        Scores, if the framework passed arrays.
    scores : (n,) array_like
    queries : Queries
    threads : int or None
        Number of threads that was set for the training.
    """

    framework: Framework
    data: Any
    scores: Any
    queries: Queries
    threads: int | None

    def positions(self) -> Ints:
        """Position at which each document was shown, from 0: (n,) int64.

        From LightGBM's ``Dataset(position=)``; otherwise, the rows of a query are in the order in
        which they were shown.
        """
        if self.framework != "lightgbm":
            starts = np.repeat(self.queries.boundaries[:-1], self.queries.sizes)
            return np.arange(self.queries.n_documents) - starts
        # LightGBM before 4.1 does not have this field, and get_field raises an error.
        known = hasattr(self.data, "get_position")
        field = self.data.get_field("position") if known else None
        if field is None:
            raise ValueError(
                "this data set has no positions: pass lightgbm.Dataset(position=), one number per "
                "row (LightGBM 4.1 or newer)"
            )
        return np.asarray(field, dtype=np.int64)

    def is_first(self, scores: Floats) -> bool:
        """Whether these are the scores at the start of a training."""
        if not scores.size or scores.min() == scores.max():
            return True
        initial = None
        if self.framework == "lightgbm":
            initial = self.data.get_field("init_score")
        elif self.framework == "xgboost":
            initial = self.data.get_base_margin()
        return initial is not None and np.array_equal(np.ravel(initial), scores)


@contextmanager
def read_call(
    first: Any, second: Any, weight: Any = None, group: Any = None
) -> Iterator[Call]:  # fmt: skip
    """Read the arguments ``(scores, data set)`` or ``(labels, scores, weight, group)``.

    An error within this context is raised on all workers of the training.

    Raises
    ------
    ValueError
        For invalid labels, groups or weights, if a LightGBM data set contains parts of queries,
        and if LightGBM bags by query, with which a custom objective learns nothing.
    """
    framework, booster = framework_of(second), calling_booster()
    workers = _workers_of(framework, second, booster)
    with workers.together():
        threads = None if booster is None else _threads_of(booster)
        if framework == "arrays":
            raw = RawData(_array(first, "labels"), _array(group, "group"), _array(weight, "weight"))
            yield Call(framework, second, second, _from_arrays(raw, booster, workers), threads)
        else:
            raw = (_read_lightgbm if framework == "lightgbm" else _read_xgboost)(second)
            yield Call(framework, second, first, _from_data_set(second, raw, workers), threads)


def _workers_of(framework: Framework, second: Any, booster: Any) -> Workers:
    """The workers of the training, by the data set or, for an estimator, the booster that calls."""
    owner = framework_of(booster) if framework == "arrays" else framework
    if owner == "xgboost":
        workers = xgboost_workers()
        if workers.size > 1 and framework == "xgboost" and second.data_split_mode() == _BY_COLUMN:
            return ONE_MACHINE  # each worker has all rows, and some of the columns
        return workers
    # Parameters that are stored with the data set may be those of another run.
    params = getattr(booster if framework_of(booster) == "lightgbm" else second, "params", None)
    refuse_bagging_by_query(params or {})  # LightGBM's estimators pass arrays
    return lightgbm_workers(params or {})


def _threads_of(booster: Any) -> int:
    """Number of threads set for a booster; 0 if it is not set."""
    if booster not in _threads:
        if framework_of(booster) == "lightgbm":
            names = ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs")
            given = next((booster.params[name] for name in names if name in booster.params), 0)
        else:
            config = json.loads(booster.save_config())
            given = config["learner"]["generic_param"].get("nthread", 0)
        _threads[booster] = max(int(given or 0), 0)
    return _threads[booster]


def framework_of(data: Any) -> Framework:
    """The framework of a data set; "arrays" if it is not a data set."""
    for kind in type(data).__mro__:
        root = kind.__module__.partition(".")[0]
        if root == "lightgbm":
            return "lightgbm"
        if root == "xgboost":
            return "xgboost"
    return "arrays"


def _array(values: Any, name: str) -> Any:
    return None if values is None else plain(values, name)


def _same(known: RawData, raw: RawData) -> bool:
    """Whether the content is the same, since objects are reused and arrays can be written to."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in zip(known, raw, strict=True)
    )


def _copies(raw: RawData, queries: Queries) -> RawData:
    """Arrays that the caller cannot write to; the queries have a copy of the labels already."""
    sizes, weights = (None if array is None else array.copy() for array in raw[1:])
    return RawData(queries.labels.reshape(raw.labels.shape), sizes, weights)


def _from_data_set(data: Any, raw: RawData, workers: Workers) -> Queries:
    with _lock:
        known = _by_data_set.get(data)
    recent = [known if known is not None and known[1].workers.size == workers.size else None]
    found = _known_everywhere(recent, raw, workers)
    if found is not None:
        return found
    if framework_of(data) == "lightgbm":
        _refuse_cut_queries(data)
        weights = raw.weights
    else:
        weights = _row_weights(raw)
    queries = _queries(RawData(raw.labels, raw.sizes, weights), workers)
    with _lock:
        _by_data_set[data] = (_copies(raw, queries), queries)
    return queries


def _from_arrays(raw: RawData, booster: Any, workers: Workers) -> Queries:
    with _lock:
        kept = _latest if booster is None else _by_booster.setdefault(booster, deque(maxlen=8))
        recent = list(kept)
    found = _known_everywhere(recent, raw, workers)
    if found is not None:
        return found
    queries = _queries(raw, workers)
    with _lock:
        kept.append((_copies(raw, queries), queries))
    return queries


def _known_everywhere(
    recent: Sequence[tuple[RawData, Queries] | None], raw: RawData, workers: Workers
) -> Queries | None:
    """The first of the kept queries that are still right on all workers.

    Making them takes messages, so all workers make them anew if one has to.
    """
    if workers.size == 1 or not workers.connected:
        return next((kept[1] for kept in recent if kept and _same(kept[0], raw)), None)
    same = np.array([kept is not None and _same(kept[0], raw) for kept in recent], np.int64)
    known = np.flatnonzero(workers.smallest(same))
    found = recent[known[0]] if known.size else None
    return None if found is None else found[1]


def _queries(raw: RawData, workers: Workers) -> Queries:
    """The queries of this worker, or its rows of one list; a worker without rows has none."""
    if workers.size == 1 or (raw.sizes is not None and not workers.connected):
        return Queries(raw.labels, group=raw.sizes, weight=raw.weights, workers=workers)
    grouped = raw.sizes is not None
    kinds = np.array([grouped, raw.labels.size > 0 and not grouped], np.int64)
    with_queries, without = workers.largest(kinds)
    if with_queries and without:
        raise ValueError(
            "some workers have query groups and others have rows without: pass qid= (or group=) on "
            "all of them, or on none"
        )
    if with_queries:
        sizes = raw.sizes if raw.sizes is not None else np.empty(0)
        return Queries(raw.labels, group=sizes, weight=raw.weights, workers=workers)
    return Queries(raw.labels, weight=raw.weights, workers=workers)


# XGBoost ---------------------------------------------------------------------------------------


def _read_xgboost(data: Any) -> RawData:
    labels = data.get_label()
    if labels.size != data.num_row():
        raise ValueError(f"the DMatrix has {labels.size} labels for {data.num_row()} rows")
    bounds = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
    weight = data.get_weight()
    sizes = np.diff(bounds) if bounds.size > 1 else None
    return RawData(labels, sizes, weight if weight.size else None)


def _row_weights(raw: RawData) -> NDArray[Any] | None:
    """Row weights; XGBoost has one weight per query if there are queries."""
    if raw.weights is None or raw.sizes is None:
        return raw.weights
    if raw.weights.size != raw.sizes.size:
        raise ValueError(
            f"{raw.weights.size} weights for {raw.sizes.size} queries: with query groups "
            "XGBoost expects one weight per query, not per row"
        )
    return np.repeat(raw.weights, raw.sizes)


# LightGBM --------------------------------------------------------------------------------------


def _read_lightgbm(data: Any) -> RawData:
    # get_field reads LightGBM's own data; get_label and others may return what was set before.
    labels = data.get_field("label")
    labels = np.empty(0) if labels is None else labels
    return RawData(labels, _sizes(data, labels.size), data.get_field("weight"))


def _root(data: Any) -> tuple[Any, Ints | None]:
    """The data set from which a subset (of a subset ...) was taken, and its rows in that data."""
    rows: Ints | None = None
    while getattr(data, "used_indices", None) is not None and data.reference is not None:
        used = np.asarray(data.used_indices, dtype=np.int64)
        rows = used if rows is None else used[rows]
        data = data.reference
    return data, rows


def _group_field(data: Any) -> Ints | None:
    bounds = data.get_field("group")
    if bounds is None or len(bounds) < 2:
        return None
    sizes: Ints = np.asarray(bounds[1:], np.int64) - np.asarray(bounds[:-1], np.int64)
    return sizes


def _sizes(data: Any, n: int) -> Ints | None:
    sizes = _group_field(data)
    if sizes is None or sizes.sum() != n:  # LightGBM may lose the groups of a subset
        root, rows = _root(data)
        whole = None if rows is None else _group_field(root)
        if rows is not None and whole is not None:
            taken = np.bincount(np.repeat(np.arange(whole.size), whole)[rows], minlength=whole.size)
            return taken[taken > 0]
    return sizes


def _refuse_cut_queries(data: Any) -> None:
    root, rows = _root(data)
    sizes = None if rows is None else _group_field(root)
    if rows is None or sizes is None:
        return
    query = np.repeat(np.arange(sizes.size), sizes)
    taken = np.bincount(query[np.unique(rows)], minlength=sizes.size)
    cut = int(np.sum((taken > 0) & (taken < sizes)))
    own = _group_field(data)
    regrouped = own is not None and not np.array_equal(
        own, np.bincount(query[rows], minlength=sizes.size)[taken > 0]
    )
    if cut and not regrouped:
        raise ValueError(
            f"this subset of the data splits {cut} of {sizes.size} queries, as lgb.cv does by "
            "default: use lambdaplus.lightgbm.cv, or pass "
            "folds=sklearn.model_selection.GroupKFold(n_splits)"
        )


def refuse_bagging_by_query(params: Any) -> None:
    """Raise an error if these LightGBM parameters enable bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "with bagging_by_query=True, LightGBM learns nothing from a custom objective (it is "
            "supported by built-in objectives only): set it to False; bagging by rows works"
        )
