"""The ECIR 2016 preset: its measurements and what it makes of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from small_data import graded, letor_folder

from lambdaplus import evaluate
from lambdaplus.data import Fold, RankingData
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Method, Study
from lambdaplus.study.methods import Fitted
from lambdaplus.study.registry import find_methods
from papers import run_preset
from papers.versus import Versus
from papers.welleck_2016 import WELLECK_2016, claims, preset, sections, timing


def against(first: float, second: float, p: float = 0.01, metric: str = "map") -> Versus:
    return Versus(metric, first, second, p, 1, 1)


def test_class_claims_look_at_the_commonest_and_the_rarest_class() -> None:
    shares = {1: 0.3, 2: 0.6, 3: 0.1}
    pairs = {1: against(0.1, 0.9), 2: against(0.6, 0.5), 3: against(0.5, 0.6)}
    assert [claim.holds for claim in claims.class_claims(pairs, shares)] == [True, True]
    pairs |= {2: against(0.6, 0.5, p=0.06), 3: against(0.6, 0.5)}
    assert [claim.holds for claim in claims.class_claims(pairs, shares)] == [False, False]


def test_precision_evidence_counts_cutoffs() -> None:
    pairs = [against(0.6, 0.5), against(0.6, 0.5, p=0.5), against(0.5, 0.6)]
    said = claims.precision_evidence(pairs)
    assert said.startswith("higher for 2 of 3 k, significantly for 1; significantly lower for 1.")


def test_times_are_scaled_to_the_papers_folds() -> None:
    trees = {"seconds": 3600.0, "documents": 1e5, "queries": 6000, "converged": 1.0}
    svm = {**trees, "seconds": 11.9 * 3600}
    assert [claim.holds for claim in claims.time_claims(trees, svm)] == [False, False]  # 5 h
    trees["seconds"] = 3599.0
    assert [claim.holds for claim in claims.time_claims(trees, svm)] == [True, False]
    assert next(claims.time_claims({**trees, "queries": 3000}, svm)).holds is False
    [_, long] = claims.time_claims(trees, {**svm, "queries": 5900})
    assert long.holds is True
    [_, failed] = claims.time_claims(trees, {**svm, "converged": 0.0})
    assert failed.holds is True
    assert "do not converge" in failed.evidence


def test_zero_mean_counts_queries_without_a_value() -> None:
    made = graded(30)
    data = RankingData(made.features, made.labels * (made.qid > 5), made.qid)
    fold = Fold("one", data, data, data)

    def train(*_: Any) -> Fitted:
        return Fitted(lambda part: np.asarray(part.features[:, 0]))

    method = Method("column", train, "", "map", random=False)
    study = Study([fold], [method], [parse_metric("map")])
    list(study.run())
    found = evaluate(data.labels, data.features[:, 0], qid=data.qid, metrics="map")
    values = found.per_query["map"]
    assert np.isnan(values).sum() >= 6
    expected = np.nan_to_num(values).mean()
    assert sections.zero_mean(study, method, "map") == pytest.approx(expected)
    assert study.results.mean(method.name, study.metrics[0]) > expected


def test_class_shares_are_of_relevant_training_documents() -> None:
    data = RankingData(np.zeros((6, 1)), [0, 1, 1, 2, 1, 0], [1] * 6)
    [method] = find_methods("feature:best")
    study = Study([Fold("one", data, data, data)], [method], [parse_metric("map")])
    assert sections.class_shares(study) == {1: 0.75, 2: 0.25}


def test_svm_time_says_what_did_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    assert timing.svm_time(8, 1.0)["converged"] == 1.0

    class Endless:
        def __init__(self, C: float) -> None:
            pass

        def fit(self, *_: Any, **__: Any) -> None:
            warnings.warn("the duality gap is still wide", ConvergenceWarning, stacklevel=1)

    monkeypatch.setattr(timing, "ClassAUCSVM", Endless)
    found = timing.svm_time(8, 1.0)
    assert found["converged"] == 0.0
    assert found["queries"] == 8
    assert found["documents"] == timing.mslr_like(8).train.labels.size


def test_binary_fold() -> None:
    data = RankingData(np.zeros((3, 1)), [0, 1, 4], [1, 1, 1])
    assert preset.binary_fold(Fold("one", data, data, data)).test.labels.tolist() == [0, 1, 1]


@pytest.mark.slow
def test_the_preset_from_data_to_report(tmp_path: Path) -> None:
    data = letor_folder(tmp_path / "small", folds=2)
    options = preset.Options(queries=12, rounds=5)
    [found] = run_preset(WELLECK_2016, [data], tmp_path / "out", options=options)
    exhibits = {e.name: e.content for section in found.sections for e in section.exhibits}
    ours = next(row for row in exhibits["tables_1_2"].rows if row[0] == "ours")
    assert ours[1] == exhibits["readings"].rows[0][1]
    assert 0.5 < ours[1] < 1.0
    classes = [row for row in exhibits["table_3"].rows if row[0] == "ours"]
    assert [row[1] for row in classes] == [1, 2, 3]
    assert len(exhibits["figure_2_table"].rows) == 10
    # At 1 both count whether the first document is of the class predicted there.
    first = exhibits["figure_2_table"].rows[0]
    assert first[1] == first[3]
    assert all(claim.holds in (True, False) for claim in found.claims)
    assert "Table 3" in (tmp_path / "out" / "report.html").read_text()
