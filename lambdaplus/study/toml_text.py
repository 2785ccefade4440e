"""Writing of configurations as TOML, and type checks of their values.

The standard library can read TOML but not write it.

Examples
--------
>>> from lambdaplus.study.toml_text import is_a, to_toml, words_for
>>> print(to_toml({"data": "a b.txt", "seeds": (0, 1), "grid": {"svm:map": {"C": [0.5]}}}))
data = "a b.txt"
seeds = [0, 1]
<BLANKLINE>
[grid."svm:map"]
C = [0.5]
>>> is_a(tuple[int, ...], (0, True)), words_for(tuple[int, ...])
(False, 'a list of whole numbers')
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

_ONE = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_MANY = {str: "texts", int: "whole numbers", float: "numbers"}


def is_a(kind: Any, value: Any) -> bool:
    """Whether the value has the type ``kind``, an annotation; integers are numbers, too."""
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(is_a(get_args(kind)[0], one) for one in value)
    if get_origin(kind) is not None:
        return isinstance(value, Mapping)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def words_for(kind: Any) -> str:
    """The name of the type ``kind`` in a message."""
    if get_origin(kind) is tuple:
        return f"a list of {_MANY[get_args(kind)[0]]}"
    return _ONE.get(kind, "a table")


def to_toml(items: Mapping[str, Any]) -> str:
    """Write the items as TOML: values first, then nested tables.

    Raises
    ------
    ValueError
        For values that TOML does not support, such as None.
    """
    plain = {name: value for name, value in items.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name in items.keys() - plain.keys():
        for inner, table in items[name].items():
            lines += ["", f"[{_key(name)}.{_key(inner)}]"]
            lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    raise ValueError(
        f"{value!r} cannot be written in TOML, which supports text, numbers, true and false"
    )


def _text(text: str) -> str:
    """Quote the text; the name of a file may contain characters that are not valid Unicode."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError(f"{text!r} is not valid Unicode and cannot be written in TOML: rename it")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
