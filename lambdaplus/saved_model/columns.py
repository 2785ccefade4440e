"""The columns of a model: numbers, flags and categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LEFT_OUT = "left out"
OF_MODEL = "The model was trained with these columns"


class Column(NamedTuple):
    """What a column of a table is, and why.

    Attributes
    ----------
    kind : str
        number, flag (true or false), category, or "left out".
    levels : sequence of str
        The values of a category, in the order of their codes 0, 1, ...
    """

    name: str
    kind: str = "number"
    why: str = ""
    levels: Sequence[str] = ()


def are_whole_numbers(levels: Sequence[str]) -> bool:
    """Whether there are levels, all of them texts of whole numbers, so that 1.0 is 1."""
    return bool(levels) and all(re.fullmatch("-?[0-9]+", level) for level in levels)
