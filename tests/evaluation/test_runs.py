"""Runs from files, and the command evaluate."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from commands import invoke
from sklearn.metrics import average_precision_score, roc_auc_score
from test_conventions import TREC, trec_eval

from lambdaplus import evaluate, explain
from lambdaplus.data import read_letor, read_qrels, read_scores, read_trec_run
from lambdaplus.evaluation.evaluate_run import evaluate_run
from lambdaplus.lists.runs import Run, run_of_dictionaries

# TREC --------------------------------------------------------------------------------------------


def trec_files(folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """A run that misses judged documents, finds unjudged ones, has ties, and lacks a query."""
    random = np.random.default_rng(seed)
    qrels, run = [], []
    for q in range(30):
        documents = random.permutation(40)
        grades = random.integers(-2, 3, 20)
        qrels += [f"q{q} 0 doc{d} {y}" for d, y in zip(documents, grades, strict=False)]
        if q == 7:
            continue
        found = random.permutation(40)[: random.integers(1, 30)]
        run += [f"q{q} Q0 doc{d} 0 {random.integers(0, 9)} test" for d in found]
    run.append("nobody Q0 doc1 1 2.5 test")  # not judged
    paths = folder / "judged.qrels", folder / f"ours{seed}.run"
    paths[0].write_text("\n".join(qrels) + "\n")
    paths[1].write_text("\n\n".join(run))
    return paths


@pytest.mark.parametrize("seed", range(3))
def test_trec_files_evaluate_as_by_trec_eval(tmp_path: Path, seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels_file, run_file = trec_files(tmp_path, seed)
    with qrels_file.open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    run = pytrec_eval.parse_run([line for line in run_file.read_text().splitlines() if line])
    ours = read_trec_run(run_file, read_qrels(qrels_file))
    found = evaluate_run(ours, list(TREC), convention="trec")
    assert found.n_queries == 30
    for name, theirs in trec_eval(qrels, run).items():
        values = dict(zip(found.qid, found.per_query[found.name_of(name)], strict=True))
        assert values.pop("q7") == 0.0  # nothing returned; trec_eval leaves the query out
        expected = {q: value for q, value in theirs.items() if q in values}
        assert values == pytest.approx(expected, abs=1e-9), name
    of_dictionaries = evaluate(qrels, run, metrics=list(TREC), convention="trec")
    assert of_dictionaries.qid.tolist() == found.qid.tolist()
    np.testing.assert_equal(of_dictionaries.per_query, found.per_query)
    assert explain("rprec", qrels, run)["trec"].value == pytest.approx(found["rprec"])


def test_documents_that_were_not_returned_score_below_all_that_were() -> None:
    """Also below the last of these, with which they would be tied otherwise."""
    run = run_of_dictionaries({"q": {"a": 1.0, "b": 0.0}}, {"q": {"b": 0.5}})
    score_of = dict(zip(run.docno, run.scores, strict=True))
    assert score_of["a"] < score_of["b"] == 0.5


def test_a_label_below_0_says_that_a_document_was_not_judged() -> None:
    """Whatever the convention: it has label 0 if it was returned, and is left out otherwise."""
    labels = {"a": 1.0, "b": -1.0, "c": -2.0, "d": 0.0}
    run = run_of_dictionaries({"q": labels}, {"q": {"a": 0.5, "b": 0.7}})
    found = dict(zip(run.docno.tolist(), run.labels.tolist(), strict=True))
    assert found == {"a": 1.0, "b": 0.0, "d": 0.0}


def test_documents_that_were_not_returned_stand_at_no_rank() -> None:
    run = Run("a", [0, 1, 1], [3, 2, 1], ["q"] * 3, returned=[True, True, False])
    found = evaluate_run(run, ["map", "mrr", "p@3", "recall@3", "auc"])
    assert found["map"] == pytest.approx((1 / 2 + 0) / 2)
    assert found["p@3"] == pytest.approx(1 / 3)
    assert found["recall@3"] == 0.5
    assert found["auc"] == 0.0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run", "q1 Q0 d1 1 2.5", r"line 2: a line of a run has 6 fields .* this one has 5"),
        ("run", "q1 Q0 d1 1 high tag", r"line 2: the score 'high' is not a finite number"),
        ("run", "q1 Q0 d2 1 3 tag", r"line 2: d2 of q1 is returned twice"),
        ("qrels", "q1 0 d1", r"line 2: a judgement has 4 fields .* this one has 3"),
        ("qrels", "q1 0 d1 yes", r"line 2: the label 'yes' is not a finite number"),
        ("qrels", "q1 0 d2 1", r"line 2: d2 of q1 is judged twice"),
        ("scores", "2\n3", "has 3 scores for 4 documents"),
        ("scores", "x\n3\n4", "line 2: the score 'x' is not a finite number"),
        ("scores", "2 3\n4\n5", "line 2: there must be one score, not 2"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    data, _ = letor_files(tmp_path)
    first, read = {
        "run": ("q1 Q0 d2 1 1.5 tag", lambda file: read_trec_run(file, {"q1": {"d1": 1.0}})),
        "qrels": ("q1 0 d2 1", read_qrels),
        "scores": ("1", lambda file: read_scores(file, read_letor(data))),
    }[name]
    (tmp_path / name).write_text(f"{first}\n{text}\n")
    with pytest.raises(ValueError, match=rf"{name}.*{message}"):
        read(tmp_path / name)


def letor_files(folder: Path) -> tuple[Path, Path]:
    (folder / "test.txt").write_text("2 qid:1 1:0.5\n0 qid:1 1:0.1\n1 qid:2 1:0.5\n0 qid:2 1:1\n")
    with gzip.open(folder / "scores.txt.gz", "wt") as file:
        file.write("0.5\n0.25\n1\n2e0\n")
    return folder / "test.txt", folder / "scores.txt.gz"


# The commands ------------------------------------------------------------------------------------


def test_ranks_and_judgements_as_in_ms_marco_and_beir(tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "qrels.tsv"
    run.write_text("7\tb\t2\n7\ta\t1\n8\tx\t1\n8\tc\t2\n")
    for judged in (
        "7\tb\t1\n8\tc\t2\n", "7 0 b 1\n8 0 c 2\n", "query-id\tcorpus-id\tscore\n7\tb\t1\n8\tc\t2\n"
    ):  # fmt: skip
        qrels.write_text(judged)
        assert read_qrels(qrels) == {"7": {"b": 1}, "8": {"c": 2}}
    found = read_trec_run(run, read_qrels(qrels))
    assert evaluate_run(found, ["mrr"])["mrr"] == 0.5  # second of two documents, both times
    for ranks in ("7 a 0\n7 b 1\n", "7 a 1\n7 b 1\n", "7 a 2\n", "7 a 1\n7 b 3\n"):
        run.write_text(ranks)
        with pytest.raises(ValueError, match="the ranks of 7 are not 1, 2, 3"):
            read_trec_run(run, read_qrels(qrels))


def test_evaluate_several_runs(tmp_path: Path) -> None:
    _, other = trec_files(tmp_path, 1)
    qrels, run = trec_files(tmp_path)  # which overwrites the judgements
    per_query = tmp_path / "values.csv"
    arguments = [run, other, "--qrels", qrels, "--metrics", "map,p@5", "--convention", "trec"]
    output = invoke("evaluate", *arguments, "--per-query", per_query, "--pairs").output
    assert "W/L/T" in output
    assert output.count("Letters: better") == 1
    with per_query.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 30 * 2
    found = evaluate_run(read_trec_run(run, read_qrels(qrels)), ["map"], convention="trec")
    mine = [r for r in rows if r["run"] == "ours0" and r["metric"].startswith("map")]
    assert [float(row["value"]) for row in mine] == found.per_query[found.name_of("map")].tolist()


def test_a_table_without_queries_is_evaluated_as_one_ranking(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 50), rng.normal(size=50)
    lines = [f"{label},{score}" for label, score in zip(labels, scores, strict=True)]
    (tmp_path / "fraud.csv").write_text("\n".join(["yes,score", *lines]))
    found = invoke("evaluate", tmp_path / "fraud.csv", "--columns", "none,yes,score")
    assert f"{roc_auc_score(labels, scores):.4f}" in found.output
    assert f"{average_precision_score(labels, scores):.4f}" in found.output
    assert "50 rows without queries" in found.output
