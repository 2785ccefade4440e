"""Base class of the estimators, and helpers for arguments of their parents' methods."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from lambdaplus.compute.arrays import from_gpu
from lambdaplus.frameworks.data_sets import canonical


class ArgumentNames(NamedTuple):
    """Names of arguments of fit, in which the frameworks differ."""

    start: str
    eval_start: str
    eval_weights: str
    model: str


class FrameworkEstimator:
    """A subclass of a framework's estimator, which has all of its parent's parameters."""

    _own_parameters: ClassVar[tuple[str, ...]] = ("eval_metric",)  # not known to the framework
    _names: ClassVar[ArgumentNames]
    _one_ranking: ClassVar = False  # whether all rows are one, for any metric

    objective: Any
    eval_metric: Any
    _train: Callable[..., None]  # trains with the arguments of a call of the parent's fit

    _columns: list[Any] | None = None  # of the frame that fit was given
    _levels: Mapping[str, Sequence[str]] = {}  # of its categories

    def _prepare(self, call: dict[str, Any]) -> None:
        """Remember the columns of a call of fit, and make its features as in `_features`."""
        given, self._columns = call["X"], columns_of(call["X"])
        self._levels = levels_of(given)
        call["X"] = self._readable(given)
        # The frameworks recognise the training data among evaluation sets.
        call["eval_set"] = [
            (call["X"] if X is given else self._features(X), y)
            for X, y in call.get("eval_set") or ()
        ] or None

    def _features(self, X: Any) -> Any:
        """Sparse features as the frameworks read them right, and frames if they have the columns.

        A ValueError is raised for columns of other names, or in another order, than those of `fit`.
        """
        columns = columns_of(X)
        if self._columns is not None and columns is not None and columns != self._columns:
            raise ValueError(
                f"the columns {columns} are not those of fit, in their order: {self._columns}"
            )
        return self._readable(X)

    def _readable(self, X: Any) -> Any:
        return canonical(X)


def arguments(method: Callable[..., Any], **given: Any) -> dict[str, Any]:
    """The arguments of a call by name, evaluation sets as a list; a TypeError for unknown ones.

    Arrays of a GPU are converted; X may stay there, and y is converted where it is checked.
    """
    bound = inspect.signature(method).bind(**given).arguments
    bound |= bound.pop("kwargs", {})
    call = {k: v if k in ("X", "y") else all_from_gpu(v) for k, v in bound.items()}
    sets = call.get("eval_set")
    if sets is None and call.get("eval_X") is not None and call.get("eval_y") is not None:
        X, y = call.pop("eval_X"), call.pop("eval_y")  # LightGBM's newer form
        sets = zip(X, y, strict=True) if isinstance(X, tuple) else [(X, y)]
    if sets is not None:
        call["eval_set"] = [sets] if isinstance(sets, tuple) else list(sets)
    return call


def all_from_gpu(value: Any) -> Any:
    """Convert an array of a GPU, or those in a list."""
    return [*map(from_gpu, value)] if isinstance(value, list) else from_gpu(value)


def columns_of(X: Any) -> list[Any] | None:
    """The names of the columns of a frame or table; None for anything else."""
    names = getattr(X, "column_names", None)  # of pyarrow, whose columns are the data
    if names is None and hasattr(X, "dtypes"):
        names = getattr(X, "columns", None)
    return None if names is None else list(names)


def levels_of(X: Any) -> dict[str, list[str]]:
    """The values of each category of a frame of pandas, as text; of true and false, none."""
    types: Any = getattr(X, "dtypes", None)
    if not hasattr(types, "items"):
        return {}
    levels: dict[str, list[str]] = {}
    for name, dtype in types.items():
        if hasattr(dtype, "categories"):
            levels[str(name)] = [*map(str, dtype.categories)]
        elif getattr(dtype, "kind", "") == "b":
            levels[str(name)] = []
    return levels


def each(argument: Any, n: int) -> list[Any]:
    """An ``eval_...`` argument as a list with an entry, which may be None, for each set."""
    if argument is None or (isinstance(argument, list | tuple) and not argument):
        return [None] * n
    listed = isinstance(argument, list) and (argument[0] is None or hasattr(argument[0], "__len__"))
    by_set = [argument] if n == 1 and not listed else list(argument)
    if len(by_set) > n:
        raise ValueError(f"an eval_ argument has {len(by_set)} entries for {n} evaluation sets")
    return [*by_set, *[None] * (n - len(by_set))]
