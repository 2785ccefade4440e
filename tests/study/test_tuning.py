"""Random search in studies: common draws, selection on validation data, stored results."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import polars as pl
import pytest
from studies import of_digits

from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import METHODS, Config, Fitted, Method, Study, Task, find_methods, study_of
from lambdaplus.study.search_spaces import LIGHTGBM, XGBOOST, Range, draw
from lambdaplus.study.validation import Validation, values_of

SETTINGS = Config(rounds=12, patience=6)
METRICS = tuple(map(parse_metric, ("map", "ndcg@5", "mrr")))
MAP, NDCG, MRR = METRICS
OF_A_TRIAL = ["method", "fold", "seed", "metric"]


def made_up(seed: int, grades: int = 2) -> RankingData:
    """Fifteen queries of ten documents, grades noisily by the first two features."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(150, 6))
    labels = np.clip(np.round(features[:, :2].sum(axis=1) + rng.normal(size=150)), 0, grades)
    labels[::10] = grades  # every query has a relevant document
    return RankingData(features, labels, np.repeat(np.arange(15), 10))


@pytest.fixture(scope="module")
def folds() -> list[Fold]:
    return [Fold(f"Fold{i}", *(made_up(3 * i + j) for j in range(3))) for i in (0, 1)]


def make_study(folds: list[Fold], methods: str | list[Method], **options: Any) -> Study:
    place = {name: options.pop(name) for name in ("folder", "jobs") if name in options}
    config = replace(SETTINGS, **{"trials": 6, **options})
    found = find_methods(methods) if isinstance(methods, str) else methods
    return Study(folds, found, METRICS, config, **place)


def finish(folds: list[Fold], methods: str | list[Method], **options: Any) -> Study:
    study = make_study(folds, methods, **options)
    study.finish()
    return study


