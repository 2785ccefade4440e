"""The rates of the exponentials are the best by the program that finds them."""

import importlib
from pathlib import Path
from typing import Any

import pytest

FAMILIES = {"logistic": 3e-7, "damped": 2.1e-3}


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    return importlib.import_module("rates")


@pytest.mark.parametrize("name", FAMILIES)
def test_no_rate_that_is_a_little_larger_or_smaller_has_a_smaller_error(
    rates: Any, name: str
) -> None:
    family = rates.families()[name]
    error = family.error(family.rates(family.free))
    assert error < FAMILIES[name]
    for i, step in ((i, step) for i in range(family.free.size) for step in (0.98, 1.02)):
        moved = family.free.copy()
        moved[i] = family.base[i] + step * (moved[i] - family.base[i])
        assert family.error(family.rates(moved)) > 0.98 * error
