"""Random search in comparisons: common draws, selection on validation data, stored results."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from lambdaplus.cli import app
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import Config, Method, Settings, Study, find_methods, write_report
from lambdaplus.study import trials as trials_module
from lambdaplus.study.boosting import Boosting, train_lightgbm
from lambdaplus.study.registry import METHODS
from lambdaplus.study.search_space import (
    CATBOOST,
    LIGHTGBM,
    XGBOOST,
    OneOf,
    Range,
    draw,
)
from lambdaplus.study.searches import (
    best_by_trial,
    parameter_table,
    rounds_at_the_cap,
    search_in_words,
)
from lambdaplus.study.study_tables import chosen_fits
from lambdaplus.study.trials import Bar, Trial
from lambdaplus.study.validation import Validation

SETTINGS = Settings(rounds=12, patience=6)
METRICS = ["map", "ndcg@5", "mrr"]
BOTH = "lightgbm:lambda_map,xgboost:rank:ndcg"


def made_up(seed: int, grades: int = 2) -> RankingData:
    """Fifteen queries of ten documents, grades noisily by the first two features."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(150, 6))
    labels = np.clip(np.round(features[:, :2].sum(axis=1) + rng.normal(size=150)), 0, grades)
    labels[::10] = grades  # every query has a relevant document
    return RankingData(features, labels, np.repeat(np.arange(15), 10))


@pytest.fixture(scope="module")
def folds() -> list[Fold]:
    return [
        Fold(f"Fold{i + 1}", made_up(3 * i), made_up(3 * i + 1), made_up(3 * i + 2)) for i in (0, 1)
    ]


def make_study(folds: list[Fold], methods: str = BOTH, **options: Any) -> Study:
    options = {"settings": SETTINGS, "trials": 6, **options}
    return Study(folds, find_methods(methods), list(map(parse_metric, METRICS)), **options)


def everything(study: Study) -> list[Any]:
    """All that the choices of a study say, times left out."""
    list(study.run())
    assert study.errors == {}
    return [
        (row, {k: v.tolist() for k, v in choice.evaluation.per_query.items()})
        for row in chosen_fits(study.results).rows()
        for method in study.methods
        for choice in study.results[method.name]
    ]


