"""Estimators that take a framework's other parameters as keywords of their constructor."""

from __future__ import annotations

import difflib
import inspect
import numbers
from abc import ABC
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

from sklearn.base import BaseEstimator

from lambdaplus.training import LightGBM, XGBoost

Init = TypeVar("Init", bound=Callable[..., None])


class FrameworkParameters(BaseEstimator, ABC):  # type: ignore[misc]
    """Keeps ``**kwargs`` so that get_params, set_params and clone know them.

    What the framework does not know is refused at once, as Python refuses an argument that a
    function does not have: LightGBM would ignore it in silence.
    """

    # What was passed beyond the signature; replaced, never changed in place.
    _more: Mapping[str, Any] = MappingProxyType({})

    _framework: ClassVar[LightGBM | XGBoost]

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keep what the constructor was called with: its ``locals()``."""
        for name in self._get_param_names():
            if name in given:
                setattr(self, name, given[name])
        more = given["kwargs"]
        for name in more:
            problem = self._problem(name)
            if problem:
                raise TypeError(f"{type(self).__name__}() {problem}")
        if more:
            self._more = more

    def _problem(self, name: str) -> str:
        """Why a parameter can't be taken; empty if it can."""
        known = self._framework.names()
        own = self._get_param_names()
        if name not in known:
            close = [difflib.get_close_matches(name, names, n=1) for names in (own, known)]
            hint = f": did you mean {next(filter(None, close))[0]!r}?" if any(close) else ""
            return f"got an unexpected keyword argument {name!r}{hint}"
        mine = [other for other in own if known.get(other) == known[name]]
        return f"takes {name!r} under the name {mine[0]!r}" if mine else ""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, those passed beyond the signature included."""
        return {**super().get_params(deep=deep), **self._more}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, the framework's others included.

        Raises
        ------
        ValueError
            For a name that neither the estimator nor the framework knows.
        """
        own = self._get_param_names()
        more = {name: params[name] for name in params if name not in own and "__" not in name}
        for name in more:
            problem = self._problem(name)
            if problem:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}: {type(self).__name__}() "
                    f"{problem}"
                )
        super().set_params(**{name: params[name] for name in params if name not in more})
        if more:
            self._more = {**self._more, **more}
        return self


def takes_also(base: type) -> Callable[[Init], Init]:
    """Give a constructor that hands its ``**kwargs`` on to that of a base class its parameters too.

    `inspect.signature`, and with it get_params, clone and the documentation, then show all of them.
    """

    def with_signature(init: Init) -> Init:
        own, others = (inspect.signature(f).parameters for f in (init, base.__init__))  # type: ignore[misc]
        found = sorted({**others, **own}.values(), key=lambda parameter: parameter.kind)
        init.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
        return init

    return with_signature


def check_count(name: str, value: Any, *, optional: bool = False) -> None:
    """Raise unless a parameter is a whole number of at least 1, or None where that has a meaning.

    Raises
    ------
    ValueError
        With the name, what is allowed, and what was given.
    """
    if value is None and optional:
        return
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < 1:
        or_none = ", or None" if optional else ""
        raise ValueError(f"{name} must be a whole number of at least 1{or_none}; got {value!r}")
