"""Scores of trials of a search that an earlier one beats are dropped, whatever ends first."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_store import folds

from lambdaplus.study import Config, Fit, Fitted, Method, Study, Task
from lambdaplus.study.fits import load_fits, save_fits
from lambdaplus.study.store import Store, beaten_by_earlier
from lambdaplus.study.training import train_and_store

FOLDS = folds(1)
SEED = 0  # by which a later trial is better than the first


def by_column(task: Task) -> Fitted:
    column, sign = task.parameters["column"], task.parameters["sign"]
    return Fitted(lambda part: part.features[:, column] * sign)


def search(folder: Path) -> Study:
    """Of up to six trials, in the order that a seed draws."""
    method = Method("mine", by_column, space={"sign": (-1.0, 1.0), "column": (0, 1, 2)})
    return Study(FOLDS, [method], ["map", "ndcg@5"], Config(trials=12, seeds=(SEED,)), folder)


def contents(study: Study) -> list[tuple[Any, ...]]:
    return [
        (fit.trial, fit.metric, fit.value, fit.validation.tolist(), fit.test.tolist())
        for fit in study.fits
    ]


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = search(tmp_path_factory.mktemp("in-order"))
    study.finish()
    return study


def test_scores_of_the_first_of_the_best_trials_remain(in_order: Study) -> None:
    """By the values of all trials, of which the first best so far can be chosen."""
    for metric in ("map", "ndcg@5"):
        fits = [fit for fit in in_order.fits if fit.metric == metric]
        assert [fit.trial for fit in fits] == [*range(len(in_order))]
        values = [fit.value for fit in fits]
        best = [value > max(values[:i], default=-1) for i, value in enumerate(values)]
        assert [fit.test.size > 0 for fit in fits] == best
        assert 1 < sum(best) < len(best)  # or neither would be seen


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_trials_end_changes_nothing(
    seed: int, in_order: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_another_order(
        work: Callable[..., None], calls: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[int, str]]:
        listed = [*calls]
        for place in np.random.default_rng(seed).permutation(len(listed)).tolist():
            work(*listed[place])
            yield place, ""

    monkeypatch.setattr("lambdaplus.study.runner.run_here", in_another_order)
    study = search(tmp_path)
    study.finish()
    assert contents(study) == contents(in_order)
    assert study.results.values.equals(in_order.results.values)


def test_scores_that_a_killed_run_has_left_are_dropped_by_the_next(
    in_order: Study, tmp_path: Path
) -> None:
    study = search(tmp_path)
    for task in study.tasks:
        train_and_store(study.file_of(task), task, FOLDS[0].parts)
    assert all(fit.test.size > 0 for task in study.tasks for fit in load_fits(study.file_of(task)))
    study.finish()
    assert study.kept == len(study)
    assert contents(study) == contents(in_order)


def test_values_that_are_equal_are_beaten_and_nan_by_all() -> None:
    for values in itertools.permutations((0.5, 0.7, 0.7, math.nan)):
        found = [*beaten_by_earlier({"map": value, "mrr": 1.0} for value in values)]
        ranked = [-1.0 if math.isnan(value) else value for value in values]
        assert [("map" in one) for one in found] == [
            any(ranked[j] >= value for j in range(i)) for i, value in enumerate(ranked)
        ]
        assert [("mrr" in one) for one in found] == [False, True, True, True]


@pytest.mark.parametrize(("value", "is_beaten"), [(2.0, False), (-1.0, True), (math.nan, True)])
def test_a_trial_without_scores_that_no_stored_one_beats_is_trained(
    value: float, is_beaten: bool, tmp_path: Path
) -> None:
    study, store = search(tmp_path), Store(tmp_path)
    first, second = study.tasks[:2]
    for task in (first, second):
        asked = [("mine", "Fold0", SEED, task.trial, metric, {}) for metric in ("map", "ndcg@5")]
        save_fits(store.file_of(task), [Fit(*one, value=value, warnings=[]) for one in asked])
    assert store.find_all(study.tasks, FOLDS[0]) == {}
    train_and_store(store.file_of(first), first, FOLDS[0].parts)
    found = store.find_all(study.tasks, FOLDS[0])
    assert [*found] == [first, second][: 1 + is_beaten]
