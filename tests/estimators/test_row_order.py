"""Rows of queries in any order, and everything that belongs to rows, give the same model."""

from typing import Any

import numpy as np
from graded_estimators import curves, halves, made, of_lightgbm, rankers
from numpy.testing import assert_array_equal
from sklearn.base import clone
from small_data import GRADED
from small_estimators import in_turn


@rankers
def test_all_that_belongs_to_rows_may_be_in_any_order(kind: Any) -> None:
    fit, valid = halves(kind)
    names = ("init_score", "eval_init_score", "eval_sample_weight")
    if not of_lightgbm(kind):
        names = ("base_margin", "base_margin_eval_set", "sample_weight_eval_set")
    n, n_valid = len(fit["y"]), len(valid["y"])
    start, eval_start = np.linspace(-1, 1, n), np.linspace(1, -1, n_valid)
    weights = np.repeat(np.linspace(0.5, 2.0, 40), GRADED.sizes[:40])

    def given(rows: Any, held_out: Any) -> dict[str, Any]:
        part = {name: array[held_out] for name, array in valid.items()}
        return {
            "X": fit["X"][rows], "y": fit["y"][rows], "sample_weight": weights[rows],
            names[0]: start[rows], "eval_set": [(part["X"], part["y"])],
            "eval_qid": [part["qid"]], names[1]: [eval_start[held_out]],
            names[2]: [(part["qid"] + 1.0) / 10],
        }  # fmt: skip

    model = made(kind, objective="map")
    expected = clone(model).fit(**given(slice(None), slice(None)), qid=fit["qid"])
    order, other = (in_turn(part["qid"]) for part in (fit, valid))
    assert (np.diff(fit["qid"][order]) != 0).mean() > 0.9
    names_of_queries = [f"q{query}" for query in fit["qid"][order]]
    by_turns = clone(model).fit(**given(order, other), qid=names_of_queries)
    assert_array_equal(by_turns.predict(valid["X"]), expected.predict(valid["X"]))
    assert curves(by_turns) == curves(expected)
    alone = clone(model).fit(**fit)
    assert not np.array_equal(alone.predict(valid["X"]), expected.predict(valid["X"]))
