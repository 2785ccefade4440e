"""What the public functions of evaluation take, and what they refuse with a clear error.

Much of what is refused here once gave a wrong value.
"""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st
from small_data import OnGPU

import lambdaplus as lp
from lambdaplus.data import Run
from lambdaplus.evaluation import CONVENTIONS, Rule
from lambdaplus.evaluation.evaluate_run import evaluate_run

N = 12
LABELS = np.array([0, 1, 2, 0, 1, 0, 0, 2, 1, 0, 0, 1])
SCORES = np.array([3, 1, 2, 0, 5, 4, 6, 2, 9, 8, 7, 1])
QUERY = np.repeat([3, 1, 2], 4)
METRICS = ["map", "ndcg@3", "mrr", "err"]


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "objects": lambda a: a.astype(object),
    **{kind: lambda a, kind=kind: a.astype(kind) for kind in ("i1", "f2", "f4", "g", ">f8")},
    "backwards": lambda a: a[::-1].copy()[::-1],
    "unmasked": lambda a: np.ma.masked_array(a, mask=np.zeros(len(a), dtype=bool)),
    "unaligned": lambda a: np.rec.fromarrays([a > 0, a.astype(float)], names="odd,number").number,
    "pandas": lambda a: pytest.importorskip("pandas").Series(a, index=range(len(a), 0, -1)),
    "polars": lambda a: pytest.importorskip("polars").Series(a),
    "GPU": OnGPU,
}


def masked(array: Any) -> Any:
    return np.ma.masked_array(array, mask=np.arange(len(array)) == 1)


def with_one(value: Any) -> Callable[[Any], Any]:
    def hold(array: Any) -> Any:
        found = array.astype(object if value is None or isinstance(value, str) else float)
        found[1] = value
        return found

    return hold


BREAKERS: dict[str, Callable[[Any], Any]] = {
    "masked": masked,
    "too short": lambda a: a[:-1],
    "empty": lambda a: a[:0],
    "table": lambda a: np.stack([a, a], 1),
    "NaN": with_one(np.nan),
    "None": with_one(None),
    "text": with_one("x"),
    "text of a number": with_one("1_0"),  # which NumPy would read as 10
    "text alone": lambda a: a.astype(str),
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


@examples(25)
@given(*(st.sampled_from(sorted(HOLDERS)) for _ in range(3)))
@example("GPU", "GPU", "GPU")
def test_numbers_held_otherwise_give_the_same_values(labels: str, scores: str, qid: str) -> None:
    arrays = {
        "labels": HOLDERS[labels](LABELS),
        "scores": HOLDERS[scores](SCORES),
        "qid": HOLDERS[qid](QUERY),
    }
    for evaluate in evaluations(arrays):
        assert evaluate() == pytest.approx(WANTED, abs=1e-15)


@examples(80)
@given(st.sampled_from(["labels", "scores", "qid"]), st.sampled_from(sorted(BREAKERS)))
def test_what_cannot_be_used_is_refused_by_name(name: str, how: str) -> None:
    arrays = {"labels": LABELS, "scores": SCORES, "qid": QUERY}
    arrays[name] = BREAKERS[how](arrays[name])
    if name == "qid" and how in ("dates", "text alone"):  # which are valid identifiers
        assert lp.evaluate(**arrays)["map"] == pytest.approx(WANTED)
        return
    for evaluate in evaluations(arrays)[: 4 if name == "qid" else 5]:
        with pytest.raises(ValueError, match=r"labels|scores|qid|rows"):
            evaluate()


def test_a_count_of_queries_without_relevant_documents_needs_a_metric_that_has_them() -> None:
    given_ = ([0.3, -0.2, 0.1], [1, 2, 3])
    assert "1 query.\n" in str(lp.evaluate(*given_, group=[3], metrics=["spearman", "gini"]))
    found = lp.evaluate(*given_, group=[3], metrics=["spearman", "map"])
    assert "1 query, 1 without relevant documents." in str(pickle.loads(pickle.dumps(found)))


def test_the_rows_of_a_query_may_be_anywhere() -> None:
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 3, 60), random.integers(0, 4, 60)
    qid = np.repeat([f"q{i}" for i in range(12)], 5)
    docno, weight = [f"d{i}" for i in range(60)], np.repeat(random.integers(1, 4, 12), 5)
    order = random.permutation(60)
    names = ["map", "ndcg@3", "mrr"]

    def of(rows: Any, **rules: Any) -> Any:
        return lp.evaluate(
            labels[rows], scores[rows], qid=qid[rows], weight=weight[rows],
            docno=[docno[row] for row in rows], metrics=names, **rules,
        )  # fmt: skip

    for rules in ({}, {"convention": "trec"}, {"ties": "worst"}):
        whole, mixed = of(np.arange(60), **rules), of(order, **rules)
        place = [mixed.qid.tolist().index(query) for query in whole.qid]
        assert mixed.mean == pytest.approx(whole.mean)
        for name, values in whole.per_query.items():
            assert mixed.per_query[name][place] == pytest.approx(values)
    # Ties in the order of the rows.
    found = lp.evaluate([0, 1, 1, 0], [1, 1, 1, 1], qid=[7, 8, 7, 8], ties="stable", metrics="mrr")
    assert (found.qid.tolist(), found.per_query["mrr"].tolist()) == ([7, 8], [0.5, 1.0])
    with pytest.raises(ValueError, match="scores has 3 rows, but qid has 4"):
        lp.evaluate([0, 1, 1, 0], [1, 2, 3], qid=[7, 8, 7, 8])


