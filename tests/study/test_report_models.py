"""Importance of features, and curves of labels 0 and 1, in a report."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from lambdaplus import evaluate
from lambdaplus.data import Fold, RankingData
from lambdaplus.study import Config, Study, Summary, find_methods, write_report
from lambdaplus.study import report_models as shown
from lambdaplus.study.plots import calibration_plot, precision_recall_plot

METHODS = "lightgbm:lambda_map,xgboost:binary:logistic"


def part(seed: int, *, grouped: bool = True, grades: bool = False) -> RankingData:
    """The first of three features sets the label; the last is the same in all rows of a query."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(1200, 3))
    x[:, 2] = np.repeat(random.normal(size=60), 20)
    labels = (x[:, 0] + 0.3 * x[:, 2] + 0.3 * random.normal(size=1200) > 1).astype(float)
    qid = np.repeat(np.arange(60), 20) if grouped else np.zeros(1200, dtype=int)
    names = "signal", "noise", "of the query"
    return RankingData(x, labels + grades * (x[:, 0] > 2), qid, feature_names=names,
                       grouped=grouped)  # fmt: skip


def study_of_parts(methods: str = METHODS, **kind: Any) -> Study:
    folds = [Fold(f"Fold{i}", *(part(10 * i + j, **kind) for j in range(3))) for i in (1, 2)]
    study = Study(folds, find_methods(methods), ["map"], Config(rounds=30))
    study.finish()
    return study


@pytest.fixture(scope="module")
def study() -> Study:
    return study_of_parts()


def captions(plots: Any) -> dict[str, str]:
    return {name: caption for name, caption, _ in plots}


@pytest.mark.parametrize("method", METHODS.split(","))
def test_importance_is_gain_and_the_drop_within_queries(study: Study, method: str) -> None:
    model = shown.ShownModel.of(study, method, "map")
    found = shown.importance_of(model, model.task.valid, threads=1)
    assert found.names[0] == "signal"
    assert found.gain.sum() == pytest.approx(1.0)  # no feature is left out
    drop = dict(zip(found.names, found.drop, strict=True))
    assert drop["signal"].shape == (shown.REPEATS,)
    assert drop["signal"].min() > 0.3  # the rest is left to chance
    assert not drop["of the query"].any()
    assert len({*drop["signal"]}) == shown.REPEATS  # each by another permutation


def test_the_model_that_is_trained_again_is_the_one_of_the_study(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[Any] = []
    monkeypatch.setattr(shown, "drops", lambda predict, *_: scored.append(predict))
    for method in METHODS.split(","):
        model = shown.ShownModel.of(study, method, "map")
        shown.importance_of(model, model.task.valid, threads=2)
        kept = model.fit.validation
        np.testing.assert_allclose(scored[-1](model.task.valid), kept, rtol=1e-6)


def test_a_report_says_which_model_it_shows(study: Study, tmp_path: Path) -> None:
    summary = Summary(study.results)
    of = captions(shown.importance_plots(summary, study))
    best = summary.decision()[0].split(": ")[1].partition(" (")[0]
    assert f"{best} on Fold1 (the 2 of highest gain, of 3 features)" in of["importance"]
    assert f"means of {shown.REPEATS} permutations" in of["importance"]
    page = write_report(summary, tmp_path, study=study).read_text(encoding="utf-8")
    for text in (*of.values(), *captions(shown.positives_plots(summary, study)).values()):
        assert text in page
    assert '<a href="#importance">' in page
    assert '<a href="#positives">' in page
    assert page.index(summary.conclusion()[:20]) < page.index("<table")
    for name in ("importance", "precision_recall", "calibration"):
        assert (tmp_path / "plots" / f"{name}.png").exists()


def test_few_rows_are_scored_of_long_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "MOST_ROWS", 110)
    queries = shown.some_rows(part(0))
    assert queries.group.tolist() == [20] * 5
    assert shown.some_rows(part(0, grouped=False)).labels.size == 110
    monkeypatch.setattr(shown, "MOST_ROWS", 3)
    assert shown.some_rows(part(0)).group.tolist() == [20]  # a query at least


def test_grades_have_importance_but_no_curves() -> None:
    study = study_of_parts("lightgbm:lambda_map", grades=True)
    summary = Summary(study.results)
    assert captions(shown.importance_plots(summary, study)).keys() == {"importance"}
    assert captions(shown.positives_plots(summary, study)) == {}


def test_without_a_positive_row_to_test_there_are_no_curves() -> None:
    train, valid, test = (part(seed) for seed in range(3))
    fold = Fold("Fold1", train, valid, replace(test, labels=0.0 * test.labels))
    methods = find_methods("lightgbm:lambda_map")
    study = Study([fold], methods, ["map"], Config(rounds=3, convention="lightgbm"))
    study.finish()
    assert not captions(shown.positives_plots(Summary(study.results), study))


