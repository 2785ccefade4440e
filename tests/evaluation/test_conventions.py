"""Each named convention against the output of its tool, including ties and empty queries."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

from lambdaplus import evaluate, explain
from lambdaplus.evaluation import evaluate_run

Floats = NDArray[np.float64]
ROUNDING = 1e-9


def data_set(levels: int, binary: bool = False) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Queries of all kinds: short ones, without relevant documents, with nothing else; ties."""
    random = np.random.default_rng(levels)
    group = np.concatenate([[1, 1, 2, 5, 5, 12], random.integers(2, 30, 30)])
    labels = np.maximum(random.integers(-3, 5, group.sum()), 0).astype(float)
    query = np.repeat(np.arange(len(group)), group)
    labels[np.isin(query, (0, 3))] = 0
    labels[np.isin(query, (1, 4))] = 1
    if binary:
        labels = np.minimum(labels, 1.0)
    scores = random.integers(0, levels, group.sum()) / 64  # exact in float32
    return labels, scores, group


def close(expected: float, rounding: float = ROUNDING) -> Any:
    return pytest.approx(expected, abs=rounding)


# LightGBM and XGBoost ----------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [4, 10_000])
def test_lightgbm(levels: int) -> None:
    """An untrained booster predicts the init_score."""
    lgb = pytest.importorskip("lightgbm")
    labels, scores, group = data_set(levels)
    given_ = {"group": group, "init_score": scores, "params": {"verbose": -1}}
    data = lgb.Dataset(np.zeros((len(labels), 1)), labels, **given_)
    params = {"objective": "none", "metric": ["ndcg", "map", "auc"], "eval_at": [1, 3, 10]}
    theirs = {row[1]: row[2] for row in lgb.Booster({**params, "verbose": -1}, data).eval_train()}
    ours = evaluate(labels, scores, group=group, metrics=list(theirs), convention="lightgbm")
    assert {name: ours[name] for name in theirs} == {k: close(v) for k, v in theirs.items()}
    plain = evaluate(labels, scores, group=group, metrics=list(theirs))
    assert abs(plain["ndcg@10"] - theirs["ndcg@10"]) > 0.001  # so that the test can fail


@pytest.mark.parametrize("levels", [4, 10_000])
def test_xgboost(levels: int) -> None:
    xgb = pytest.importorskip("xgboost")

    def theirs(labels: Floats, names: list[str]) -> dict[str, float]:
        data = xgb.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores)
        data.set_group(group)
        params = {"objective": "rank:ndcg", "base_score": 0.0, "eval_metric": names}
        found = re.findall(r"x-(\S+?):(\S+)", xgb.Booster(params, [data]).eval_set([(data, "x")]))
        return {name.replace("pre", "p"): float(number) for name, number in found}

    for binary, names in ((False, ["ndcg", "ndcg@3"]), (True, ["map", "map@3", "pre@3", "pre@10"])):
        labels, scores, group = data_set(levels, binary)
        scores += 1e-9 * np.random.default_rng(0).random(len(scores))  # it rounds to float32
        found = theirs(labels, names)
        ours = evaluate(labels, scores, group=group, metrics=list(found), convention="xgboost")
        for name, number in found.items():
            assert ours[name] == close(number, 1e-6), name  # it prints float32


# scikit-learn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [4, 10_000])
@pytest.mark.filterwarnings("ignore")  # scikit-learn's, about queries of one class
def test_sklearn(levels: int) -> None:
    labels, scores, group = data_set(levels)
    keep = np.repeat(group > 1, group)  # ndcg_score refuses a single document
    labels, scores, group = labels[keep], scores[keep], group[group > 1]
    tools: dict[str, Callable[[Floats, Floats], float]] = {
        "ndcg": lambda y, s: ndcg_score([y], [s]),
        "ndcg@3": lambda y, s: ndcg_score([y], [s], k=3),
        "dcg@3": lambda y, s: dcg_score([y], [s], k=3),
        "map": lambda y, s: average_precision_score(y >= 1, s),
        "auc": lambda y, s: roc_auc_score(y >= 1, s) if len({*(y >= 1)}) == 2 else np.nan,
    }
    ours = evaluate(labels, scores, group=group, metrics=[*tools], convention="sklearn")
    ends = np.cumsum(group)[:-1]
    queries = list(zip(np.split(labels, ends), np.split(scores, ends), strict=True))
    for name, tool in tools.items():
        found, expected = ours.per_query[ours.name_of(name)], [tool(*query) for query in queries]
        np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING, err_msg=name)


# trec_eval ---------------------------------------------------------------------------------------

