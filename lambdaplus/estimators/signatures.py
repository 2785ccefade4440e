"""Signatures with the names that their parents take, of methods and constructors.

scikit-learn's metadata routing reads the names of arguments from the signature of a class's own
methods, and makes `set_fit_request` and the like of them.
"""

import copy
import inspect
import types
from collections.abc import Callable, Collection
from functools import update_wrapper
from typing import Any, TypeVar

_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_OWN = __name__.partition(".")[0]  # the package
_Constructor = TypeVar("_Constructor", bound=Callable[..., None])


def show_names_of_parents(
    kind: type, methods: dict[str, str], hidden: dict[str, Collection[str]]
) -> None:
    """Give methods that ``kind`` inherits from this package the signatures of its parent's.

    ``methods`` has the parent's method for each; names that the parent has not follow at the end,
    and arguments that are ``hidden`` are left out.  A method that has a signature, as in a subclass
    of an estimator, keeps it.
    """
    for name, of_parent in methods.items():
        found = inspect.getattr_static(kind, name, None)
        function = getattr(found, "fn", found)  # behind scikit-learn's available_if
        parent = _of_framework(kind, of_parent)
        is_ours = str(getattr(function, "__module__", "")).startswith(f"{_OWN}.")
        if parent is None or not is_ours or hasattr(function, "__signature__"):
            continue
        shown = types.FunctionType(
            function.__code__, function.__globals__, name, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        update_wrapper(shown, function)
        shown.__kwdefaults__ = function.__kwdefaults__
        shown.__module__, shown.__qualname__ = kind.__module__, f"{kind.__qualname__}.{name}"
        del vars(shown)["__wrapped__"]  # which help and scikit-learn would read
        vars(shown)["__signature__"] = _merged(function, parent, hidden.get(name, ()))
        if function is not found:
            available = copy.copy(found)
            available.fn = shown
            setattr(kind, name, available)
        else:
            setattr(kind, name, shown)


def with_parameters_of(parent: Any) -> Callable[[_Constructor], _Constructor]:
    """Show the parameters of LightGBM's class in a signature, where scikit-learn reads them."""

    def shown(constructor: _Constructor) -> _Constructor:
        own = dict(inspect.signature(constructor).parameters)
        others = own.pop("kwargs")
        theirs = (
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)  # in any LightGBM 4
            for parameter in inspect.signature(parent).parameters.values()
            if parameter.name not in (*own, "kwargs")
        )
        vars(constructor)["__signature__"] = inspect.Signature([*own.values(), *theirs, others])
        return constructor

    return shown


def _of_framework(kind: type, name: str) -> Callable[..., Any] | None:
    """The first method of this name that is not of this package."""
    for parent in kind.__mro__:
        found = vars(parent).get(name)
        if found is not None and parent.__module__.partition(".")[0] in ("lightgbm", "xgboost"):
            return found  # type: ignore[no-any-return]
    return None


def _merged(
    own: Callable[..., Any], parent: Callable[..., Any], hidden: Collection[str]
) -> inspect.Signature:
    ours, theirs = (inspect.signature(one).parameters for one in (own, parent))
    known = {name: one for name, one in theirs.items() if name not in hidden}
    added = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in ours.items()
        if name not in known and parameter.kind not in _VARIABLE
    ]
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in known.values()]
    rest = [one for one in plain if one.kind is inspect.Parameter.VAR_KEYWORD]
    named = [one for one in plain if one not in rest]
    return inspect.Signature(
        [*named, *added, *rest], return_annotation=inspect.signature(own).return_annotation
    )
