"""Base class of the estimators, and helpers for arguments of their parents' methods."""

import inspect
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from lambdaplus.compute.arguments import from_gpu, plain
from lambdaplus.frameworks.data_sets import readable


class ArgumentNames(NamedTuple):
    """Names of arguments of fit, in which the frameworks differ."""

    start: str
    eval_start: str
    eval_weights: str
    model: str


class FrameworkEstimator:
    """A subclass of a framework's estimator, which has all of its parent's parameters."""

    _own_parameters: ClassVar[tuple[str, ...]] = ("eval_metric",)  # not known to the framework
    _framework: ClassVar[Literal["LightGBM", "XGBoost"]]
    _names: ClassVar[ArgumentNames]
    _one_ranking: ClassVar = False  # whether all rows are one, for any metric

    objective: Any
    eval_metric: Any
    _train: Callable[..., None]  # trains with the arguments of a call of the parent's fit

    def _refuse_other_columns(self, X: Any, where: str = "X") -> None:
        """Raise a ValueError for columns of other names, or another order, than those of `fit`."""
        known, given = vars(self).get("_trained_columns"), columns_of(X)
        if known is None or given is None:
            return
        for i, (column, trained) in enumerate(zip_longest(given, known)):
            if str(column) != str(trained):  # a saved model has texts
                raise ValueError(
                    f"{where} has {column!r} as column {i}, which was {trained!r} in fit: pass the "
                    "columns of fit, in their order"
                )

    def _readable(self, X: Any) -> Any:
        """The features for a prediction, with the columns of `fit`, as the framework reads them."""
        self._refuse_other_columns(X)
        return readable("X", X, self._framework)


def arguments(method: Callable[..., Any], **given: Any) -> dict[str, Any]:
    """The arguments of a call by name; a TypeError for unknown ones, a ValueError for masks.

    Arrays of a GPU are converted; X may stay there, and y is converted where it is checked.
    """
    bound = inspect.signature(method).bind(**given).arguments
    bound |= bound.pop("kwargs", {})
    for name, value in bound.items():
        refuse_masked(name, value)
    return {k: v if k in ("X", "y") else all_from_gpu(v) for k, v in bound.items()}


def all_from_gpu(value: Any) -> Any:
    """Convert an array of a GPU, or those in a list."""
    return [*map(from_gpu, value)] if isinstance(value, list) else from_gpu(value)


def refuse_masked(name: str, value: Any) -> None:
    """Raise a ValueError for arrays with masked entries, also in lists and pairs of arrays."""
    if isinstance(value, np.ma.MaskedArray):
        plain(value, name)
    elif isinstance(value, list | tuple) and value and hasattr(value[0], "__len__"):
        for inner in value:
            refuse_masked(name, inner)


def columns_of(X: Any) -> list[Any] | None:
    """The names of the columns of a frame or table; None for anything else."""
    names = getattr(X, "column_names", None)  # of pyarrow, whose columns are the data
    if names is None and hasattr(X, "dtypes"):
        names = getattr(X, "columns", None)
    return None if names is None else list(names)


def evaluation_sets(call: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The evaluation sets of a call of fit, from ``eval_set`` or ``eval_X`` and ``eval_y``."""
    if call.get("eval_set") is not None:
        return [call["eval_set"]] if isinstance(call["eval_set"], tuple) else list(call["eval_set"])
    X, y = call.get("eval_X"), call.get("eval_y")
    if X is None or y is None:  # LightGBM raises an error if only one is missing
        return []
    return list(zip(X, y, strict=True)) if isinstance(X, tuple) else [(X, y)]


def replace_evaluation_sets(call: dict[str, Any], sets: list[tuple[Any, Any]]) -> None:
    if call.get("eval_set") is not None:
        call["eval_set"] = sets
    elif sets:
        call["eval_X"], call["eval_y"] = (tuple(part) for part in zip(*sets, strict=True))


def make_readable(call: dict[str, Any], framework: Any) -> None:
    """Replace the features of training data and evaluation sets by what the framework reads."""
    given, X = call["X"], readable("training data", call["X"], framework)
    sets = [
        (X if part is given else readable(f"evaluation set {i}", part, framework), y)
        for i, (part, y) in enumerate(evaluation_sets(call))
    ]
    call["X"] = X
    replace_evaluation_sets(call, sets)


def each(argument: Any, n: int) -> list[Any]:
    """An ``eval_...`` argument as a list with an entry, which may be None, for each set."""
    if argument is None or (isinstance(argument, list | tuple) and not argument):
        return [None] * n
    listed = isinstance(argument, list) and (argument[0] is None or hasattr(argument[0], "__len__"))
    by_set = [argument] if n == 1 and not listed else list(argument)
    if len(by_set) > n:
        raise ValueError(f"an eval_ argument has {len(by_set)} entries for {n} evaluation sets")
    return [*by_set, *[None] * (n - len(by_set))]
