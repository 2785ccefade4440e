"""The types of the values of a configuration, and the ranges of its numbers."""

import math
from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_origin

from lambdaplus.compute.arguments import number, whole_number

_LEAST = {"trials": 0, "rounds": 1, "patience": 1, "every": 1}
_ABOVE_0 = {"rate": 1.0, "margin": math.inf, "see": math.inf, "budget": math.inf}  # and at most
_KINDS: dict[Any, tuple[str, str, Any]] = {
    str: ("text", "texts", str),
    int: ("a whole number", "whole numbers", int),
    float: ("a number", "numbers", int | float),
}


def check_values(config: Any) -> None:
    """Raise a ValueError for a value of the wrong type, or a number out of its range."""
    for option in fields(config):
        _check_type(option.name, getattr(config, option.name), option.type)
    for name, least in _LEAST.items():
        if (value := getattr(config, name)) is not None:
            whole_number(name, value, least, below=2**31)
    for name, most in _ABOVE_0.items():
        if (value := getattr(config, name)) is not None:
            number(name, value, most=most)


def _check_type(name: str, value: Any, kind: Any) -> None:
    """Raise a ValueError if the value is not of the type that a field is annotated with."""
    if isinstance(kind, UnionType):  # with None, for a default
        if value is None:
            return
        kind = get_args(kind)[0]
    listed = get_origin(kind) is tuple
    singular, plural, types = _KINDS.get(
        get_args(kind)[0] if listed else kind, ("a table", "", Mapping)
    )
    values = value if listed and isinstance(value, tuple) else [value]
    right = isinstance(value, tuple) == listed and all(
        isinstance(item, types) and not isinstance(item, bool) for item in values
    )
    if not right:
        raise ValueError(
            f"{name} = {value!r} should be {f'a list of {plural}' if listed else singular}"
        )
