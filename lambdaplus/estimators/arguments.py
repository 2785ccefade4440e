"""Arguments of the methods of the frameworks' estimators, by name and in forms that these take."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from lambdaplus.lists.columns import from_gpu, from_narwhals
from lambdaplus.lists.single_precision import refuse_unusable_start
from lambdaplus.lists.vectors import as_vector

_VECTORS = ("sample_weight", "init_score", "base_margin", "group", "feature_weights")
_OF_SETS = (
    "eval_group", "eval_sample_weight", "eval_init_score", "sample_weight_eval_set",
    "base_margin_eval_set",
)  # fmt: skip
_STARTS = ("init_score", "base_margin")


@lru_cache(maxsize=64)  # making one takes a fifth of the time of predicting a row
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def arguments(method: Any, *by_position: Any, **given: Any) -> dict[str, Any]:
    """The arguments of a call of a bound method, by name; a TypeError for unknown ones.

    Evaluation sets are a list.  Weights, initial scores and sizes of queries are vectors; X and y
    are converted where they are checked.
    """
    function = method.__func__
    if function.__module__.startswith("lightgbm."):
        _take_newer_form(given)
    bound = _signature(function).bind(method.__self__, *by_position, **given).arguments
    bound |= bound.pop("kwargs", {})
    bound.pop("self")
    read = {**dict.fromkeys(_VECTORS, as_vector), **dict.fromkeys(_OF_SETS, vectors)}
    call = {name: read.get(name, from_narwhals)(value) for name, value in bound.items()}
    for name in _STARTS:
        refuse_unusable_start(call.get(name), name)
    sets = call.get("eval_set")
    if sets is not None:
        pairs = not isinstance(sets, tuple) or all(isinstance(one, tuple) for one in sets)
        listed = list(sets) if pairs else [sets]
        call["eval_set"] = [tuple(map(from_narwhals, one)) for one in listed]
    return call


def _take_newer_form(given: dict[str, Any]) -> None:
    """Evaluation sets in the form of LightGBM 4.7 as those of any version."""
    of_sets = [given.get(name) for name in ("eval_X", "eval_y", "eval_set")]
    if [one is None for one in of_sets] == [False, False, True]:
        X, y = given.pop("eval_X"), given.pop("eval_y")
        given["eval_set"] = [*zip(X, y, strict=True)] if isinstance(X, tuple) else [(X, y)]


def vectors(value: Any) -> Any:
    """The vectors of several sets, in a list, tuple or dictionary; `by_set` reads other forms."""
    if isinstance(value, dict):
        return {name: as_vector(one) for name, one in value.items()}
    return [*map(as_vector, value)] if isinstance(value, list | tuple) else from_gpu(value)


def by_set(name: str, argument: Any, n: int) -> list[Any]:
    """The argument of this name as a list with an entry, which may be None, for each set.

    In a dictionary, as LightGBM takes it, keys are the numbers of sets.  A ValueError is raised for
    a list of another length: LightGBM would take the sets without an entry as unweighted.
    """
    if argument is None or (isinstance(argument, list | tuple | dict) and not argument):
        return [None] * n
    if isinstance(argument, dict):
        if unknown := set(argument) - set(range(n)):
            raise ValueError(
                f"{name} has entries for {sorted(unknown, key=str)}, and the {n} "
                "evaluation sets are numbered from 0"
            )
        return [*map(argument.get, range(n))]
    listed = isinstance(argument, list | tuple) and (
        argument[0] is None or hasattr(argument[0], "__len__")
    )
    entries = [argument] if n == 1 and not listed else list(argument)
    if len(entries) != n:
        raise ValueError(
            f"{name} has {len(entries)} entries for {n} evaluation sets: pass a list with one for "
            "each, which is None for a set without"
        )
    return [*map(as_vector, entries)]
