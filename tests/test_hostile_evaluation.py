"""Evaluation: invalid input that used to give wrong values without an error."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
from lambdaplus.data import RankingData, read_qrels, read_trec_run
from lambdaplus.data.run_files import Run
from lambdaplus.evaluation import CONVENTIONS, Rule
from lambdaplus.evaluation.explanation import explain_queries
from lambdaplus.evaluation.scoring import evaluate_run
from lambdaplus.evaluation.significance import p_value
from lambdaplus.metrics import CATALOGUE, Declaration

LABELS, SCORES = [1, 0, 2, 0], [0.1, 0.2, 0.3, 0.4]


def own_metric(name: str, gain: float = 1.0) -> Declaration:
    return Declaration(
        name=name,
        title="revenue",
        source="a test",
        binary=False,
        discount=lambda metric, ranks: 1.0 / ranks,
        gain=lambda facts: gain * facts.label,
        normalizer=lambda facts: np.ones(facts.size.shape),
    )


# Options with a fixed set of values ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "wrost"}, "ties='wrost' is not one of expected, worst, best, stable, together"),
        ({"ties": ""}, "ties='' is not one of"),
        ({"empty": "zero"}, "empty='zero' is not 'skip', 0 or 1"),
        ({"empty": 0.5}, "empty=0.5 is not 'skip', 0 or 1"),
        ({"convention": "treck"}, "unknown convention 'treck'"),
        ({"convention": ["trec"]}, "unknown convention"),
        ({"one_group": "no"}, "one_group='no' is neither True nor False"),
    ],
)
def test_a_misspelt_option_of_evaluate_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lp.evaluate(LABELS, SCORES, group=[4], **options)


def test_a_misspelt_option_is_refused_elsewhere_too() -> None:
    run = Run("a", LABELS, SCORES, ["q"] * 4)
    for refused in (
        lambda: evaluate_run(run, ["map"], ties="wrost"),  # type: ignore[arg-type]
        lambda: Rule(ties="wrost"),  # type: ignore[arg-type]
        lambda: Rule(empty=2),
        lambda: replace(CONVENTIONS["trec"], single="no"),
        lambda: evaluate_run(replace(run, returned=[1]), ["map"]),
        lambda: evaluate_run(replace(run, returned=[1, 2, 0, 0]), ["map"]),
        lambda: lp.eval_metric("map", one_group="no"),  # type: ignore[arg-type]
        lambda: p_value(np.ones(3), "wilcoxn", "two-sided"),  # type: ignore[arg-type]
        lambda: p_value(np.ones(3), "t", "less"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"is not|is neither|True or False"):
            refused()


@pytest.mark.parametrize(
    "options",
    [
        {"test": "wilcoxn"},
        {"alternative": "less"},
        {"correction": "bonferroni"},
        {"alpha": 5},
        {"confidence": 95},
        {"confidence": np.nan},
        {"alpha": "0.05"},
        {"resamples": 0},
        {"resamples": 99.0},
        {"resamples": 10**12},
        {"seed": -1},
        {"seed": "a"},
        {"baseline": "c"},
    ],
)
def test_a_comparison_refuses_options_that_mean_nothing(options: dict[str, Any]) -> None:
    runs = {name: lp.evaluate(LABELS * 2, SCORES * 2, group=[4, 4]) for name in "ab"}
    with pytest.raises(ValueError, match=f"^{next(iter(options))}(=| must be )"):
        lp.compare_runs(runs, **options)


# Metrics of one name ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["map", "ap", "ndcg"])
def test_a_metric_of_your_own_does_not_take_the_place_of_ours(name: str) -> None:
    message = rf"your own metric is called {name}, which is the name of a metric of the library"
    for refused in (
        lambda metric: lp.evaluate(LABELS, SCORES, group=[4], metrics=["map", metric]),
        lambda metric: lp.evaluate(LABELS, SCORES, group=[4], metrics=metric),
        lambda metric: lp.eval_metric("map", metric),
        lambda metric: lp.explain(metric, LABELS, SCORES, group=[4]),
    ):
        with pytest.raises(ValueError, match=message):
            refused(own_metric(name))
    assert len(lp.evaluate(LABELS, SCORES, group=[4], metrics=["map", "AP", "map"]).mean) == 1


def test_two_metrics_of_one_name_are_told_apart() -> None:
    one, other = own_metric("revenue"), own_metric("revenue", 2.0)
    with pytest.raises(ValueError, match="two different metrics are called revenue"):
        lp.evaluate(LABELS, SCORES, group=[4], metrics=[one, other])
    with pytest.raises(ValueError, match="two different metrics are called revenue"):
        lp.eval_metric(one, other)
    found = lp.evaluate(LABELS, SCORES, group=[4], metrics=one)
    assert found[one] > 0
    with pytest.raises(KeyError):
        found[other]
    theirs = lp.evaluate(LABELS, SCORES, group=[4], metrics=other)
    with pytest.raises(ValueError, match="different metrics of the name revenue"):
        lp.compare_runs({"a": found, "b": theirs})
    again = pickle.loads(pickle.dumps(found))
    assert again.mean == found.mean
    assert lp.compare_runs({"a": found, "b": again}).means["revenue"]["b"] == found[one]


# Scores in trec_eval -----------------------------------------------------------------------------


def by_trec_eval(qrels: dict[str, Any], run: dict[str, Any]) -> dict[str, dict[str, float]]:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    measures = {"map", "ndcg", "recip_rank", "P.5", "recall.5", "Rprec", "bpref"}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(
        run
    )
    return found


OURS = {
    "map": "map",
    "ndcg": "ndcg",
    "mrr": "recip_rank",
    "p@5": "P_5",
    "recall@5": "recall_5",
    "rprec": "Rprec",
    "bpref": "bpref",
}


def test_scores_that_differ_beyond_float32_are_tied_as_in_trec_eval() -> None:
    for scores in ([1.00000001, 1.0], [1.000001, 1.0], [1e300, 1e200], [-1e300, -1e200], [2, 1.0]):
        theirs = by_trec_eval({"q": {"a": 1, "b": 0}}, {"q": dict(zip("ab", scores, strict=True))})
        found = lp.evaluate(
            [1, 0], scores, qid=["q", "q"], docno=["a", "b"], metrics="map", convention="trec"
        )
        assert found["map"] == theirs["q"]["map"]
    assert lp.evaluate([1, 0], [1.00000001, 1.0], group=[2], metrics="map")["map"] == 1.0


def test_xgboost_holds_scores_in_float32_too() -> None:
    xgboost = pytest.importorskip("xgboost")
    labels, scores = [0, 1, 0], [1.0, 1.00000001, 0.5]
    data = xgboost.DMatrix(np.zeros((3, 1)), label=labels, base_margin=scores, qid=[1, 1, 1])
    parameters = {"eval_metric": ["map", "ndcg"], "tree_method": "hist"}
    booster = xgboost.train(parameters, data, 0)
    theirs = dict(part.split(":") for part in booster.eval(data, "x").split()[1:])
    found = lp.evaluate(labels, scores, group=[3], metrics=["map", "ndcg"], convention="xgboost")
    for metric in ("map", "ndcg"):
        assert found[metric] == pytest.approx(float(theirs[f"x-{metric}"]), abs=1e-6)


def test_judgements_below_zero_are_unjudged_as_in_trec_eval(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    qrels = {
        f"q{q}": {f"d{d}": int(grade) for d, grade in enumerate(random.integers(-2, 3, 12))}
        for q in range(40)
    }
    qrels["none"] = {"d1": -1, "d2": -1}
    run = {
        query: {f"d{d}": float(score) for d, score in enumerate(random.integers(0, 9, 15)) if d % 4}
        for query in qrels
    }
    run["q0"]["d1"] = run["q0"]["d2"] + 1e-9
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 {d} {y}\n" for q, labels in qrels.items() for d, y in labels.items())
    )
    (tmp_path / "run").write_text(
        "".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, scores in run.items() for d, s in scores.items())
    )
    theirs = by_trec_eval(qrels, run)
    ours = read_trec_run(tmp_path / "run", read_qrels(tmp_path / "qrels"))
    found = evaluate_run(ours, list(OURS), convention="trec")
    for metric, name in OURS.items():
        values = dict(zip(found.qid, found.per_query[found.name_of(metric)], strict=True))
        assert values == pytest.approx({q: theirs[q][name] for q in qrels}, abs=1e-9), metric
    by_step = explain_queries(
        lp.parse_metric("bpref"), ours.queries, ours.scores, ours.docno, judged=ours.judged
    )
    assert by_step["trec"].value == pytest.approx(found["bpref"])


def test_labels_below_zero_given_as_arrays_are_unjudged_under_trec() -> None:
    labels, scores, docno = [1, -1, 1, -1, 0], [1.0, 5.0, 0.5, 0.4, 0.3], list("abdec")
    theirs = by_trec_eval(
        {"q": dict(zip(docno, labels, strict=True))}, {"q": dict(zip(docno, scores, strict=True))}
    )
    found = lp.evaluate(
        labels, scores, qid=["q"] * 5, docno=docno, metrics=list(OURS), convention="trec"
    )
    for metric, name in OURS.items():
        assert found[metric] == pytest.approx(theirs["q"][name]), metric
    path = lp.explain("bpref", labels, scores, qid=["q"] * 5, docno=docno)["trec"]
    assert path.value == pytest.approx(theirs["q"]["bpref"])
    assert "labels<0=unjudged" in [step.choice for step in path.steps]


# Arrays of odd kinds ------------------------------------------------------------------------------

MASK = [False, True, False, False]
QUERY = [1, 1, 2, 2]


@pytest.mark.parametrize("name", ["labels", "scores", "qid", "weight", "docno"])
def test_a_mask_is_not_lost(name: str) -> None:
    arrays: dict[str, Any] = {
        "labels": np.array(LABELS),
        "scores": np.array(SCORES),
        "qid": np.array(QUERY),
        "weight": np.ones(4),
        "docno": np.array(list("abcd")),
    }
    unmasked = {**arrays, name: np.ma.masked_array(arrays[name], mask=[False] * 4)}
    lp.evaluate(**unmasked)
    arrays[name] = np.ma.masked_array(arrays[name], mask=MASK)
    for refused in (
        lambda: lp.evaluate(**arrays, ties="docno"),
        lambda: lp.explain("map", **arrays),
    ):
        with pytest.raises(ValueError, match=f"{name} is a masked array with 1 masked entry.* 1:"):
            refused()


@pytest.mark.parametrize("name", ["labels", "scores", "qid", "docno", "returned", "judged"])
def test_a_mask_of_a_run_is_not_lost(name: str) -> None:
    arrays: dict[str, Any] = {
        "labels": LABELS,
        "scores": SCORES[::-1],
        "qid": QUERY,
        "docno": list("abcd"),
        "returned": [True] * 4,
        "judged": [True] * 4,
    }
    arrays[name] = np.ma.masked_array(arrays[name], mask=MASK)
    with pytest.raises(ValueError, match=f"{name} is a masked array"):
        evaluate_run(Run("a", **arrays), ["bpref"], convention="trec")


@pytest.mark.parametrize("name", ["features", "labels", "qid"])
def test_a_mask_of_a_ranking_set_is_not_lost(name: str) -> None:
    arrays: dict[str, Any] = {"features": np.ones((4, 2)), "labels": LABELS, "qid": QUERY}
    mask = np.ones((4, 2), dtype=bool) if name == "features" else MASK
    arrays[name] = np.ma.masked_array(arrays[name], mask=mask)
    with pytest.raises(ValueError, match=f"{name} is a masked array"):
        RankingData(**arrays)


NAN = float("nan")


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, 1, None, None], "qid is missing in row 2: it is None"),
        ([1.0, 1.0, NAN, NAN], "qid is missing in row 2: it is nan"),
        (["a", "a", NAN, "b"], "qid is missing in row 2: it is nan"),
        (np.array(["a", "a", None, "b"], dtype=object), "missing in row 2: it is None"),
        ([7, 7, "7", "7"], "qid must be all text or all numbers; row 2 is the str '7'"),
        (np.array([2.0**53, 2.0**53, 1, 1]), r"floats of 2\*\*53 or more"),
        (np.array(["2020-01-01", "2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "row 2: it is NaT"),
        (["a", "a", "a\0", "a\0"], "qid contains text that ends in a NUL character"),
        ([(1, 2), (1, 2), (3, 4), (3, 4)], "qid must be all text or all numbers"),
    ],
)
def test_a_query_without_a_name_is_refused(qid: Any, message: str) -> None:
    for refused in (
        lambda: lp.evaluate(LABELS, SCORES, qid=qid),
        lambda: lp.explain("map", LABELS, SCORES, qid=qid),
        lambda: evaluate_run(Run("a", LABELS, SCORES, qid), ["map"]),
        lambda: RankingData(np.ones((4, 1)), LABELS, qid),
    ):
        with pytest.raises(ValueError, match=message):
            refused()


def test_large_whole_numbers_in_a_list_stay_apart() -> None:
    found = lp.evaluate(LABELS, SCORES, qid=[2**63, 2**63, 2**63 + 1, 2**63 + 1])
    assert found.qid.tolist() == ["9223372036854775808", "9223372036854775809"]


@pytest.mark.parametrize("name", ["labels", "scores", "weight"])
@pytest.mark.parametrize("kind", ["complex128", "M8[D]", "m8[s]"])
def test_complex_numbers_and_dates_are_no_numbers(name: str, kind: str) -> None:
    arrays: dict[str, Any] = {"labels": LABELS, "scores": SCORES, "weight": [1, 1, 1, 1]}
    arrays[name] = np.array([1, 0, 1, 0]).astype(kind)
    with pytest.raises(ValueError, match=f"{name} must be numbers, not"):
        lp.evaluate(**arrays, group=[2, 2])


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, dtype=object)])
def test_whole_numbers_that_would_be_rounded_are_no_ties(kind: Callable[..., Any]) -> None:
    """mrr would be the .75 of a tie."""
    for large in (2**53, 2**62, -(2**60)):
        scores = kind([large + 1, large])
        for given in ((scores, [1, 0]), ([1, 0], scores)):
            with pytest.raises(ValueError, match=rf"contains {large + 1}, which a float64 cannot"):
                lp.evaluate(*given, group=[2], metrics="mrr")
        with pytest.raises(ValueError, match=r"labels contains"):
            RankingData(np.ones((2, 1)), scores, [1, 1])
        exact = kind([large + 2**20, large])
        assert lp.evaluate([0, 1], exact, group=[2], metrics="mrr")["mrr"] == 0.5


@pytest.mark.parametrize("weight", [1e308, 1e-200])
@pytest.mark.parametrize("group", [[4], None])
def test_weights_whose_sums_or_products_do_not_fit_are_refused(weight: float, group: Any) -> None:
    """The mean was NaN, and without queries AUC had no value and MAP was 0."""
    with pytest.raises(ValueError, match="weights must be 0 or from 1e-100 to 1e100"):
        lp.evaluate(LABELS, SCORES, group=group, weight=[1, weight, 1, weight], metrics="map")


def test_text_is_read_as_in_files() -> None:
    assert lp.evaluate(["1", "0", "2", "0"], SCORES, group=[4], metrics="map")["map"] == 0.5
    with pytest.raises(ValueError, match="'1_0' is not a number"):
        lp.evaluate(["1_0", "0", "2", "0"], SCORES, group=[4])


def test_scores_of_several_classes_name_num_class() -> None:
    with pytest.raises(
        ValueError, match=r"one-dimensional, got shape \(4, 3\): leave out num_class"
    ):
        lp.evaluate(LABELS, np.ones((4, 3)), group=[4])


def test_the_catalogue_itself_is_no_metric_of_your_own() -> None:
    chosen = [declared if declared.cutoff != "required" else declared(5) for declared in CATALOGUE]
    metrics: list[Callable[..., Any] | Any] = [one for one in chosen if str(one) != "auc"]
    assert len(lp.evaluate(LABELS, SCORES, group=[4], metrics=metrics).mean) == len(metrics)
