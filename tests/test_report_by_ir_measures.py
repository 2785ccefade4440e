"""The values of a report and of per_query.csv, computed again by ir-measures from run files.

AP, RR, P@k, R@k and NDCG with linear gain are the same measures in trec_eval, to which ir-measures
hands them.  NDCG with the gain 2^l - 1 is too, once these gains are written into the qrels.  Two
rules differ: trec_eval breaks ties by document number where we take the mean over orders, and
counts 0 on queries without a relevant document, where we have no value.  AUC it does not have.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import Reader

from lambdaplus.data import Fold, RankingData, read_letor
from lambdaplus.study import Study, Summary, find_methods, write_report, write_tables
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


@pytest.fixture(scope="module")
def study(data_folder: Path) -> Study:
    """Two folds of MQ2008, by a method without ties."""
    if not (data_folder / "mq2008").is_dir():
        pytest.skip(f"MQ2008 is not in {data_folder}")
    parts = [read_letor(data_folder / "mq2008" / f"S{i}.txt.xz") for i in (1, 2, 3)]
    folds = [Fold("Fold1", *parts), Fold("Fold2", parts[1], parts[2], parts[0])]
    study = Study(folds, find_methods(f"{__name__}:LeastSquares"), NAMES)
    study.finish()
    return study


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


@pytest.mark.slow
@pytest.mark.usefixtures("empty_plots")
def test_report_has_the_numbers_of_ir_measures(study: Study, tmp_path: Path) -> None:
    write_tables(study.results, tmp_path)
    page = write_report(Summary(study.results), tmp_path)
    heads, row = Reader(page.read_text("utf-8")).tables[0]
    shown = dict(zip(heads, row, strict=True))
    with (tmp_path / "per_query.csv").open(newline="") as file:
        written = {(r["fold"], r["metric"], r["qid"]): r["value"] for r in csv.DictReader(file)}
    means: dict[str, list[float]] = {name: [] for name in NAMES}
    for choice in study.choices(study.methods[0]):
        test = choice.fold.test
        theirs = by_ir_measures(test, choice.chosen(choice.by).test, tmp_path)
        relevant = {str(qid) for qid in test.qid[test.labels >= 1]}
        queries = sorted({*map(str, test.qid)})
        assert 0 < len(relevant) < len(queries)
        for name in NAMES:
            # Precision is 0 without a relevant document; the others have no value.
            defined = [q for q in queries if q in relevant or name.startswith("p@")]
            ours = {q: written[choice.fold.name, name, q] for q in queries}
            assert [q for q in queries if ours[q]] == defined
            values = [theirs[name, q] for q in defined]
            assert [float(ours[q]) for q in defined] == pytest.approx(values, abs=1e-9), name
            means[name].append(float(np.mean(values)))
    for name, of_folds in means.items():
        value = shown[label(name)].partition("|")[0]
        assert float(value) == pytest.approx(np.mean(of_folds), abs=0.5e-4 + 1e-9), name