TREC = {  # our names, and trec_eval's
    "map": "map", "ndcg": "ndcg", "ndcg@5": "ndcg_cut.5", "map@5": "map_cut.5",
    "mrr": "recip_rank", "p@5": "P.5", "recall@5": "recall.5", "success@5": "success.5",
    "rprec": "Rprec",
}  # fmt: skip


def trec_eval(qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    """Values by metric and query; pytrec_eval crashes at a query with labels below 0 alone."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    found = pytrec_eval.RelevanceEvaluator(qrels, {*TREC.values()}).evaluate(run)
    return {
        ours: {query: values[theirs.replace(".", "_")] for query, values in found.items()}
        for ours, theirs in TREC.items()
    }


@pytest.mark.parametrize("levels", [4, 10_000])
@pytest.mark.parametrize("held", ["exactly", "rounded to float32", "infinite in float32"])
def test_trec(levels: int, held: str) -> None:
    """Labels below 0 are unjudged, and scores that are equal in float32 are tied."""
    labels, scores, group = data_set(levels)
    random = np.random.default_rng(0)
    qid = np.repeat([f"q{i}" for i in range(len(group))], group)
    labels[1:][(qid[1:] == qid[:-1]) & (random.random(len(labels) - 1) < 0.2)] = -1
    if held == "rounded to float32":
        scores += 1e-9 * random.random(len(scores))
    elif held == "infinite in float32":
        scores = (scores - 0.02) * 1e300
    docno = [f"doc{i}" for i in random.permutation(len(labels))]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, document, label, score in zip(qid.tolist(), docno, labels, scores, strict=True):
        qrels.setdefault(query, {})[document] = int(label)
        run.setdefault(query, {})[document] = float(score)
    ours = evaluate(labels, scores, qid=qid, metrics=list(TREC), convention="trec", docno=docno)
    for name, expected in trec_eval(qrels, run).items():
        found = dict(zip(ours.qid, ours.per_query[ours.name_of(name)], strict=True))
        assert found == pytest.approx(expected, abs=ROUNDING), name
    path = explain("rprec", labels, scores, group=group, docno=docno)["trec"]
    assert path.value == close(ours["rprec"])
    none = evaluate([-1, -1], [2, 1], group=[2], metrics=["rprec", "map"], convention="trec")
    assert [*none.mean.values()] == [0, 0]


@pytest.mark.filterwarnings("ignore:all documents are relevant")
def test_on_the_way_to_trec_unjudged_documents_are_a_step_where_a_label_of_0_is_relevant() -> None:
    given: Any = {"labels": [2, -1, 0, -1], "scores": [1.0, 2.0, 3.0, 4.0], "group": [4]}
    for metric in ("map(relevant=0)", "mrr(relevant=0)"):
        path = explain(metric, **given, docno=["a", "b", "c", "d"])["trec"]
        by_convention = evaluate(**given, metrics=[metric], convention="trec", docno=[*"abcd"])
        [expected] = by_convention.mean.values()
        assert path.value == expected == 1
        assert [choice for choice, _ in path.steps] == ["labels<0=unjudged"]


def test_trec_breaks_ties_by_document_number_so_it_must_know_them() -> None:
    with pytest.raises(ValueError, match=r"1 documents are tied .* pass docno="):
        evaluate([1, 0], [1, 1], group=[2], metrics="map", convention="trec")
    assert evaluate([1, 0], [2, 1], group=[2], metrics="map", convention="trec")["map"] == 1
    for docno, expected in ((["a", "b"], 0.5), (["b", "a"], 1.0), (["d10", "d9"], 0.5)):
        found = evaluate([1, 0], [1, 1], group=[2], metrics="map", convention="trec", docno=docno)
        assert found["map"] == expected
    with pytest.raises(ValueError, match=r"docno must have one entry per row: shape \(1,\) for 2"):
        evaluate([1, 0], [1, 1], group=[2], convention="trec", docno=["a"])


# ranx --------------------------------------------------------------------------------------------

RANX = {  # our names, and those of ranx
    "map": "map", "map@5": "map@5", "ndcg": "ndcg", "ndcg@5": "ndcg@5",
    "ndcg(gain=exp2)@5": "ndcg_burges@5", "mrr": "mrr", "p@5": "precision@5",
    "recall@5": "recall@5", "f1@5": "f1@5", "success@5": "hit_rate@5", "rprec": "r-precision",
}  # fmt: skip


def dictionaries(longest: int, levels: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements and a run with documents that are not judged, or not returned."""
    labels, scores, group = data_set(levels)
    random, qrels, run, at = np.random.default_rng(1), {}, {}, 0
    for query, size in enumerate(np.minimum(group, longest).tolist()):
        documents = [f"d{i}" for i in random.permutation(1000)[:size]]
        rows = range(at, at + size)
        judged = {d: int(labels[i]) for d, i in zip(documents, rows, strict=True)}
        returned = {d: float(scores[i]) for d, i in zip(documents, rows, strict=True)}
        if size > 3:
            del returned[documents[0]], judged[documents[1]]
        qrels[f"q{query:02}"], run[f"q{query:02}"], at = judged, returned, at + size
    return qrels, run


@pytest.mark.parametrize(("longest", "levels"), [(15, 4), (40, 1_000_000)], ids=["ties", "long"])
def test_ranx(longest: int, levels: int) -> None:
    """Its sort is unstable where more than 15 documents are tied."""
    ranx = pytest.importorskip("ranx")
    qrels, run = dictionaries(longest, levels)
    ours = evaluate(qrels, run, metrics=list(RANX), convention="ranx")
    theirs = ranx.Run({query: dict(scores) for query, scores in run.items()})
    ranx.evaluate(ranx.Qrels(qrels), theirs, list(RANX.values()))
    assert len(ours.per_query) == len(RANX)
    for (name, values), their_name in zip(ours.per_query.items(), RANX.values(), strict=True):
        found = dict(zip(ours.qid.tolist(), values, strict=True))
        assert found == pytest.approx(dict(theirs.scores[their_name]), abs=ROUNDING), name


# LETOR, by hand from the definition of its scripts ---------------------------------------

# Ranked labels 2 0 1 | 0 0 | 1 2 with the last two tied, in the order of the file.
LABELS, SCORES, GROUP = [2, 0, 1, 0, 0, 1, 2], [3, 2, 1, 2, 1, 5, 5], [3, 2, 2]
LOG3 = float(np.log2(3))
FIRST = (3 + 0 + 1 / LOG3) / (3 + 1)  # discounts 1, 1, 1 / log2 3
LAST = (1 + 3) / (3 + 1)


@pytest.mark.parametrize(
    ("convention", "metric", "expected"),
    [
        ("letor3", "ndcg@1", [1, 0, 1 / 3]),
        ("letor3", "ndcg@3", [FIRST, 0, LAST]),
        ("letor3", "ndcg@5", [FIRST, 0, LAST]),
        ("letor4", "ndcg@1", [1, 0, 1 / 3]),
        ("letor4", "ndcg@3", [FIRST, 0, 0]),  # two documents: too short
        ("letor4", "ndcg@5", [0, 0, 0]),
        ("letor3", "map", [(1 + 2 / 3) / 2, 0, 1]),
        ("letor4", "map", [(1 + 2 / 3) / 2, 0, 1]),
        ("letor3", "p@3", [2 / 3, 0, 2 / 3]),
        ("letor4", "p@5", [2 / 5, 0, 2 / 5]),
    ],
)
def test_letor(convention: str, metric: str, expected: list[float]) -> None:
    found = evaluate(LABELS, SCORES, group=GROUP, metrics=metric, convention=convention)
    assert found.per_query[found.name_of(metric)].tolist() == [close(v) for v in expected]
    assert found[metric] == close(np.mean(expected))


# Options in addition to a convention -------------------------------------------------------------


def test_what_is_said_goes_before_the_convention() -> None:
    given_ = {"labels": LABELS, "scores": SCORES, "group": GROUP, "convention": "trec"}
    docno = list("abcdefg")
    linear = evaluate(**given_, metrics="ndcg", docno=docno)
    assert list(linear.mean) == ["ndcg(gain=linear)"]
    for options in ({"metrics": "ndcg(gain=exp2)"}, {"metrics": "ndcg", "gain": "exp2"}):
        exponential = evaluate(**given_, **options, docno=docno)
        assert list(exponential.mean) == ["ndcg"]
        assert exponential["ndcg"] != linear["ndcg"]
    assert evaluate(**given_, metrics="ndcg", ties="worst")["ndcg"] < linear["ndcg"]
    skipped = evaluate(**given_, metrics="ndcg", docno=docno, empty="skip")
    assert skipped["ndcg"] == close(1.5 * linear["ndcg"])


def test_document_numbers_are_sorted_once_for_all_metrics(monkeypatch: Any) -> None:
    calls = []
    places = evaluate_run._places
    monkeypatch.setattr(evaluate_run, "_places", lambda docno: (calls.append(1), places(docno))[1])
    found = evaluate(
        [1, 0, 0], [0.5, 0.5, 0.1], group=[3], docno=["a", "b", "c"], convention="trec",
        metrics=["map", "mrr", "ndcg"],
    )  # fmt: skip
    assert (len(calls), found["mrr"]) == (1, 0.5)  # trec_eval puts the later number first
