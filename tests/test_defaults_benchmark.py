"""The rule that chooses defaults, and the errors it uses, on made-up trainings."""

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def defaults(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("defaults")


def by_pair(values):
    index = pd.MultiIndex.from_tuples(values, names=["set", "draw"])
    return pd.Series(list(values.values()), index=index)


def test_a_set_counts_by_its_weight_however_many_draws_it_has(defaults):
    values = by_pair({("a", 0): 1.0, ("b", 0): 3.0, ("b", 1): 5.0})
    mean, error = defaults.mean_and_error(values, {"a": 1.0, "b": 3.0})
    assert mean == pytest.approx((1 + 3 * 4) / 4)
    squares = [(0.25 * (1 - mean)) ** 2, (0.375 * (3 - mean)) ** 2, (0.375 * (5 - mean)) ** 2]
    assert error == pytest.approx(np.sqrt(sum(squares) * 3 / 2))


@pytest.mark.parametrize(("swing", "chosen"), [(0.01, "map"), (0.001, "map, noise")])
def test_the_cheapest_within_an_error_of_the_best_is_chosen(defaults, swing, chosen):
    names = {"map": 0.0, "map, noise": 0.003}
    rows = [
        (framework, name, "s", draw, "map", value + swing * (-1) ** draw * (name == "map"), 100)
        for framework in ("lightgbm", "xgboost")
        for draw in range(8)
        for name, value in (names | dict.fromkeys(defaults.NATIVE[framework], 0.0)).items()
    ]
    columns = ["framework", "name", "set", "draw", "metric", "value", "round"]
    price = {"map": [1.0, 1.0], "map, noise": [3.0, 4.0]}
    price |= {own: [9.0, 9.0] for both in defaults.NATIVE.values() for own in both}
    decision = defaults.Decision("MAP", "map", list(names))
    section, found = defaults.section_of(
        decision, pd.DataFrame(rows, columns=columns), {"s": 1.0}, price
    )
    assert (found["rule"], found["chosen"]) == (chosen, chosen)
    assert [row[0].split(" (")[0] for row in section.rows[:2]] == ["map", "map, noise"]
