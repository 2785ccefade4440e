"""What LightGBM and XGBoost hand to an objective or a metric, read as scores and `Queries`.

Neither framework is imported here: their data sets are recognised by where their class comes from.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lambdaplus.queries import Ints, Queries

Framework = Literal["lightgbm", "xgboost", "arrays"]


class Facts(NamedTuple):
    """What a framework knows of its rows, as it has it."""

    labels: NDArray[Any]
    sizes: NDArray[Any] | None
    weights: NDArray[Any] | None


_lock = threading.Lock()
_by_data_set: WeakKeyDictionary[Any, tuple[Facts, Queries]] = WeakKeyDictionary()
_by_content: deque[tuple[Facts, Queries]] = deque(maxlen=4)  # estimators pass arrays, each round


class Call(NamedTuple):
    """One call by a framework: whose it is, the scores, and what they are for."""

    framework: Framework
    scores: Any
    queries: Queries


def read_call(first: Any, second: Any, weight: Any = None, group: Any = None) -> Call:
    """Sort out ``(scores, data set)`` and ``(labels, scores, weight, group)``.

    Raises
    ------
    ValueError
        If labels, groups or weights can't be used, or a LightGBM data set holds parts of queries.
    """
    framework = framework_of(second)
    if framework == "arrays":
        arrays = Facts(np.asarray(first), _optional(group), _optional(weight))
        return Call(framework, second, _from_arrays(arrays))
    read = _read_lightgbm if framework == "lightgbm" else _read_xgboost
    return Call(framework, first, _from_data_set(second, read(second)))


def framework_of(data: Any) -> Framework:
    """Whose data set this is; "arrays" if it is none."""
    for kind in type(data).__mro__:
        root = kind.__module__.partition(".")[0]
        if root == "lightgbm":
            return "lightgbm"
        if root == "xgboost":
            return "xgboost"
    return "arrays"


def _optional(values: Any) -> NDArray[Any] | None:
    return None if values is None else np.asarray(values)


def _same(known: Facts, facts: Facts) -> bool:
    """Whether nothing changed.  Compared by content: objects are reused, and arrays written to."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in zip(known, facts, strict=True)
    )


def _copies(facts: Facts) -> Facts:
    return Facts(*(None if array is None else array.copy() for array in facts))  # type: ignore[arg-type]


def _from_data_set(data: Any, facts: Facts) -> Queries:
    with _lock:
        known = _by_data_set.get(data)
    if known is not None and _same(known[0], facts):
        return known[1]
    if framework_of(data) == "lightgbm":
        _refuse_cut_queries(data)
        weights = facts.weights
    else:
        weights = _row_weights(facts)
    queries = Queries(facts.labels, group=facts.sizes, weight=weights)
    with _lock:
        _by_data_set[data] = (_copies(facts), queries)
    return queries


def _from_arrays(facts: Facts) -> Queries:
    with _lock:
        recent = list(_by_content)
    for known, queries in recent:
        if _same(known, facts):
            return queries
    queries = Queries(facts.labels, group=facts.sizes, weight=facts.weights)
    with _lock:
        _by_content.append((_copies(facts), queries))
    return queries


# XGBoost ---------------------------------------------------------------------------------------


def _read_xgboost(data: Any) -> Facts:
    labels = data.get_label()
    if labels.size != data.num_row():
        raise ValueError(f"the DMatrix has {labels.size} labels for {data.num_row()} rows")
    bounds = np.asarray(data.get_uint_info("group_ptr"), dtype=np.int64)
    weight = data.get_weight()
    sizes = np.diff(bounds) if bounds.size > 1 else None
    return Facts(labels, sizes, weight if weight.size else None)


def _row_weights(facts: Facts) -> NDArray[Any] | None:
    """Row weights; XGBoost keeps one per query if there are queries."""
    if facts.weights is None or facts.sizes is None:
        return facts.weights
    if facts.weights.size != facts.sizes.size:
        raise ValueError(
            f"{facts.weights.size} weights for {facts.sizes.size} queries: with query groups "
            "XGBoost takes one weight per query, not per row"
        )
    return np.repeat(facts.weights, facts.sizes)


# LightGBM --------------------------------------------------------------------------------------


def _read_lightgbm(data: Any) -> Facts:
    # get_field asks LightGBM itself; get_label and its like may answer what was set before.
    labels = data.get_field("label")
    labels = np.empty(0) if labels is None else labels
    return Facts(labels, _sizes(data, labels.size), data.get_field("weight"))


def _root(data: Any) -> tuple[Any, Ints | None]:
    """The data set that a subset (of a subset ...) was taken from, and its rows in there."""
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
            f"this subset of the data cuts {cut} of {sizes.size} queries apart, as lgb.cv does by "
            "default: use lambdaplus.lightgbm.cv, or pass "
            "folds=sklearn.model_selection.GroupKFold(n_splits)"
        )


def refuse_bagging_by_query(data: Any) -> None:
    """Raise if LightGBM bags by query, which makes a custom objective learn nothing.

    The parameters that count are the Booster's, some frames above us; those kept with the data set
    may be of another run.
    """
    frame = sys._getframe(1)
    params = getattr(data, "params", None) or {}
    for _ in range(8):
        if frame.f_back is None:
            break
        frame = frame.f_back
        caller: Any = frame.f_locals.get("self")
        if type(caller).__name__ == "Booster" and framework_of(caller) == "lightgbm":
            params = caller.params
            break
    refuse_bagging_by_query_in(params)


def refuse_bagging_by_query_in(params: Any) -> None:
    """Raise if these LightGBM parameters ask for bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "bagging_by_query=True makes LightGBM learn nothing from a custom objective (it works "
            "inside the built-in ones): set it to False; bagging by rows works"
        )
