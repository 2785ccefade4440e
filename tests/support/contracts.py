"""Contracts: tables in which a row is an input and its right value; a new fault is a new row.

A right value is compared with what the input gives, exactly up to rounding errors; `Raises` and
`Warns` are values, too.  Where no warning is expected, one of lambdaplus fails the row.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest


class Raises(NamedTuple):
    """An error; one of its notes may hold the message."""

    message: str  # a regular expression
    kind: type[BaseException] = ValueError


class Warns(NamedTuple):
    """Warnings of lambdaplus, and of no other text."""

    message: str  # a regular expression
    times: int = 1


Rows = Mapping[str, tuple[Callable[..., Any], Any]]


def contract(rows: Rows) -> Any:
    """Run a test for each row, with its input as ``act`` and its right value as ``right``."""
    return pytest.mark.parametrize(("act", "right"), rows.values(), ids=rows)


def hold(act: Callable[..., Any], right: Any, *arguments: Any) -> None:
    """Check one row; a function as right value is called for it."""
    if isinstance(right, Raises):
        with pytest.raises(right.kind, match=right.message):
            act(*arguments)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = act(*arguments)
    told = [str(one.message) for one in caught if one.category is UserWarning]
    of_frameworks = r"Found 'eval_at' in params|\[\d|Unknown data type|Converting data"
    told = [one for one in told if not re.match(of_frameworks, one)]
    if isinstance(right, Warns):
        assert len(told) == right.times, told
        assert all(re.search(right.message, one) for one in told), told
        return
    assert not told
    np.testing.assert_equal(
        _rounded(found), _rounded(right(*arguments) if callable(right) else right)
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_rounded, value)]
    array = np.asarray(value)
    return array.astype(np.float64).round(6).tolist() if array.dtype.kind == "f" else array.tolist()
