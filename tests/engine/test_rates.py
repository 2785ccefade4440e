"""The rates of the exponentials are the best by the program that finds them."""

import importlib
from typing import Any

import pytest
from places import ROOT


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("rates")


def test_no_rate_that_is_a_little_larger_or_smaller_has_a_smaller_error(rates: Any) -> None:
    free = rates.FREE
    error = rates.error_of(rates.with_fixed(free))
    assert error < 3e-7
    for i, step in ((i, step) for i in range(free.size) for step in (0.98, 1.02)):
        moved = free.copy()
        moved[i] = 1.0 + step * (moved[i] - 1.0)
        assert rates.error_of(rates.with_fixed(moved)) > 0.98 * error
