"""Base class of the estimators, and helpers for arguments of their parents' methods."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Literal, NamedTuple
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator

from lambdaplus.compute.arguments import from_gpu, plain
from lambdaplus.frameworks.data_sets import readable
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective


class ArgumentNames(NamedTuple):
    """Names of arguments of fit, in which the frameworks differ."""

    start: str
    eval_start: str
    eval_weights: str
    model: str


_originals: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # names of estimators with clones


class FrameworkEstimator:
    """A subclass of a framework's estimator, which has all of its parent's parameters."""

    _own_parameters: ClassVar[tuple[str, ...]] = ("eval_metric",)  # not known to the framework
    _framework: ClassVar[Literal["LightGBM", "XGBoost"]]
    _names: ClassVar[ArgumentNames]
    _one_ranking: ClassVar = False  # whether all rows are one, for any metric

    objective: Any
    eval_metric: Any
    _train: Callable[..., None]  # calls the parent's fit with what it understands

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Add inherited parameters to signatures, from which scikit-learn reads them."""
        parents = [base for base in cls.__mro__[1:] if issubclass(base, BaseEstimator)]
        if parents:
            constructors = [
                vars(base)["__init__"] for base in cls.__mro__[:-1] if "__init__" in vars(base)
            ]
            cls.__init__ = _with_parameters_of(constructors, cls.__init__)  # type: ignore[method-assign]
            cls.fit = _with_parameters_of([parents[0].fit], cls.fit)  # type: ignore[attr-defined]
        super().__init_subclass__(**kwargs)

    def __sklearn_clone__(self) -> Any:
        """A clone, which knows of what: all models of a search are clones of one estimator."""
        clone = super().__sklearn_clone__()  # type: ignore[misc]
        clone._clone_of = vars(self).get("_clone_of") or _originals.setdefault(self, uuid4().hex)
        return clone

    @property
    def _training(self) -> str:
        """What warnings are given once for: this fit, or all fits of the clones of an estimator."""
        return vars(self).get("_clone_of") or uuid4().hex

    def _refuse_other_columns(self, X: Any, where: str = "X") -> None:
        """Raise a ValueError for columns of other names, or another order, than those of `fit`."""
        known, given = vars(self).get("_trained_columns"), columns_of(X)
        if known is None or given is None:
            return
        texts, texts_given = [*map(str, known)], [*map(str, given)]  # a saved model has texts
        if texts == texts_given:
            return
        same = sorted(texts) == sorted(texts_given)
        if same or all(isinstance(name, str) for name in (*known, *given)):
            pairs = enumerate(zip(known, given, strict=False))
            differ = [
                f"{given!r} as column {i}, which was {known!r} in fit"
                for i, (known, given) in pairs
                if given != known
            ] or [f"{len(given)} columns, and fit had {len(known)}"]
            raise ValueError(f"{where} has {differ[0]}: pass the columns of fit, in their order")

    def _readable(self, X: Any) -> Any:
        """The features for a prediction, with the columns of `fit`, as the framework reads them."""
        self._refuse_other_columns(X)
        return readable("X", X, self._framework)

    def _for_framework(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters without those that the framework does not know."""
        ours = set(self._own_parameters)
        if isinstance(find_objective(params.get("objective")), Objective):
            ours.add("objective")
        kept = {name: value for name, value in params.items() if name not in ours}
        if callable(called := kept.get("objective")):  # what LightGBM makes of it
            shown = repr(find_objective(self.objective, self._one_ranking))
            kept["objective"] = _Named(called, shown)
        return kept


class _Named(NamedTuple):
    """A function with this ``repr``, which MLflow records."""

    called: Callable[..., Any]
    name: str

    def __call__(self, *args: Any) -> Any:
        return self.called(*args)

    def __repr__(self) -> str:
        return self.name


def _with_parameters_of(parents: Sequence[Any], method: Any) -> Any:
    """The method with a signature of the parents' parameters and its own keywords."""
    own = inspect.signature(method).parameters
    shown = {name: each for name, each in own.items() if each.kind is each.KEYWORD_ONLY}
    for parent in parents:
        shown = {**inspect.signature(parent).parameters, **shown}

    @wraps(method)
    def with_signature(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *args, **kwargs)

    parameters = sorted(shown.values(), key=lambda parameter: parameter.kind)
    with_signature.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return with_signature


def arguments(method: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name; a TypeError for unknown ones, a ValueError for masks.

    Arrays of a GPU are converted; X may stay there, and y is converted where it is checked.
    """
    bound = inspect.signature(method).bind(*args, **kwargs).arguments
    bound |= bound.pop("kwargs", {})
    for name, value in bound.items():
        refuse_masked(name, value)
    return {k: v if k in ("X", "y") else all_from_gpu(v) for k, v in bound.items()}


def all_from_gpu(value: Any) -> Any:
    """Convert an array of a GPU, or those in a list."""
    return [*map(from_gpu, value)] if isinstance(value, list) else from_gpu(value)


@contextmanager
def replaced(estimator: Any, **values: Any) -> Iterator[None]:
    """Replace attributes temporarily, by values that the parent's fit supports."""
    attributes = vars(estimator)
    before = {name: attributes[name] for name in values if name in attributes}
    attributes.update(values)
    try:
        yield
    finally:
        for name in values:
            attributes.pop(name, None)
        attributes.update(before)


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
