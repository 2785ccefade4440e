"""The papers' presets: on a small set, against figures by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon
from typer.testing import CliRunner

from lambdaplus import evaluate
from lambdaplus.evaluation import Evaluation, Table
from lambdaplus.study import Method, Study
from papers import PRESETS, Claim, Findings, Preset, Session, run_preset
from papers.__main__ import app
from papers.elsas_2008 import table5
from papers.elsas_2008.figure1 import FORMS, TITLES, Figure1
from papers.elsas_2008.table4 import NDCG_10
from papers.kept import keep_each
from papers.markdown import markdown_of
from papers.yue_2007 import trials
from papers.yue_2007.claims import claims as yue_claims
from papers.yue_2007.tables import BASES, OTHERS, OURS, Against

YUE, ELSAS = (next(p for p in PRESETS if p.name == name) for name in ("yue-2007", "elsas-2008"))
YUE_SMALL = YUE.options(trials=6, train=2, valid=1, test=3, thresholds=3)
ELSAS_SMALL = ELSAS.options(passes=2, seeds=2, curve_passes=3)
SMALL = {YUE.name: YUE_SMALL, ELSAS.name: ELSAS_SMALL}


@pytest.fixture(scope="module")
def letor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of four queries a part; one query has no relevant document."""
    folder = tmp_path_factory.mktemp("small")
    rng = np.random.default_rng(0)
    for fold in (1, 2):
        (folder / f"Fold{fold}").mkdir()
        for part, name in enumerate(("train", "vali", "test")):
            lines = []
            for query in range(4):
                for _ in range(10 + query):
                    x = rng.normal(size=5)
                    label = int(np.clip(round(x[0] + x[1] / 2 + rng.normal()), 0, 2))
                    label = 0 if (name, query) == ("test", 3) else label
                    values = " ".join(f"{i + 1}:{v:.4f}" for i, v in enumerate(x))
                    lines.append(f"{label} qid:{fold}{part}{query} {values}")
            (folder / f"Fold{fold}" / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


Finished = Callable[[Preset], tuple[Findings, list[Study], Path]]


@pytest.fixture(scope="module")
def finished(letor: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A preset's findings, the studies that they rest on, and the folder: one run for all tests."""

    @cache
    def of(name: str) -> tuple[Findings, list[Study], Path]:
        studies: list[Study] = []
        run = Session.study

        def spied(self: Session, *args: Any, **kwargs: Any) -> Study:
            studies.append(run(self, *args, **kwargs))
            return studies[-1]

        preset = next(preset for preset in PRESETS if preset.name == name)
        out = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Session, "study", spied)
            [found] = run_preset(preset, [letor], out, options=SMALL[name])
        return found, studies, out

    return lambda preset: of(preset.name)


def tables_of(found: Findings) -> dict[str, Table]:
    exhibits = [exhibit for section in found.sections for exhibit in section.exhibits]
    return {e.name: e.content for e in exhibits if isinstance(e.content, Table)}


def average_precision(labels: np.ndarray, scores: np.ndarray) -> float:
    """Without tied scores."""
    ranked = labels[np.argsort(-scores)] >= 1
    return float(np.mean(np.cumsum(ranked)[ranked] / (np.flatnonzero(ranked) + 1)))


@pytest.mark.slow
def test_yue_trials_are_balanced_and_tables_are_those_of_the_mean_values_by_hand(
    finished: Finished,
) -> None:
    found, studies, _ = finished(YUE)
    with_best, fewer = studies
    assert [fold.train.features.shape[1] for fold in (*with_best.folds, *fewer.folds)] == (
        [5] * 6 + [4] * 6
    )
    for part, times in (("train", 2), ("valid", 1), ("test", 3)):
        qids = np.concatenate([np.unique(getattr(f, part).qid) for f in with_best.folds])
        assert np.unique(qids, return_counts=True)[1].tolist() == [times] * 6
    by_hand: dict[str, dict[int, list[float]]] = {}
    for method in with_best.methods:
        for choice in with_best.choices(method):
            test = choice.fold.test
            for qid in np.unique(test.qid):
                rows = test.qid == qid
                scores = choice.model.test_scores[rows]
                if np.unique(scores).size == scores.size:
                    value = average_precision(test.labels[rows], scores)
                else:  # tied: the mean over the orders, which other tests check
                    value = evaluate(test.labels[rows], scores, group=[rows.sum()], metrics="map")[
                        "map"
                    ]
                by_hand.setdefault(method.name, {}).setdefault(int(qid), []).append(value)
    means = {
        name: np.array([np.mean(values[qid]) for qid in sorted(values)])
        for name, values in by_hand.items()
    }
    for row in tables_of(found)["tables_9_10"].rows:
        name, mean, score, _, *paper = row
        assert mean == pytest.approx(means[name].mean(), abs=1e-12)
        if name != OURS:
            difference = means[OURS] - means[name]
            difference[np.abs(difference) < 1e-12] = 0
            won, lost = (difference > 0).sum(), (difference < 0).sum()
            stars = "**" if wilcoxon(difference).pvalue < 0.05 else ""
            assert score == f"{won}/{lost}{stars}"
    assert paper == ["0.155 48/2**", "0.155 48/2**", "0.233 47/3**", "0.238 46/4**"]


def test_yue_base_functions_are_the_best_features_and_the_best_is_removed(letor: Path) -> None:
    queries = trials.chosen_queries(Session(letor, letor).whole, 6)
    assert queries.n_queries == 6
    assert set(np.unique(queries.labels)) == {0.0, 1.0}
    assert sorted(queries.group.tolist()) == [11, 12, 12, 12, 13, 13]  # the longest that do
    of_query = [queries.qid == q for q in np.unique(queries.qid)]
    by_hand = [
        np.mean([average_precision(queries.labels[q], queries.features[q, j]) for q in of_query])
        for j in range(5)
    ]
    bases = trials.base_functions(queries)
    assert list(bases) == np.argsort(by_hand)[::-1].tolist()
    assert next(iter(bases)) == 0  # the labels were made of it
    assert [run["map"] for run in bases.values()] == pytest.approx(sorted(by_hand)[::-1])
    left = trials.without(queries, 0).features
    np.testing.assert_array_equal(left, queries.features[:, 1:])


def test_yue_needs_enough_queries(letor: Path) -> None:
    with pytest.raises(ValueError, match=r"need 12 queries .* has 11"):
        trials.chosen_queries(Session(letor, letor).whole, 12)
    with pytest.raises(ValueError, match="1 trials of 3 test queries do not test each of 6"):
        YUE.run(Session(letor, letor), replace(YUE_SMALL, trials=1))


@pytest.mark.slow
@pytest.mark.parametrize("preset", [YUE, ELSAS], ids=lambda preset: preset.name)
def test_a_second_run_fits_nothing_and_writes_the_same(
    preset: Preset, letor: Path, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = finished(preset)[2]
    before = (out / "findings.md").read_text()

    def refuse(*_: Any) -> None:
        raise AssertionError("it was fitted again")

    monkeypatch.setattr(Method, "fit", refuse)
    monkeypatch.setattr("papers.kept.compute", refuse)
    (out / "findings.md").unlink()
    run_preset(preset, [letor], out, options=SMALL[preset.name])
    assert (out / "findings.md").read_text() == before


@pytest.mark.slow
def test_a_stopped_run_goes_on(
    letor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, calls = Method.fit, []

    def stopped(self: Method, *args: Any) -> Any:
        calls.append(self.name)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return fit(self, *args)

    monkeypatch.setattr(Method, "fit", stopped)
    monkeypatch.setattr(
        "papers.exhibit_files.save_plot", lambda *_: "<svg></svg>"
    )  # it takes a while
    command = [
        "yue-2007", str(letor), "--out", str(tmp_path), "--jobs", "1",
        "--trials", "6", "--train", "2", "--valid", "1", "--test", "3", "--thresholds", "3",
    ]  # fmt: skip
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 130
    assert "goes on" in result.output
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    n_points = 2 * 4 + 2 * 4 + 2 * 3
    assert len(calls) == 1 + 2 * 6 * n_points  # the one that was stopped, and each once
    first = (tmp_path / "findings.md").read_text()
    assert "python -m papers yue-2007 small" in first.replace(letor.name, "small")
    assert "--train 2 --valid 1 --test 3 --thresholds 3" in first


def against(values: dict[str, list[float]]) -> tuple[Against, dict[str, Evaluation]]:
    like = evaluate([1, 0] * 8, [1.0, 0.0] * 8, group=[2] * 8, metrics="map")
    runs = {
        name: replace(like, per_query={"map": np.array(found)}, mean={"map": np.mean(found)})
        for name, found in values.items()
    }
    return Against.of(runs), runs


@pytest.mark.parametrize(("shift", "holds"), [(-0.1, True), (0.1, False), (0.0, False)])
def test_yue_verdicts_follow_the_figures(shift: float, holds: bool) -> None:
    base = np.linspace(0.3, 0.6, 8)
    spread = shift + 0.001 * np.arange(8) * np.sign(shift)
    values = {OURS: base.tolist(), **{n: (base + spread).tolist() for n in (*BASES, *OTHERS)}}
    found, runs = against(values)
    degraded = {name: (runs[name], runs[name]) for name in (OURS, *OTHERS)}
    by_place = {c.statement: c for c in yue_claims(found, found, degraded, 2.0)}
    said = {statement[:28]: claim.holds for statement, claim in by_place.items()}
    assert said["SVMmap has a higher MAP than"] is holds
    assert said["SVMacc is not competitive: S"] is holds
    assert said["On the runs of TREC submissi"] is None
    assert said["Virtually all well-performin"] is True
    # No worse is comparable; a significantly better base function is not.
    assert said["Trained without the best bas"] is (shift <= 0)
    # Nothing has degraded.
    assert said["Without the best base functi"] is False


@pytest.mark.slow
def test_elsas_table_4_is_the_mean_over_queries_and_seeds(letor: Path, finished: Finished) -> None:
    found, studies, out = finished(ELSAS)
    study, sizes = studies
    assert [method.name for method in sizes.methods] == ["10 members", "100 members"]
    rows = {row[0]: row for row in tables_of(found)["table_4"].rows}
    for method in study.methods:
        values: list[float] = []
        for choice in study.choices(method):
            test = choice.fold.test
            for qid in np.unique(test.qid):
                rows_of = test.qid == qid
                labels = test.labels[rows_of]
                scores = choice.model.test_scores[rows_of]
                one = evaluate(labels, scores, group=[labels.size], metrics="map")["map"]
                values.append(one if labels.any() else 0.0)  # no relevant document counts 0
        assert len(values) == 2 * 4 * (2 if method.random else 1)
        assert rows[method.name][1].value == pytest.approx(np.mean(values), abs=1e-12)
    claim = next(c for c in found.claims if "still improves after 500" in c.statement)
    assert claim.holds is None  # of three passes nothing can be said of 500
    kept = [json.loads(path.read_text()) for path in (out / letor.name / "kept").iterdir()]
    assert len(kept) == 3 * 2 + 2  # curves of three forms on two folds, times of two folds


def test_elsas_figure_1_reads_peaks_and_stability_off_the_curves() -> None:
    flat = np.full(6, 0.5)
    curves = {"Com 20": flat, "Average": np.array([0.1, 0.2, 0.4995, 0.4998, 0.5, 0.501])}
    curves["Pocket"] = np.array([0.5, 0.6, 0.4, 0.3, 0.3, 0.301])
    assert set(curves) == set(FORMS)
    figure1 = Figure1(dict.fromkeys(TITLES, curves))
    assert [figure1.stable(NDCG_10, name) for name in curves] == [1, 3, 4]
    assert [figure1.peak(NDCG_10, name) for name in curves] == [1, 6, 2]


def test_elsas_extrapolates_as_time_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([1.0, 4.0, 16.0])  # quadratic
    monkeypatch.setattr(table5, "seconds", lambda work: next(spent))
    assert table5._decomposition(np.zeros((40_000, 1))) == pytest.approx(16.0 * 4**2)


def test_elsas_pairs_are_all_pairs_of_different_labels(letor: Path) -> None:
    train = Session(letor, letor).folds[0].train
    differences, weight = table5.explicit_pairs(train)
    by_hand = [
        train.features[i] - train.features[j]
        for i in range(len(train.labels))
        for j in range(len(train.labels))
        if train.qid[i] == train.qid[j] and train.labels[i] > train.labels[j]
    ]
    assert sorted(map(tuple, differences.tolist())) == sorted(
        map(tuple, np.array(by_hand).tolist())
    )
    assert weight.sum() == pytest.approx(train.n_queries)


def half(x: float) -> float:
    return {1.0: 0.5, 2.0: 1.0}[x]


def test_what_failed_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="1 of 2 failed, the others are kept: b: KeyError: 3"):
        keep_each(tmp_path, half, {"a": (1.0,), "b": (3.0,)}, jobs=1)
    assert len(list(tmp_path.iterdir())) == 1
    assert keep_each(tmp_path, half, {"a": (1.0,), "c": (2.0,)}, jobs=2) == {"a": 0.5, "c": 1.0}
    with pytest.raises(TypeError, match="pass arrays"):
        keep_each(tmp_path, half, {"a": (np.zeros(3),)}, jobs=1)


def test_several_sets_stand_side_by_side() -> None:
    def found(name: str, holds: bool | None) -> Findings:
        return Findings(name, ("As told.",), (), (Claim("Table 1", "A < B & C.", holds, "So."),))

    both = [found("one", True), found("two", None)]
    preset = replace(YUE, paper="Nobody, 1999.")
    text = markdown_of(preset, both, "python -m papers it")
    assert "1. *Table 1.* A < B & C.\n    - **confirmed**, one: So.\n    - **cannot be" in text


def test_the_command_line_lists_the_presets_and_says_what_is_wrong(
    letor: Path, tmp_path: Path
) -> None:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert all(preset.name in result.output for preset in PRESETS)
    command = ["yue-2007", str(letor), "--out", str(tmp_path)]
    result = CliRunner().invoke(app, command)  # 50 queries are needed
    assert result.exit_code == 2
    assert "need 50 queries" in result.output
    result = CliRunner().invoke(app, [*command, str(letor)])
    assert result.exit_code == 2
    assert "same name" in result.output
