"""The public functions of evaluation on all types of arrays: the same values, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from hypothesis import given
from hypothesis import strategies as st

import lambdaplus as lp
from lambdaplus.data.run_files import Run
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.scoring import evaluate_run

N = 12
LABELS = np.array([0, 1, 2, 0, 1, 0, 0, 2, 1, 0, 0, 1])
SCORES = np.array([3, 1, 2, 0, 5, 4, 6, 2, 9, 8, 7, 1])
QUERY = np.repeat([3, 1, 2], 4)
METRICS = ["map", "ndcg@3", "mrr", "err", "bpref"]

# The same numbers, held otherwise.
HOLDERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "list of NumPy's numbers": list,
    "objects": lambda a: a.astype(object),
    "int8": lambda a: a.astype(np.int8),
    "uint64": lambda a: a.astype(np.uint64),
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "long double": lambda a: a.astype(np.longdouble),
    "big-endian": lambda a: a.astype(">f8"),
    "every second": lambda a: np.repeat(a, 2)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "column of a table in Fortran's order": lambda a: np.asfortranarray(np.stack([a, a], 1))[:, 1],
    "column of a table in C's order": lambda a: np.ascontiguousarray(np.stack([a, a], 1))[:, 1],
    "unmasked": lambda a: np.ma.masked_array(a, mask=np.zeros(len(a), dtype=bool)),
    "read-only": lambda a: read_only(a),
    "unaligned": lambda a: unaligned(a),
    "pandas": lambda a: pytest.importorskip("pandas").Series(a, index=range(len(a), 0, -1)),
    "polars": lambda a: pytest.importorskip("polars").Series(a),
}


def read_only(array: Any) -> Any:
    found = array.copy()
    found.flags.writeable = False
    return found


def unaligned(array: Any) -> Any:
    held = np.zeros(len(array), dtype=[("odd", "u1"), ("number", "<f8")])
    held["number"] = array
    return held["number"]


def masked(array: Any) -> Any:
    return np.ma.masked_array(array, mask=np.arange(len(array)) == 1)


def with_one(value: Any) -> Callable[[Any], Any]:
    def hold(array: Any) -> Any:
        found = array.astype(object if value is None or isinstance(value, str) else float)
        found[1] = value
        return found

    return hold


# Not the same, or not usable.
BREAKERS: dict[str, Callable[[Any], Any]] = {
    "masked": masked,
    "too short": lambda a: a[:-1],
    "too long": lambda a: np.append(a, a[-1]),
    "empty": lambda a: a[:0],
    "scalar": lambda a: a[0],
    "table": lambda a: np.stack([a, a], 1),
    "deeper": lambda a: a.reshape(N, 1, 1),
    "NaN": with_one(np.nan),
    "None": with_one(None),
    "text": with_one("x"),
    "complex": lambda a: a + 0j,
    "dates": lambda a: a.astype("M8[D]"),
    "records": lambda a: np.zeros(len(a), dtype=[("a", "f8")]),
    "text in a mapping": lambda a: {"labels": a.tolist()},
}


def evaluations(arrays: dict[str, Any]) -> list[Callable[[], Any]]:
    """Ways to the values of the metrics, by any of the public functions."""
    plain = {name: array for name, array in arrays.items() if name != "qid"}
    return [
        lambda: lp.evaluate(**arrays, metrics=METRICS).mean["map"],
        lambda: evaluate_run(Run("a", **arrays), METRICS).mean["map"],
        lambda: lp.explain("map", **arrays).value,
        lambda: lp.compare_runs(
            {"a": lp.evaluate(**arrays), "b": lp.evaluate(LABELS, LABELS, qid=QUERY)}
        ).means["map"]["a"],
        lambda: lp.eval_metric("map")(plain["labels"], plain["scores"], None, [4, 4, 4])[1],
    ]


WANTED = ((1 / 2 + 2 / 3) / 2 + (1 / 2 + 2 / 4) / 2 + (1 + 2 / 4) / 2) / 3  # by hand


@examples(60)
@given(*(st.sampled_from(sorted(HOLDERS)) for _ in range(3)))
def test_the_same_numbers_held_otherwise_give_the_same_values(
    labels: str, scores: str, qid: str
) -> None:
    arrays = {
        "labels": HOLDERS[labels](LABELS),
        "scores": HOLDERS[scores](SCORES),
        "qid": HOLDERS[qid](QUERY),
    }
    for evaluate in evaluations(arrays):
        assert evaluate() == pytest.approx(WANTED, abs=1e-15)


@examples(80)
@given(
    st.sampled_from(["labels", "scores", "qid"]),
    st.sampled_from(sorted(BREAKERS)),
)
def test_what_cannot_be_used_is_refused_by_name(name: str, how: str) -> None:
    arrays = {"labels": LABELS, "scores": SCORES, "qid": QUERY}
    arrays[name] = BREAKERS[how](arrays[name])
    if name == "qid" and how == "dates":  # which are valid identifiers
        assert lp.evaluate(**arrays)["map"] == pytest.approx(WANTED)
        return
    for evaluate in evaluations(arrays)[: 4 if name == "qid" else 5]:
        with pytest.raises(ValueError, match=r"labels|scores|qid|rows"):
            evaluate()


@pytest.mark.parametrize("runs", [{}, {"a": 1}, {"a": None, "b": None}, [], "ab", None])
def test_what_is_no_runs_is_not_compared(runs: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"run"):
        lp.compare_runs(runs)


def test_groups_and_weights_of_any_kind() -> None:
    expected = lp.evaluate(LABELS, SCORES, group=[4, 4, 4], weight=np.ones(N)).mean
    for hold in HOLDERS.values():
        found: Evaluation = lp.evaluate(
            LABELS, SCORES, group=hold(np.array([4, 4, 4])), weight=hold(np.ones(N))
        )
        assert found.mean == expected
    for broken in (
        masked(np.array([4, 4, 4])),
        [4, 4],
        [4, 4, 4.5],
        "444",
        [[4, 4, 4]],
        [4, 4, -4],
    ):
        with pytest.raises(ValueError, match="group"):
            lp.evaluate(LABELS, SCORES, group=broken)