@pytest.mark.parametrize("name", ["group", "weight"])
def test_groups_and_weights_of_any_kind(name: str) -> None:
    arrays = {"group": np.array([4, 4, 4]), "weight": np.ones(N)}
    for hold in HOLDERS.values():
        found = lp.evaluate(LABELS, SCORES, **{**arrays, name: hold(arrays[name])})
        assert found["map"] == pytest.approx(WANTED)
    for wrong in (masked(arrays[name]), arrays[name][:-1], "444", [[4, 4, 4]], -arrays[name]):
        with pytest.raises(ValueError, match=name):
            lp.evaluate(LABELS, SCORES, **{**arrays, name: wrong})


# Values that would be changed silently ------------------------------------------------------------

FEW, THEIR_SCORES = [1, 0, 2, 0], [0.1, 0.2, 0.3, 0.4]
NAN = float("nan")


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, 1, None, None], "qid is missing in row 2: it is None"),
        (["a", "a", NAN, "b"], "qid is missing in row 2: it is nan"),
        ([7, 7, "7", "7"], "be all text or all numbers, dates or times; row 2 is the str '7'"),
        (np.array([2.0**53, 2.0**53, 1, 1]), r"floats of 2\*\*53 or more"),
        (np.array(["2020-01-01", "2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "row 2: it is NaT"),
        (["a", "a", "a\0", "a\0"], "qid contains text that ends in a NUL character"),
        ([(1, 2), (1, 2), (3, 4), (3, 4)], "qid must have one entry per row: shape"),
    ],
)
def test_missing_and_ambiguous_queries_are_refused(qid: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lp.evaluate(FEW, THEIR_SCORES, qid=qid)


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, dtype=object)])
def test_whole_numbers_that_would_be_rounded_are_no_ties(kind: Callable[..., Any]) -> None:
    """mrr would be the .75 of a tie."""
    for large in (2**53, 2**62, -(2**60)):
        scores = kind([large + 1, large])
        for given_ in ((scores, [1, 0]), ([1, 0], scores)):
            with pytest.raises(ValueError, match=rf"contains {large + 1}, which a float64 cannot"):
                lp.evaluate(*given_, group=[2], metrics="mrr")
        exact = kind([large + 2**20, large])
        assert lp.evaluate([0, 1], exact, group=[2], metrics="mrr")["mrr"] == 0.5


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no longer floats here")
def test_long_doubles_that_become_equal_are_refused() -> None:
    scores = np.longdouble(1) + np.finfo(np.longdouble).eps * np.arange(2)
    with pytest.raises(ValueError, match="differ, but are equal as float64"):
        lp.evaluate([0, 1], scores, group=[2])
    assert lp.evaluate([0, 1], np.longdouble([0.1, 0.1]), group=[2], metrics="mrr")["mrr"] == 0.75


# Options ------------------------------------------------------------------------------------------


RUN = Run("a", FEW, THEIR_SCORES, ["q"] * 4)
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: few(ties="wrost"), "ties='wrost' is not one of expected, worst, best, stable, toget"),
    (lambda: few(empty="zero"), "empty='zero' is not 'skip', 0 or 1"),
    (lambda: few(empty=float("nan")), "empty=nan is not 'skip', 0 or 1"),
    (lambda: few(convention="treck"), "unknown convention 'treck'; known: lambdaplus, lightgbm"),
    (lambda: few(metrics=[]), "no metric was given"),
    (lambda: few(metrics=5), "metrics must be a metric or a list of metrics, got 5"),
    (lambda: Rule(ties="wrost"), "ties='wrost' is not one of"),  # type: ignore[arg-type]
    (lambda: replace(CONVENTIONS["trec"], single="no"), "single='no' is neither True nor False"),
    (lambda: evaluate_run(replace(RUN, returned=[1, 2, 0, 0]), ["map"]), "True or False"),
    (lambda: lp.eval_metric("map", one_group="no"), "is neither"),  # type: ignore[arg-type]
]


def few(**options: Any) -> Any:
    return lp.evaluate(FEW, THEIR_SCORES, group=[4], **options)


def test_unknown_options_are_refused() -> None:
    for refused, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            refused()


@pytest.mark.parametrize(
    ("name", "value"), [("confidence", np.nan), ("alpha", "0.05"), ("alpha", 5), ("baseline", "c")]
)
def test_unknown_options_of_a_comparison_are_refused(name: str, value: Any) -> None:
    runs = {name: lp.evaluate(LABELS, SCORES, qid=QUERY) for name in "ab"}
    with pytest.raises(ValueError, match=f"^{name}(=| must be )"):
        lp.compare_runs(runs, **{name: value})


# -- forms of other tools --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"q": {"d": 1}}, [1.0]), "both be arrays, or both dictionaries"),
        (({"q": {"d": None}}, {"q": {"d": 1.0}}), "the label of d in q is None"),
        (({"q": {"d": 1}}, {"p": {"d": 1.0}}), "no query of the scores is among the 1 judged"),
        (({"q": {"d": 1}}, {"q": {"d": float("nan")}}), "the score of d in q is nan, not a finite"),
        (({"q": {"d": 1}}, {"q": {"d": "0.5"}}), "the score of d in q is '0.5', not a finite"),
        (({"q": {"d": 1}}, {"q": {"d": 2**53 + 1}}), "score of d in q contains 9007199254740993"),
        (({1: {"d": 1}, "1": {"d": 0}}, {1: {"d": 1.0}}), "list of queries must be all text or"),
        (({"q": {"d": 1}, "q\0": {"d": 0}}, {"q": {"d": 1.0}}), "list of queries contains text"),
    ],
)
def test_dictionaries_that_cannot_be_used_raise(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lp.evaluate(*given, metrics="map")
    with pytest.raises(ValueError, match="qid= cannot be passed with dictionaries"):
        lp.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, qid=[1])