@pytest.fixture(scope="module")
def finished(folds: list[Fold], tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("kept")
    return finish(folds, "lightgbm:lambda_map,xgboost:lambda_mrr", folder=folder, seeds=(0, 1))


# Draws -------------------------------------------------------------------------------------------


def test_methods_get_the_same_draws_of_what_their_trees_have_in_common() -> None:
    for trial in range(20):
        ours, theirs = (draw(space, 7, trial) for space in (LIGHTGBM, XGBOOST))
        assert ours["num_leaves"] == theirs["max_leaves"]
        assert ours["learning_rate"] == theirs["learning_rate"]
        assert ours["feature_fraction_bynode"] == theirs["colsample_bynode"]
        assert ours["lambda_l2"] == theirs["lambda"]
        # An additional parameter leaves the others as they are.
        assert draw({"new": Range(0, 1), **LIGHTGBM}, 7, trial).items() >= ours.items()
    rates = [draw(m.searched, 7, 3)["learning_rate"] for m in METHODS if m.space]
    assert {*rates} == {draw(LIGHTGBM, 7, 3)["learning_rate"]}
    assert draw(LIGHTGBM, 7, 0) != draw(LIGHTGBM, 8, 0)
    assert draw(LIGHTGBM, 7, 0) != draw(LIGHTGBM, 7, 1)


def test_a_range_is_drawn_from_end_to_end() -> None:
    leaves = Range(3, 64, log=True, integer=True)
    drawn = [draw({"leaves": leaves}, 0, trial)["leaves"] for trial in range(600)]
    assert (min(drawn), max(drawn)) == (3, 64)
    assert all(isinstance(value, int) for value in drawn)
    # On a log scale, half of the draws are below the geometric mean.
    assert np.mean(np.array(drawn) < np.sqrt(3 * 65)) == pytest.approx(0.5, abs=0.07)
    assert Range(0.03, 0.3, log=True).at(0.0) == 0.03
    values = [draw({"any": (1, 2)}, 0, trial)["any"] for trial in range(600)]
    assert np.mean(values) == pytest.approx(1.5, abs=0.07)


# Choices -----------------------------------------------------------------------------------------


def test_each_metric_is_evaluated_on_the_trial_and_the_round_that_it_chose(finished: Study) -> None:
    """By training the selection of a metric again with LightGBM itself."""
    name, results = finished.methods[0].name, finished.results
    different = set()
    for metric in METRICS:
        for fit in finished.chosen(name, metric):
            different.add((fit.trial, fit.rounds))
            drawn = dict(finished.task_of(fit).parameters)
            options = {name: drawn.pop(name) for name in ("sigma",)}
            params = {**drawn, "objective": lambda_objective("map", **options), "verbose": -1,
                      "seed": fit.seed, "deterministic": True, "num_threads": 1}  # fmt: skip
            [fold] = [fold for fold in finished.folds if fold.name == fit.fold]
            data = lightgbm.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
            model = lightgbm.train(params, data, fit.rounds)
            tested = results.values.filter(
                method=fit.method, fold=fit.fold, seed=fit.seed, metric=fit.metric
            )
            for part, value in ((fold.test, tested["value"].mean()), (fold.valid, fit.value)):
                scores = model.predict(part.features, raw_score=True)
                found = evaluate(part.labels, scores, group=part.group, metrics=[metric])
                assert found[metric] == pytest.approx(value, abs=1e-12)
    assert len(different) > 4  # or it would not matter who chooses


def test_the_first_of_the_best_trials_is_chosen_on_validation_queries(finished: Study) -> None:
    fits = finished.results.fits
    assert fits.height == 2 * 2 * 2 * 3 * 6  # methods, folds, seeds, metrics, trials
    best = pl.col("validation") == pl.col("validation").max().over(OF_A_TRIAL)
    first = fits.filter(best).unique(OF_A_TRIAL, keep="first", maintain_order=True)
    assert fits.filter("chosen").equals(first)
    records = finished.fits
    for chosen in itertools.chain(*(finished.chosen(m.name, METRICS[0]) for m in finished.methods)):
        name, fold, seed = chosen.group
        curve = finished.results.curves.filter(method=name, fold=fold, seed=seed)
        # Of the first of the metrics that select.
        assert {*curve["metric"]} == {str(METRICS[0])}
        assert curve["value"].to_list() == chosen.curve.tolist()
        for metric in map(str, METRICS):
            # Scores are kept where a trial was the best so far, and nowhere else.
            tried = [one for one in records if (*one.group, one.metric) == (*chosen.group, metric)]
            assert [fit.trial for fit in tried] == [*range(6)]
            values = [fit.value for fit in tried]
            best = [value > max(values[:i], default=-1) for i, value in enumerate(values)]
            assert [fit.test.size > 0 for fit in tried] == best
            assert values == [max(fit.curve) for fit in tried]


def test_methods_with_a_grid_are_chosen_by_each_metric_too(folds: list[Fold]) -> None:
    def by_feature(task: Task) -> Fitted:
        return Fitted(lambda part: part.features[:, task.parameters["feature"]])

    method = Method("one:feature", by_feature, grid={"feature": range(6)})
    study = finish(folds[:1], [method])
    for metric in METRICS:
        values = [
            [values_of([metric], part, column)[metric] for column in part.features.T]
            for part in (folds[0].valid, folds[0].test)
        ]
        expected = values[1][int(np.argmax(values[0]))]
        assert study.results.mean(method.name, str(metric)) == pytest.approx(expected)


def test_of_parameters_with_equal_values_the_first_are_chosen(folds: list[Fold]) -> None:
    """Twice the scores rank documents alike."""

    def first_feature(task: Task) -> Fitted:
        return Fitted(lambda part: part.features[:, 0] * np.prod([*task.parameters.values()]))

    method = Method("first:feature", first_feature, grid={"sign": (-1, 1), "factor": (1, 2)})
    chosen = finish(folds, [method], trials=0).results.fits.filter("chosen")
    assert chosen["parameters"].to_list() == ['{"sign": 1, "factor": 1}'] * 2 * len(METRICS)


def test_a_trial_without_scores_is_fitted_again_to_win(folds: list[Fold], tmp_path: Path) -> None:
    """Another grid may contain it without the trial that beat it."""
    [found] = find_methods("lightgbm:lambda_map")
    for grid, kept in ([2, 3, 5], 0), ([5], 0), ([5], 1), ([3, 5], 2):
        method = replace(found, space={"num_leaves": grid}, grid={"num_leaves": grid})
        study = finish(folds[:1], [method], trials=9, folder=tmp_path)
        assert study.kept == kept
        fresh = finish(folds[:1], [method], trials=9)
        assert study.results.values.equals(fresh.results.values)


@pytest.mark.slow
def test_processes_change_nothing_and_more_trials_go_on(folds: list[Fold], tmp_path: Path) -> None:
    names = "lightgbm:lambda_map,xgboost:rank:ndcg"

    def results(**options: Any) -> tuple[pl.DataFrame, ...]:
        found = finish(folds[:1], names, **options).results
        return found.values, found.fits.drop("seconds"), found.curves

    stopped = make_study(folds[:1], names, folder=tmp_path, trials=5)
    for _, _task in zip(range(3), stopped.run(), strict=False):
        pass
    assert len(stopped.finished) == 3
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "fits").iterdir()}
    for trials, n in ((5, 10), (6, 12), (2, 12)):
        jobs = results(folder=tmp_path, trials=trials, jobs=3)
        for one, other in zip(jobs, results(trials=trials), strict=True):
            assert one.equals(other)
        files = {path: path.stat().st_mtime_ns for path in (tmp_path / "fits").iterdir()}
        assert files.items() >= kept.items()
        assert len(files) == n
        kept = files