def test_methods_without_trees_have_no_importance() -> None:
    study = study_of_parts("feature:best")
    summary = Summary(study.results)
    assert captions(shown.importance_plots(summary, study)) == {}
    assert captions(shown.positives_plots(summary, study)).keys() == {
        "precision_recall", "calibration"
    }  # fmt: skip


def test_rows_of_a_table_are_permuted_over_all_rows() -> None:
    study = study_of_parts("lightgbm:binary,lightgbm:lambda_map", grouped=False)
    summary = Summary(study.results)
    assert "permuted over rows" in captions(shown.importance_plots(summary, study))["importance"]
    model = shown.ShownModel.of(study, "lightgbm:lambda_map", "map")
    found = shown.importance_of(model, model.task.valid, threads=1)
    drop = dict(zip(found.names, found.drop, strict=True))
    assert drop["of the query"].min() > 0.0


def lines(figure: Any) -> list[Any]:
    return [line.get_xydata() for line in figure.axes[0].lines]


def test_precision_and_recall_of_rows_and_of_queries() -> None:
    labels, scores = np.array([1.0, 0, 1, 0, 1, 0]), np.array([6.0, 5, 4, 3, 2, 1])
    table = RankingData(np.zeros((6, 1)), labels, np.zeros(6, int), grouped=False)
    curve, chance = lines(precision_recall_plot(table, {"a": scores}))
    np.testing.assert_allclose(curve, [(1 / 3, 1), (2 / 3, 2 / 3), (1, 3 / 5)])
    assert chance[:, 1].tolist() == [0.5, 0.5]
    queries = RankingData(np.zeros((6, 1)), labels, [0, 0, 0, 1, 1, 1])
    curve, chance = lines(precision_recall_plot(queries, {"a": scores}))
    # Highest precision at a recall or above: 1 to a half, then 2/3; and 1/2.
    means = np.where(curve[:, 0] <= 0.5, (1 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2)
    np.testing.assert_allclose(curve[:, 1], means)
    assert chance[0, 1] == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_the_area_below_the_steps_of_a_table_is_its_average_precision() -> None:
    random = np.random.default_rng(0)
    labels = (random.random(3000) < 0.1).astype(float)
    scores = labels + random.normal(size=3000)
    table = RankingData(np.zeros((3000, 1)), labels, np.zeros(3000, int), grouped=False)
    curve, _ = lines(precision_recall_plot(table, {"a": scores}))
    assert len(curve) <= 400
    area = np.diff(curve[:, 0], prepend=0.0) @ curve[:, 1]
    assert area == pytest.approx(evaluate(labels, scores, metrics="map")["map"], abs=0.01)


def test_calibration_has_bins_of_equally_many_rows_and_counts_by_probability() -> None:
    p = np.append(np.linspace(0.01, 0.19, 19), 0.9)
    labels = (np.arange(20) % 4 == 3).astype(float)
    figure = calibration_plot(labels, {"a": p})
    curve, _ = lines(figure)
    np.testing.assert_allclose(curve[:, 0], p.reshape(10, 2).mean(axis=1))
    np.testing.assert_allclose(curve[:, 1], labels.reshape(10, 2).mean(axis=1))
    [counts] = [patch.get_data() for patch in figure.axes[1].patches]  # type: ignore[attr-defined]
    assert counts.edges[-1] == pytest.approx(1.1 * curve[-1, 0])
    assert counts.values[0] == (p < counts.edges[1]).sum()
    assert counts.values[-1] == 1  # beyond the last edge
    assert counts.values.sum() == 20


def test_log_loss_is_shown_at_its_best_round_and_others_are_calibrated(study: Study) -> None:
    """By LightGBM and XGBoost alone, stopped by log-loss, and not by MAP."""
    fold = study.folds[0]
    valid, test = fold.valid, fold.test
    ours = shown.ShownModel.of(study, "lightgbm:lambda_map", "map")
    found = shown.probability(ours, test, 1)
    assert found.mean() == pytest.approx(test.labels.mean(), abs=0.03)
    assert (np.argsort(found) == np.argsort(ours.fit.test)).mean() > 0.9
    config = Config(rounds=500, patience=100)
    names = "lightgbm:binary", "xgboost:binary:logistic"
    of_loss = Study(study.folds[:1], find_methods(",".join(names)), ["map"], config)
    of_loss.finish()
    for name in names:
        model = shown.ShownModel.of(of_loss, name, "map")
        losses = []
        for rounds in (model.fit.rounds, *range(1, 302, 30)):
            trained = model.task.method.trainer.model(model.task, rounds=rounds)  # type: ignore[attr-defined]
            losses.append(log_loss(valid.labels, expit(trained.predict(valid, rounds))))
        p = shown.probability(model, test, 1)
        best = shown.stopped_by_log_loss(model, valid, 1)
        assert log_loss(valid.labels, best) <= min(losses) + 1e-6
        assert log_loss(valid.labels, best) < losses[0]  # which MAP stopped
        assert log_loss(test.labels, p) < log_loss(test.labels, expit(model.fit.test))
