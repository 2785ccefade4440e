"""How our estimators use the methods of their parent classes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def arguments(method: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name, without defaults; a TypeError for unknown ones."""
    found = inspect.signature(method).bind(*args, **kwargs).arguments
    return {**found, **found.pop("kwargs", {})}


def takes_also(parent: Callable[..., Any], *names: str) -> Callable[[Function], Function]:
    """Show the parent's parameters, and these, as a method's: metadata routing looks at them."""

    def with_signature(method: Function) -> Function:
        own = inspect.signature(method).parameters
        shown = {**inspect.signature(parent).parameters, **{name: own[name] for name in names}}
        method.__signature__ = inspect.Signature(list(shown.values()))  # type: ignore[attr-defined]
        return method

    return with_signature


def with_inherited_parameters(made: Class) -> Class:
    """Show the parameters of all parents as the constructor's: ``get_params`` looks at them."""
    found: dict[str, inspect.Parameter] = {}
    for base in made.__mro__[:-1]:
        if "__init__" in vars(base):
            found = {**inspect.signature(vars(base)["__init__"]).parameters, **found}
    shown = sorted(found.values(), key=lambda parameter: parameter.kind)
    made.__init__.__signature__ = inspect.Signature(shown)  # type: ignore[misc]
    return made


@contextmanager
def replaced(estimator: Any, **values: Any) -> Iterator[None]:
    """While the parent trains, it finds values that it understands in these attributes."""
    attributes = vars(estimator)
    before = {name: attributes[name] for name in values if name in attributes}
    attributes.update(values)
    try:
        yield
    finally:
        for name in values:
            attributes.pop(name, None)
        attributes.update(before)


def refuse_other_models(name: str, given: Any, *kinds: type) -> None:
    """Raise unless the model to continue from is one: LightGBM would train from scratch."""
    if given is not None and not isinstance(given, (str, os.PathLike, *kinds)):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be a {allowed}, or the name of a file; got {given!r}")