def test_folds_without_values_are_refused_before_the_first_fit(folds: list[Fold]) -> None:
    zeros, ones = (
        [folds[0], replace(folds[1], test=replace(folds[1].test, labels=np.full(150, label)))]
        for label in (0.0, 1.0)
    )
    with pytest.raises(ValueError, match="no test query of Fold1 has a value of map, ndcg@5, mrr"):
        make_study(zeros, "lightgbm:map")
    make_study(zeros, "lightgbm:map", convention="lightgbm")  # by which the value is 1
    with pytest.warns(UserWarning, match="no test query of Fold1 has a value of auc, for lack"):
        Study(ones, find_methods("lightgbm:map"), ["map", "auc"])


# Trainers ----------------------------------------------------------------------------------------


def fitted(method: str | Method, parameters: dict[str, Any], rounds: int = 8) -> dict[Any, Fitted]:
    found = find_methods(method)[0] if isinstance(method, str) else method
    config = Config(rounds=rounds, patience=rounds)
    return dict(found.trainer(Task(found, parameters, made_up(0), made_up(1), config, 0, METRICS)))


FEW_TREES = {"min_data_in_leaf": 40, "bagging_fraction": 0.55, "bagging_freq": 1,
             "feature_pre_filter": False, "feature_fraction": 0.2}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "parameters", "rounds"),
    [("lightgbm:lambdarank", {}, 8), ("xgboost:rank:map", {}, 8), ("lightgbm:lambda_map", {}, 8),
     ("xgboost:lambda_ndcg", {}, 8), ("lightgbm:lambdarank", FEW_TREES, 30)],
)  # fmt: skip
def test_validation_values_are_those_of_the_first_trees(
    method: str, parameters: dict[str, Any], rounds: int
) -> None:
    """Also where no tree can be grown in some rounds: LightGBM throws such trees away."""
    models = fitted(method, parameters, rounds)
    assert len({*models[NDCG].curve}) > 2
    for metric, model in models.items():
        assert len(model.curve) == rounds or parameters
        assert model.curve[model.rounds - 1] == max(model.curve)
        value = values_of([metric], made_up(1), model.predict(made_up(1)))[metric]
        assert value == pytest.approx(max(model.curve), abs=1e-12)


def test_options_are_tried_for_objectives_that_have_none() -> None:
    [method] = find_methods("lightgbm:map")
    with pytest.raises(ValueError, match="of lambdaplus with default options, not for"):
        fitted(replace(method, target=lambda_objective("map", balance=0.2)), {"sigma": 1.0})


def test_validation_without_any_value_is_an_error() -> None:
    data = RankingData(np.zeros((2, 1)), [0, 0], [1, 1])
    with pytest.raises(ValueError, match="no validation query has a value of map"):
        Validation(data, [MAP], patience=3).see([0.0, 1.0])


def test_validation_does_not_leave_out_queries_whose_scores_are_equal() -> None:
    labels = np.tile([0.1, 0.2, 0.3], 3)
    data = RankingData(np.zeros((9, 1)), labels, np.repeat([0, 1, 2], 3))
    spearman = parse_metric("spearman")
    one_of_three, nothing = np.where(np.arange(9) < 3, labels, 0.0), np.zeros(9)
    assert values_of([spearman], data, one_of_three)[spearman] == pytest.approx(1 / 3)
    validation = Validation(data, [spearman], patience=3)
    for scores in (nothing, one_of_three, labels, one_of_three):
        validation.see(scores)
    assert validation.progress[spearman].values == pytest.approx([0.0, 1 / 3, 1.0, 1 / 3])
    assert validation.best_round(spearman) == 3


def test_a_search_is_long_unless_told_otherwise_and_draws_its_trees() -> None:
    def study(**options: Any) -> Study:
        return study_of(Config(methods=("lightgbm:map",), folds="1", **options))

    long = study(trials=2).config
    assert (long.rounds, long.patience, long.every) == (1000, 100, 5)
    short = study().config
    assert (short.rounds, short.patience, short.every) == (1000, 80, 1)
    [method] = study(trials=2, grid={"lightgbm:lambda_map": {"num_leaves": [4]}}).methods
    assert [draw(method.searched, 0, trial)["num_leaves"] for trial in range(3)] == [4, 4, 4]
    with pytest.raises(ValueError, match="trees are drawn at random with trials"):
        study(trials=2, trees=("small",))


def test_a_metric_has_the_same_rounds_alone_and_in_company() -> None:
    """One whose patience has run out does not count again while others keep the training alive."""
    options = {"rounds": 120, "patience": 4, "n_folds": 3}
    rounds: dict[str, Any] = {}
    for metrics in (["map"], ["mrr"], ["map", "auc", "mrr", "ndcg@3"]):
        results = of_digits("lightgbm:lambdarank,xgboost:auc", *metrics, **options).results
        for metric in metrics:
            of_metric = results.fits.filter(metric=metric)
            found = of_metric.select("method", "fold", "round").rows()
            assert rounds.setdefault(metric, found) == found
            means = {name: results.mean(name, metric) for name in results.methods}
            assert rounds.setdefault(f"values of {metric}", means) == means
