"""The KDD 2008 preset: its cleaning rule, its measurements, and what it makes of them."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from small_data import graded, letor_folder

from lambdaplus import evaluate
from lambdaplus.baselines import StructuralSVM, cutting_planes
from lambdaplus.baselines.oracles import make_loss, ranked
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Method, Study
from lambdaplus.study.methods import Fitted
from papers import run_preset
from papers.chakrabarti_2008 import CHAKRABARTI_2008, claims, preset, study_claims
from papers.chakrabarti_2008.cleaning import Size, clean, prepared
from papers.chakrabarti_2008.experiments import (
    AssignmentOracle,
    assignment_time,
    like_trec,
    path_over_c,
    svm_time,
)
from papers.versus import versus

# Cleaning ---------------------------------------------------------------------------------------


def cosine(a: Any, b: Any) -> float:
    long = math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / long if long else 0.0


@given(st.data())
@examples(150)
def test_cleaning_drops_what_a_look_at_every_pair_drops(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    row = st.lists(st.integers(0, 2), min_size=3, max_size=3)
    X = data.draw(st.lists(row, min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    qid = sorted(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    limit = data.draw(st.sampled_from([0.6, 0.85, 0.99]))
    keep = [
        any(X[i])
        and not any(
            qid[i] == qid[j] and (y[i] >= 1) != (y[j] >= 1) and cosine(X[i], X[j]) > limit
            for j in range(n)
        )
        for i in range(n)
    ]
    made = RankingData(X, y, qid)
    if not any(keep):
        with pytest.raises(ValueError, match="leaves no document"):
            clean(made, limit)
        return
    left = clean(made, limit)
    np.testing.assert_array_equal(left.features, np.array(X)[keep])
    np.testing.assert_array_equal(left.labels, np.array(y)[keep])
    np.testing.assert_array_equal(left.qid, np.array(qid)[keep])


def test_size_counts_queries_that_teach_something() -> None:
    data = RankingData([[1.0], [0.0], [2.0], [3.0], [0.0]], [2, 0, 1, 0, 0], [1, 1, 2, 3, 3])
    assert Size.of(data) == (3, 1, 2, 3, 2)
    assert prepared(data).labels.tolist() == [1, 0, 1, 0, 0]


@pytest.mark.slow
def test_letor_2_ohsumed_is_the_papers(data_folder: Path) -> None:
    from small_data import folds_of

    fold = folds_of(data_folder, "ohsumed-letor2")[0]
    sizes = [Size.of(part) for part in (fold.train, fold.valid, fold.test)]
    total = Size(*map(sum, zip(*sizes, strict=True)))
    assert claims.data_claim("ohsumed-letor2", total).verdict == "confirmed"
    assert claims.data_claim("ohsumed-letor2", sizes[0]).verdict == "not confirmed"
    assert claims.data_claim("mq2008", total).verdict == "cannot be tested here"


# Measurements -----------------------------------------------------------------------------------


def small(n_queries: int = 20) -> RankingData:
    made = graded(n_queries)
    return prepared(RankingData(made.features, made.labels, made.qid))


@pytest.mark.slow
def test_slack_falls_and_the_norm_grows_along_a_path() -> None:
    data = small()
    for parameters in ({"loss": "auc"}, {"loss": "map"}, {"loss": "ndcg", "cutoff": 5}):
        path = path_over_c(data, parameters, (0.01, 1.0, 100.0, 1e4))
        slack, norm = ([point[key] for point in path] for key in ("slack", "norm"))
        # Optima are within tol of the objective, slack + |w|^2 / 2C: that much it may be off.
        room = [2e-3 * point["share"] * point["slack_at_zero"] for point in path]
        assert all(b <= a + r for a, b, r in zip(slack, slack[1:], room, strict=False))
        assert slack[-1] < 0.95 * slack[0]
        assert norm[0] < norm[1] < norm[-1]


def test_slack_at_zero_is_the_worst_loss() -> None:
    data = small()
    [point] = path_over_c(data, {"loss": "auc"}, (1.0,))
    assert point["slack_at_zero"] == pytest.approx(Size.of(data).mixed / data.n_queries, rel=1e-9)


def test_time_is_that_of_the_oracle_and_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    data, at, minimise = small(), cutting_planes.Hinges.at, cutting_planes.minimise

    def slow(function: Any) -> Any:
        def called(*arguments: Any) -> Any:
            time.sleep(0.02)
            return function(*arguments)

        return called

    def fitted() -> tuple[float, float, int]:
        model = StructuralSVM("map", C=10.0).fit(data.features, data.labels, data.qid)
        oracle = [step.oracle_seconds for step in model.history_]
        assert all(a < b for a, b in itertools.pairwise(oracle))
        last = model.history_[-1]
        assert 0 < last.oracle_seconds < last.seconds
        return last.oracle_seconds, last.seconds - last.oracle_seconds, model.n_passes_

    fitted()  # compiles
    with monkeypatch.context() as patch:
        patch.setattr(cutting_planes.Hinges, "at", slow(at))
        oracle, _, passes = fitted()
        assert oracle >= 0.02 * passes
    with monkeypatch.context() as patch:
        patch.setattr(cutting_planes, "minimise", slow(minimise))
        _, quadratic, passes = fitted()
        assert passes > 2
        assert quadratic >= 0.02 * (passes - 1)


@pytest.mark.parametrize("reach", [3.0, 30.0])
def test_assignment_finds_rankings_as_bad_as_merging_does(reach: float) -> None:
    random = np.random.default_rng(0)
    data = small()
    queries = Queries(data.labels, group=data.group)
    metric = parse_metric("ndcg@10")
    merged = make_loss(metric, queries, feature_map="dorm", decay=int(reach)).oracle
    assigned = AssignmentOracle(metric, queries, reach)
    starts = np.cumsum(data.group) - data.group
    for scale in (0.01, 0.3, 3.0):
        scores = scale * random.normal(size=data.labels.size)
        worst = []
        for oracle in (merged, assigned):
            found = oracle(ranked(queries, scores))
            worst.append(found.loss + np.add.reduceat(found.coefficient * scores, starts))
        np.testing.assert_allclose(worst[0], worst[1], rtol=1e-12, atol=1e-12)
        assert worst[0].max() > 0


def test_times_are_of_fits_that_ran() -> None:
    data = like_trec(6, 20, 200)
    assert Size.of(data) == (6, 6, 20, 200, 0)
    for found in (svm_time(data, {"loss": "ndcg@10"}), assignment_time(data)):
        assert 0 < found["oracle"] < found["seconds"]
        assert found["passes"] >= 1


# Verdicts ---------------------------------------------------------------------------------------


def path(*slacks: float, norm: float = 1.0, share: float = 0.9) -> list[dict[str, float]]:
    return [
        {"C": 10.0**i, "slack": s, "slack_at_zero": 1.0, "share": share, "norm": norm * i}
        for i, s in enumerate(slacks)
    ]


def test_path_claims() -> None:
    paths = {
        "svm:auc": path(1.0, 0.5, share=0.5),
        "svm:map": path(1.0, 0.9),
        "svm:ndcg@10": path(1.0, 0.95),
        "svm:mrr": path(1.0, 0.4),
        "svm:dorm-30": path(1.0, 0.4),
    }
    assert [claim.holds for claim in claims.path_claims(paths)] == [True, True, True]
    for name, changed, verdicts in (
        ("svm:auc", path(1.0, 0.91, share=0.5), [False, True, True]),
        ("svm:dorm-30", path(1.0, 1.0), [True, False, True]),
        ("svm:map", path(1.0, 0.9, norm=0.0), [True, True, False]),
        ("svm:ndcg@10", path(1.0, 0.95, share=0.4), [True, True, False]),
    ):
        found = claims.path_claims({**paths, name: changed})
        assert [claim.holds for claim in found] == verdicts, name


def test_time_claims() -> None:
    def times(assigned: float, seconds: float) -> dict[str, dict[str, float]]:
        return {
            claims.NDCG: {"seconds": seconds, "oracle": 1.0, "passes": 10.0},
            claims.MERGED: {"seconds": 2.0, "oracle": 1.9, "passes": 10.0},
            claims.ASSIGNED: {"seconds": 1.01 * assigned, "oracle": assigned, "passes": 10.0},
            claims.TREES: {"seconds": 3.0},
        }

    documents = {"small": 100, "large": 200}

    def verdicts(small: Any, large: Any) -> list[bool | None]:
        found = claims.time_claims({"small": small, "large": large}, documents, 30)
        return [claim.holds for claim in found]

    assert verdicts(times(3.0, 1.05), times(30.0, 1.05)) == [True, True, True, None]
    assert verdicts(times(1.5, 1.05), times(30.0, 1.05)) == [False, True, True, None]
    assert verdicts(times(3.0, 1.05), times(8.0, 1.05)) == [True, False, True, None]
    assert verdicts(times(3.0, 1.5), times(30.0, 1.05)) == [True, True, False, None]


def fake(means: dict[str, dict[str, float]]) -> Any:
    """What the verdicts read of a study: SVMs trained for what stands behind their colon."""
    methods = [SimpleNamespace(name=n, family="svm", criterion=n[4:]) for n in means]
    return SimpleNamespace(
        methods=methods,
        metrics=[parse_metric(name) for name in next(iter(means.values()))],
        results=SimpleNamespace(mean=lambda method, metric: means[method][metric]),
    )


def test_own_criterion_counts_the_best_of_each_column() -> None:
    names = ("auc", "map", "mrr", "ndcg@10")
    own = {f"svm:{n}": {m: 0.5 + 0.1 * (m == n) for m in names} for n in names}
    assert study_claims.own_criterion(fake(own)).holds is False
    own["svm:map"] = dict.fromkeys(names, 0.9)
    assert study_claims.own_criterion(fake(own)).holds is True
    own["svm:map"] = {**dict.fromkeys(names, 0.5), "auc": 0.7}
    found = study_claims.own_criterion(fake(own))
    assert "svm:map by auc" in found.evidence
    assert found.holds is False


def test_averaged_pairs_and_rounds() -> None:
    study = fake({"svm:auc": {"auc": 0.8}, "svm:map": {"auc": 0.7}})
    little = fake({"svm:auc": {"auc": 0.6}, "svm:map": {"auc": 0.55}})
    much = fake({"svm:auc": {"auc": 0.6}, "svm:map": {"auc": 0.65}})
    assert study_claims.averaged_pairs(study, little).holds is True
    assert study_claims.averaged_pairs(study, much).holds is False

    def with_curve(*curve: float) -> Any:
        choice = SimpleNamespace(model=SimpleNamespace(curve=np.array(curve)))
        method = SimpleNamespace(name=study_claims.MCRANK)
        return SimpleNamespace(methods=[method], choices=lambda _: [choice])

    falls, rises = [0.5, *[0.4] * 60], [*[0.4] * 60, 0.5]
    assert study_claims.many_rounds(with_curve(*falls), 30).holds is None
    assert study_claims.many_rounds(with_curve(*falls), 61).holds is True
    assert study_claims.many_rounds(with_curve(*rises), 61).holds is False


def test_versus_is_wilcoxon_on_the_queries_of_all_folds() -> None:
    made = graded(40)
    data = RankingData(made.features, made.labels, made.qid)
    folds = [Fold(name, data, data, data) for name in ("one", "two")]

    def column(j: int) -> Method:
        def train(*_: Any) -> Fitted:
            return Fitted(lambda part: np.asarray(part.features[:, j]))

        return Method(f"column {j}", train, "", "map", random=False)

    study = Study(folds, [column(0), column(3)], [parse_metric("map")])
    list(study.run())
    found = versus(study, "column 0", "column 3", "map")
    a, b = (
        evaluate(data.labels, data.features[:, j], qid=data.qid, metrics="map").per_query["map"]
        for j in (0, 3)
    )
    known = ~np.isnan(a)
    twice = np.tile((a - b)[known], 2)
    assert found.first == pytest.approx(np.nanmean(a))
    assert found.second == pytest.approx(np.nanmean(b))
    assert found.p == pytest.approx(stats.wilcoxon(twice).pvalue)
    assert (found.wins, found.losses) == ((twice > 0).sum(), (twice < 0).sum())
    assert (found.better, found.worse) == (True, False)
    back = versus(study, "column 3", "column 0", "map")
    assert (back.better, back.worse) == (False, True)
    with pytest.raises(ValueError, match="nobody has not finished"):
        versus(study, "nobody", "column 0", "map")


# All of it --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_preset_from_data_to_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preset, "SHAPES", {"long": (4, 8, 160)})
    data = letor_folder(tmp_path / "small", folds=2)
    [first] = run_preset(CHAKRABARTI_2008, [data], tmp_path / "out")
    monkeypatch.setattr(
        "papers.exhibit_files.save_plot", lambda *_: "<svg></svg>"
    )  # it takes a while
    [again] = run_preset(CHAKRABARTI_2008, [data], tmp_path / "out")
    assert first.claims == again.claims  # measured times too are kept
    exhibits = {e.name: e.content for section in first.sections for e in section.exhibits}
    trained = {row[0]: row for row in exhibits["figure_9"].rows}
    assert trained["svm:auc"][2] > 0.6 > 0.5
    assert "not confirmed" in (tmp_path / "out" / "report.html").read_text()
    with pytest.raises(ValueError, match="cosine"):
        run_preset(CHAKRABARTI_2008, [data], tmp_path / "out", options=preset.Options(cosine=1.0))
