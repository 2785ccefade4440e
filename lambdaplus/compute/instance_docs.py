"""Documentation of objects, which ``help()`` and IPython's ``?`` show instead of their class's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type)


class _Documentation(str):
    """The docstring of a class, as its ``__doc__``; an instance gets what ``make`` returns.

    It is text, since pydoc reads the attribute of a class without ``__get__``.
    """

    __slots__ = ("make",)
    make: Callable[[Any], str]

    def __get__(self, instance: Any, owner: type) -> str:
        return str(self) if instance is None else self.make(instance)


def documented_by(make: Callable[[Any], str]) -> Callable[[T], T]:
    """Decorate a class whose instances are documented by a function of the instance."""

    def decorate(cls: T) -> T:
        documentation = _Documentation(cls.__doc__)
        documentation.make = make
        cls.__doc__ = documentation
        return cls

    return decorate