@pytest.fixture(scope="module")
def finished(folds: list[Fold], tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = make_study(folds, folder=tmp_path_factory.mktemp("kept"), seeds=(0, 1))
    list(study.run())
    assert study.errors == {}
    return study


# Draws -------------------------------------------------------------------------------------------


def test_all_methods_get_the_same_draws_of_what_their_trees_have_in_common() -> None:
    for trial in range(20):
        ours, theirs, third = (draw(space, 7, trial) for space in (LIGHTGBM, XGBOOST, CATBOOST))
        assert ours["num_leaves"] == theirs["max_leaves"]
        assert ours["learning_rate"] == theirs["learning_rate"] == third["learning_rate"]
        assert ours["feature_fraction"] == theirs["colsample_bytree"] == third["rsm"]
        assert ours["lambda_l2"] == theirs["lambda"] == third["l2_leaf_reg"]
        # An additional parameter leaves the others as they are.
        assert draw({"new": Range(0, 1), **LIGHTGBM}, 7, trial).items() >= ours.items()
    for method in METHODS:
        if isinstance(method.trainer, Boosting):
            assert (
                draw(method.searched, 7, 3)["learning_rate"]
                == draw(LIGHTGBM, 7, 3)["learning_rate"]
            )
    assert draw(LIGHTGBM, 7, 0) != draw(LIGHTGBM, 8, 0)
    assert draw(LIGHTGBM, 7, 0) != draw(LIGHTGBM, 7, 1)


def test_a_range_is_drawn_from_end_to_end() -> None:
    leaves = Range(3, 64, log=True, whole=True)
    drawn = [draw({"leaves": leaves}, 0, trial)["leaves"] for trial in range(600)]
    assert (min(drawn), max(drawn)) == (3, 64)
    assert all(isinstance(value, int) for value in drawn)
    # On a log scale, half of the draws are below the geometric mean.
    assert np.mean(np.array(drawn) < np.sqrt(3 * 65)) == pytest.approx(0.5, abs=0.07)
    assert [leaves.place(3), leaves.place(64)] == [0.0, 1.0]
    assert 0.4 < leaves.place(14) < 0.6
    rate = Range(0.03, 0.3, log=True)
    assert [rate.at(0.0), rate.place(0.3)] == [0.03, 1.0]
    assert [OneOf((1, 2)).at(share) for share in (0.0, 0.49, 0.5, 0.999)] == [1, 1, 2, 2]


# Choices -----------------------------------------------------------------------------------------


def test_each_metric_is_judged_on_the_trial_and_the_round_that_it_chose(finished: Study) -> None:
    """By training the selection of a metric again with LightGBM itself."""
    method = finished.methods[0]
    trials = {
        (task.fold.name, task.seed, len(task.earlier)): task
        for task in finished.tasks
        if task.method is method
    }
    different = set()
    for choice in finished.results[method.name]:
        assert choice.search is not None
        fold = choice.fold
        for metric, number in choice.search.chosen.items():
            rounds = int(choice.search.rounds[metric][number])
            different.add((number, rounds))
            drawn = dict(trials[fold.name, choice.seed, number].parameters)
            options = {name: drawn.pop(name) for name in ("sigma", "damping", "noise")}
            params = {**drawn, "objective": lambda_objective("map", **options), "verbose": -1,
                      "seed": choice.seed, "deterministic": True, "num_threads": 1}  # fmt: skip
            data = lightgbm.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
            model = lightgbm.train(params, data, rounds)
            for part, value in (
                (fold.test, choice.evaluation[metric]),
                (fold.valid, choice.search.values[metric][number]),
            ):
                scores = model.predict(part.features, raw_score=True)
                found = evaluate(part.labels, scores, group=part.group, metrics=[metric])
                assert found[metric] == pytest.approx(value, abs=1e-12)
    assert len(different) > 4  # or it would not matter who chooses


def test_the_best_of_all_trials_is_chosen_on_validation_queries(finished: Study) -> None:
    for method in finished.methods:
        for choice in finished.results[method.name]:
            assert choice.search is not None
            tasks = [
                task
                for task in finished.tasks
                if (task.method, task.fold, task.seed) == (method, choice.fold, choice.seed)
            ]
            assert len(tasks) == 6
            kept = [Trial.of(fit) for t in tasks if (fit := finished.store.load(t.key))]
            for metric in METRICS:
                best = [max(trial.curves[metric]) for trial in kept]
                assert choice.search.chosen[metric] == int(np.argmax(best))
                assert not kept[int(np.argmax(best))].pruned
                # Scores are kept where a trial was the best so far, and nowhere else.
                records = [value > max(best[:i], default=-1) for i, value in enumerate(best)]
                assert [metric in trial.test_scores for trial in kept] == records


def test_long_trainings_are_looked_at_before_patience_ends(folds: list[Fold]) -> None:
    settings = Settings(rounds=1000, patience=2)
    study = make_study(folds[:1], "lightgbm:lambda_map", settings=settings, trials=1)
    list(study.run())
    assert study.errors == {}
    [choice] = study.results["lightgbm:lambda_map"]
    assert 2 <= choice.fit.rounds < 1000


def test_one_metric_may_choose_for_all(folds: list[Fold]) -> None:
    study = make_study(folds[:1], "lightgbm:lambda_map", select="mrr", trials=3)
    list(study.run())
    [choice] = study.results["lightgbm:lambda_map"]
    assert choice.search is not None
    assert (choice.by, list(choice.search.chosen)) == ("mrr", ["mrr"])
    test = choice.fold.test
    found = evaluate(test.labels, choice.fit.test_scores, group=test.group, metrics=METRICS)
    assert choice.evaluation.mean == found.mean


def test_methods_with_a_grid_are_chosen_by_each_metric_too(folds: list[Fold]) -> None:
    def by_feature(method: Method, parameters: Any, *_: Any) -> Any:
        from lambdaplus.study.methods import Fitted

        return Fitted(lambda part: part.features[:, parameters["feature"]])

    study = make_study(folds[:1])
    study.methods = [Method("one:feature", by_feature, "", "map", grid={"feature": range(6)})]
    list(study.run())
    [choice] = study.results["one:feature"]
    fold = study.folds[0]
    for metric in METRICS:
        values = [
            [
                evaluate(part.labels, part.features[:, j], group=part.group, metrics=[metric])[
                    metric
                ]
                for j in range(6)
            ]
            for part in (fold.valid, fold.test)
        ]
        assert choice.evaluation[metric] == values[1][int(np.argmax(values[0]))]


# What is kept, in what order ---------------------------------------------------------------------


@pytest.mark.slow
def test_processes_change_nothing_and_what_is_there_is_not_trained_again(
    folds: list[Fold], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = make_study(folds[:1], folder=tmp_path, trials=5)
    for _, _task in zip(range(3), stopped.run(), strict=False):
        pass
    assert len(stopped.finished) == 3
    resumed = make_study(folds[:1], folder=tmp_path, trials=5, jobs=2)
    assert everything(resumed) == everything(make_study(folds[:1], trials=5))
    files = set((tmp_path / "fits").iterdir())
    assert len(files) == 10
    monkeypatch.setattr("lambdaplus.study.study.fit_trial", None)  # nothing is left to do
    everything(make_study(folds[:1], folder=tmp_path, trials=5))
    monkeypatch.undo()
    everything(make_study(folds[:1], folder=tmp_path, trials=6))  # more trials go on from these
    assert len(set((tmp_path / "fits").iterdir()) - files) == 2


def test_a_search_whose_trials_fail_ends_and_the_others_go_on(folds: list[Fold]) -> None:
    study = make_study(folds[:1], "lightgbm:lambda_map", jobs=2, trials=3)
    study.methods.insert(0, Method("lightgbm:broken", train_lightgbm, "no_such_objective", "map"))
    assert len(list(study.run())) == 6
    assert list(study.errors) == ["lightgbm:broken"]
    assert study.results["lightgbm:broken"] == []
    assert len(study.results["lightgbm:lambda_map"]) == 1


# Pruning -----------------------------------------------------------------------------------------


def test_only_what_is_below_the_median_by_every_metric_is_hopeless() -> None:
    looks = np.arange(1, 101) * 10
    rising = np.linspace(0.0, 1.0, 100)
    earlier = [(np.array([rising * top, rising]), looks, 0.1) for top in (0.5, 0.6, 0.7, 0.8, 0.9)]
    bar = Bar(earlier, rate=0.1)
    there = rising[49]
    assert bar(500, np.array([0.69 * there, 0.99 * there]))
    assert not bar(500, np.array([0.71 * there, 0.0]))
    assert not bar(500, np.array([0.0, there]))
    assert not bar(40, np.array([0.0, 0.0]))  # too early to say
    assert not Bar(earlier[:3], rate=0.1)(500, np.array([0.0, 0.0]))  # too few to compare with
    # A rate of a third comes as far in three times the rounds.
    assert not Bar(earlier, rate=0.1 / 3)(500, np.array([0.69 * there, 0.99 * there]))
    assert Bar(earlier, rate=0.1 / 3)(1500, np.array([0.69 * there, 0.99 * there]))
    # A metric without values decides nothing.
    unknown = [(np.array([rising, rising * np.nan]), looks, 0.1)] * 4
    assert Bar(unknown, rate=0.1)(500, np.array([0.9 * there, -np.inf]))
    assert not Bar(unknown, rate=0.1)(500, np.array([there, -np.inf]))


def test_hopeless_trials_end_early_and_the_choice_stays(
    folds: list[Fold], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After four trials, those of them that lag behind after five rounds at a rate of 0.2.

    At a rate of nearly nothing a trial never comes past the warm-up, and is not judged.
    """
    rates = OneOf((1e-9, 0.2))
    [method] = find_methods("lightgbm:lambda_map")
    method = replace(method, space={**method.space, "learning_rate": rates})
    monkeypatch.setattr(trials_module, "WARM_UP", 1.0)
    found = {}
    for first in (4, 100):
        monkeypatch.setattr(trials_module, "FIRST_TRIALS", first)
        study = Study(folds[:1], [method], [parse_metric("ndcg@5")], Settings(rounds=30), trials=12)
        [*_] = study.run()
        [choice] = study.results[method.name]
        assert choice.search is not None
        found[first] = choice
    pruned = found[4].search.pruned
    assert 0 < pruned[4:].sum() < 8
    assert not pruned[:4].any()
    assert not found[100].search.pruned.any()
    assert found[4].parameters == found[100].parameters
    assert found[4].evaluation.mean == found[100].evaluation.mean


# Trainers ----------------------------------------------------------------------------------------


def follow(method: str | Method, parameters: dict[str, Any], rounds: int = 8) -> Any:
    found = find_methods(method)[0] if isinstance(method, str) else method
    assert isinstance(found.trainer, Boosting)
    validation = Validation(made_up(1), METRICS, patience=rounds)
    settings = Settings(rounds=rounds)
    return found.trainer.follow(found, parameters, made_up(0), settings, 0, validation), validation


@pytest.mark.parametrize(
    "method",
    ["lightgbm:lambdarank", "xgboost:rank:map", "lightgbm:lambda_map", "xgboost:lambda_ndcg",
     "catboost:YetiRank:mode=MAP", "catboost:QueryRMSE"],
)  # fmt: skip
def test_what_validation_saw_is_what_the_first_trees_predict(method: str) -> None:
    pytest.importorskip(method.partition(":")[0])
    predict, validation = follow(method, {})
    assert validation.looks == list(range(1, 9))
    for rounds in (1, 3, 8):
        values = validation.values(predict(made_up(1), rounds))
        seen = [validation.curves[metric][rounds - 1] for metric in METRICS]
        assert seen == pytest.approx(values.tolist(), abs=1e-12)
    assert len(set(validation.curves["ndcg@5"])) > 2


def test_rounds_in_which_no_tree_could_be_grown_count() -> None:
    """LightGBM throws such trees away: that of the third round may be the model's first."""
    parameters = {"min_data_in_leaf": 40, "bagging_fraction": 0.55, "bagging_freq": 1,
                  "feature_pre_filter": False, "feature_fraction": 0.2}  # fmt: skip
    predict, validation = follow("lightgbm:lambdarank", parameters, rounds=30)
    assert len(set(map(tuple, zip(*validation.curves.values(), strict=True)))) < 25
    for rounds in range(1, 31):
        values = validation.values(predict(made_up(1), rounds))
        seen = [curve[rounds - 1] for curve in validation.curves.values()]
        assert seen == pytest.approx(values.tolist(), abs=1e-12)


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost", "catboost"])
def test_training_stops_when_no_metric_gains(framework: str) -> None:
    pytest.importorskip(framework)
    [method] = find_methods(
        {"lightgbm": "lightgbm:lambdarank", "xgboost": "xgboost:rank:ndcg"}.get(
            framework, "catboost:QueryRMSE"
        )
    )
    assert isinstance(method.trainer, Boosting)
    validation = Validation(made_up(1), METRICS, patience=5)
    method.trainer.follow(method, {}, made_up(0), Settings(rounds=500), 0, validation)
    last_gain = max(validation.best_round(metric) for metric in METRICS)
    assert validation.looks[-1] == last_gain + 5 < 500


@pytest.mark.parametrize("method", ["xgboost:rank:map", "catboost:YetiRank:mode=MAP"])
def test_objectives_that_know_relevant_or_not_alone_get_that(method: str) -> None:
    pytest.importorskip(method.partition(":")[0])
    [found] = find_methods(method)
    assert isinstance(found.trainer, Boosting)
    scores = []
    for change in (lambda labels: labels, lambda labels: (labels >= 1) * 1.0):
        parts = [
            RankingData(part.features, change(part.labels), part.qid)
            for part in (made_up(0, 4), made_up(1, 4))
        ]
        validation = Validation(parts[1], ["map"], patience=9)
        predict = found.trainer.follow(found, {}, parts[0], Settings(rounds=3), 0, validation)
        scores.append(predict(parts[1], 3).tolist())
    assert scores[0] == scores[1]


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_options_of_an_objective_are_parameters_like_others(framework: str) -> None:
    name = f"{framework}:lambda_ndcg@5+map"
    predict, _ = follow(name, {"sigma": 2.5, "damping": 0.2, "learning_rate": 0.3})
    [method] = find_methods(name)
    said = Method(
        name, method.trainer, lambda_objective("ndcg@5 + map", sigma=2.5, damping=0.2), "map"
    )
    again, _ = follow(said, {"learning_rate": 0.3})
    plain, _ = follow(name, {"learning_rate": 0.3})
    part = made_up(2)
    assert predict(part, 8).tolist() == again(part, 8).tolist() != plain(part, 8).tolist()
    with pytest.raises(ValueError, match=r"has its default options, which combine"):
        follow(said, {"sigma": 1.0})
    with pytest.raises(ValueError, match=r"sigma: options .* which 'lambdarank' is not"):
        follow("lightgbm:lambdarank", {"sigma": 1.0})


@pytest.mark.parametrize(
    ("method", "grid", "message"),
    [
        ("lightgbm:lambdarank", {"sigma": [1.0]}, "which 'lambdarank' is not"),
        ("lightgbm:lambda_map", {"sigma": [1.0, -1.0]}, "sigma"),
        ("xgboost:lambda_map", {"sigm": [1.0]}, "sigm"),
    ],
)
def test_options_are_checked_before_the_first_fit(
    folds: list[Fold], method: str, grid: dict[str, Any], message: str
) -> None:
    [found] = find_methods(method)
    with pytest.raises(ValueError, match=message):
        Study(folds, [replace(found, grid=grid)], [parse_metric("map")])
    [ours] = find_methods("lightgbm:lambda_map")
    Study(folds, [replace(ours, grid={"sigma": [0.5, 1.0]})], [parse_metric("map")])


def test_catboost_takes_options_of_its_loss() -> None:
    pytest.importorskip("catboost")
    part = made_up(2)
    scores = [
        follow("catboost:YetiRank:mode=NDCG", options)[0](part, 8).tolist()
        for options in ({}, {"num_neighbors": 5}, {"noise": "Gauss", "noise_power": 3.0})
    ]
    assert scores[0] != scores[1] != scores[2] != scores[0]


def test_our_objectives_in_catboost_say_why_not() -> None:
    with pytest.raises(ValueError, match="blocks of documents without their queries"):
        find_methods("catboost:map")


def test_validation_without_any_value_is_an_error() -> None:
    data = RankingData(np.zeros((2, 1)), [0, 0], [1, 1])
    with pytest.raises(ValueError, match="no validation query has a value of map"):
        Validation(data, ["map"], patience=3).see([0.0, 1.0])


# What is shown -----------------------------------------------------------------------------------


def test_rounds_at_the_cap_are_counted_and_choices_described(finished: Study) -> None:
    results = finished.results
    rows = chosen_fits(results).to_dicts()
    assert len(rows) == 2 * 2 * 2 * 3  # methods, folds, seeds, metrics
    capped = sum(row["rounds"] == 12 for row in rows)
    assert 0 < capped == rounds_at_the_cap(results)
    assert search_in_words(results).startswith(
        f"{capped} of 24 chosen rounds are in the last twentieth"
    )
    method = results.methods[0]
    mine = [json.loads(row["parameters"]) for row in rows if row["method"] == method]
    drawn = [task.parameters for task in finished.tasks if task.method.name == method]
    rows_of = {row[1]: row[2:] for row in parameter_table(results).rows if row[0] == method}
    for name in ("feature_fraction", "num_leaves"):
        quartiles = np.quantile([each[name] for each in mine], (0.25, 0.5, 0.75))
        lowest, highest = (of(each[name] for each in drawn) for of in (min, max))
        assert rows_of[name] == tuple(f"{x:.3g}" for x in (lowest, *quartiles, highest))


def test_the_curve_of_trials_ends_at_what_was_chosen(finished: Study) -> None:
    chosen = chosen_fits(finished.results).to_dicts()
    for name, curve in best_by_trial(finished.results, "mrr").items():
        assert len(curve) == 6
        assert (np.diff(curve) >= 0).all()
        values = [r["value"] for r in chosen if (r["method"], r["metric"]) == (name, "mrr")]
        assert curve[-1] == pytest.approx(np.mean(values))


@pytest.mark.usefixtures("empty_plots")
def test_the_report_shows_the_search(finished: Study, tmp_path: Path) -> None:
    page = write_report(finished.results, tmp_path).read_text()
    assert '<section id="searches"' in page
    assert search_in_words(finished.results) in page
    assert (tmp_path / "plots" / "trials_map.png").exists()
    assert "Parameters are chosen on validation data by each metric separately" in page


@pytest.mark.slow
def test_command_line(folds: list[Fold], tmp_path: Path) -> None:
    for fold in folds:
        for part, name in zip((fold.train, fold.valid, fold.test), ("train", "vali", "test"),
                              strict=True):  # fmt: skip
            (tmp_path / "data" / fold.name).mkdir(parents=True, exist_ok=True)
            dump_svmlight_file(
                part.features,
                part.labels,
                str(tmp_path / "data" / fold.name / f"{name}.txt"),
                zero_based=False,
                query_id=part.qid,
            )
    out = tmp_path / "out"
    command = ["compare", str(tmp_path / "data"), "--methods", "lightgbm:lambda_map,feature:best",
               "--metrics", "map,mrr", "--trials", "2", "--seeds", "2", "--rounds", "5",
               "--jobs", "1", "--out", str(out)]  # fmt: skip
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    with (out / "choices.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2  # folds, seeds, metrics
    assert {row["seed"] for row in rows} == {"0", "1"}
    config = Config.from_toml((out / "study.toml").read_text())
    assert (config.trials, config.seeds, config.rounds) == (2, (0, 1), 5)
    assert "chosen rounds are in the last twentieth of the 5 allowed" in " ".join(
        result.output.split()
    )


def test_a_search_is_long_unless_told_otherwise_and_draws_its_trees() -> None:
    config = Config(methods=("lightgbm:map",), folds="1", trials=2)
    assert (config.study().settings.rounds, config.study().settings.patience) == (1000, 100)
    plain = Config(methods=("lightgbm:map",), folds="1")
    assert (plain.study().settings.rounds, plain.study().settings.patience) == (200, 30)
    grid = {"lightgbm:lambda_map": {"num_leaves": [4]}}
    [method] = Config(methods=("lightgbm:map",), folds="1", trials=2, grid=grid).study().methods
    assert [draw(method.searched, 0, trial)["num_leaves"] for trial in range(3)] == [4, 4, 4]
    with pytest.raises(ValueError, match="leaves is drawn at random with trials"):
        Config(methods=("lightgbm:map",), folds="1", trials=2, leaves=7).study()
