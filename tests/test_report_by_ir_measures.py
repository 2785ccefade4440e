"""The values of a report and of per_query.csv, computed again by ir-measures from run files.

AP, RR, P@k, R@k and NDCG with linear gain are the same measures in trec_eval, to which ir-measures
hands them.  NDCG with the gain 2^l - 1 is too, once these gains are written into the qrels.  Two
rules differ: trec_eval breaks ties by document number where we take the mean over orders, and
counts 0 on queries without a relevant document, where we have no value.  AUC it does not have.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import Reader

from lambdaplus.data import Fold, RankingData, read_letor
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Study, find_methods, write_csv, write_report
from lambdaplus.study.summary import label

ir_measures = pytest.importorskip("ir_measures")

BINARY = {"map": "AP", "mrr": "RR", "p@1": "P@1", "p@10": "P@10", "recall@10": "R@10"}
LINEAR = {"ndcg(gain=linear)": "nDCG", "ndcg(gain=linear)@10": "nDCG@10"}
EXPONENTIAL = {"ndcg": "nDCG", "ndcg@1": "nDCG@1", "ndcg@10": "nDCG@10"}
NAMES = [*BINARY, *LINEAR, *EXPONENTIAL]


class LeastSquares:
    """A linear regression whose scores are places: no two are the same."""

    def fit(self, X: Any, y: Any) -> LeastSquares:
        self.weights = np.linalg.lstsq(X, y)[0]
        return self

    def predict(self, X: Any) -> Any:
        return np.argsort(np.argsort(X @ self.weights, kind="stable")).astype(float)


METHODS = (f"{__name__}:LeastSquares", "feature:best")


@pytest.fixture(scope="module")
def study(data_folder: Path) -> Study:
    """Two folds of MQ2008, by a method without ties and by one with many."""
    if not (data_folder / "mq2008").is_dir():
        pytest.skip(f"MQ2008 is not in {data_folder}")
    parts = [read_letor(data_folder / "mq2008" / f"S{i}.txt.xz") for i in (1, 2, 3)]
    folds = [Fold("Fold1", *parts), Fold("Fold2", parts[1], parts[2], parts[0])]
    found = Study(folds, find_methods(",".join(METHODS)), [parse_metric(name) for name in NAMES])
    list(found.run())
    assert found.errors == {}
    return found


def by_ir_measures(data: RankingData, scores: Any, folder: Path) -> dict[tuple[str, str], float]:
    """Value of each of our metrics on each query, by metric and qid, from files."""
    documents = [f"d{i}" for i in range(len(scores))]
    rows = list(zip(data.qid.tolist(), documents, data.labels, scores, strict=True))
    run = folder / "run.txt"
    run.write_text("".join(f"{q} Q0 {d} 0 {float(s)!r} ours\n" for q, d, _, s in rows))
    found = {}
    for names, gain in ((BINARY | LINEAR, lambda y: y), (EXPONENTIAL, lambda y: 2**y - 1)):
        qrels = folder / "qrels.txt"
        qrels.write_text("".join(f"{q} 0 {d} {int(gain(y))}\n" for q, d, y, _ in rows))
        ours = {ir_measures.parse_measure(theirs): name for name, theirs in names.items()}
        for one in ir_measures.iter_calc(
            list(ours), ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
        ):
            found[ours[one.measure], one.query_id] = one.value
    return found


def conventions_agree(data: RankingData, scores: Any) -> dict[str, bool]:
    """Whether a query has no documents of different labels with the same score."""
    found = {}
    for qid in np.unique(data.qid):
        rows = data.qid == qid
        pairs = np.unique(np.column_stack([scores[rows], data.labels[rows]]), axis=0)
        found[str(qid)] = len(np.unique(pairs[:, 0])) == len(pairs)
    return found


def written_values(folder: Path) -> Mapping[tuple[str, ...], str]:
    with (folder / "per_query.csv").open(newline="") as file:
        return {
            (row["method"], row["fold"], row["metric"], row["qid"]): row["value"]
            for row in csv.DictReader(file)
        }


@pytest.mark.slow
@pytest.mark.usefixtures("empty_plots")
def test_the_report_has_the_numbers_of_ir_measures(study: Study, tmp_path: Path) -> None:
    write_csv(study.results, tmp_path)
    page = write_report(study.results, tmp_path).read_text(encoding="utf-8")
    heads, *rows = Reader(page).tables[0]
    shown = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    written = written_values(tmp_path)
    compared = {}
    for method in study.methods:
        means: dict[str, list[float]] = {name: [] for name in NAMES}
        alike = []
        for choice in study.choices(method):
            test, scores = choice.fold.test, choice.model.test_scores
            theirs = by_ir_measures(test, scores, tmp_path)
            agree = conventions_agree(test, scores)
            alike += agree.values()
            relevant = {str(qid) for qid in test.qid[test.labels >= 1]}
            assert 0 < len(relevant) < test.n_queries
            for name in NAMES:
                found = []
                for qid, tells in agree.items():
                    ours = written[method.name, choice.fold.name, name, qid]
                    # Precision is 0 without a relevant document; the others have no value.
                    assert (ours == "") == (qid not in relevant and not name.startswith("p@"))
                    if ours == "":
                        continue
                    if tells:
                        assert float(ours) == pytest.approx(theirs[name, qid], abs=1e-9), name
                    found.append(theirs[name, qid] if tells else float(ours))
                means[name].append(float(np.mean(found)))
        compared[method.name] = np.mean(alike)
        for name, of_folds in means.items():
            value = shown[method.name][label(name)].partition("|")[0]
            assert float(value) == pytest.approx(np.mean(of_folds), abs=0.5e-4 + 1e-9), name
    assert compared[METHODS[0]] == 1  # every number of the table, by ir-measures alone
    assert 0.2 < compared[METHODS[1]] < 1
