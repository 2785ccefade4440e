"""The study in which only the objective differs: a small one, and its means on made-up results."""

import dataclasses
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from small_data import letor_folder

from lambdaplus.data import read_folds
from lambdaplus.evaluation import evaluate

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
METRICS = ("ndcg@10", "map", "mrr", "auc")


@pytest.fixture
def one_line(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("one_line")


def made_up(one_line, method, fold, draw, value):
    job = one_line.Job(f"lightgbm:{method}", "sets/s", fold, draw)
    values = dict.fromkeys(METRICS, value)
    return job, one_line.Trained(values, values, dict.fromkeys(METRICS, 5))


def test_means_are_over_draws_within_a_fold(one_line):
    values = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.5, (1, 1): 0.9}
    found = [made_up(one_line, "lambdarank", *place, value) for place, value in values.items()]
    assert one_line.values_of(found, "map")["lightgbm:lambdarank"]["s"] == pytest.approx([0.2, 0.7])
    of_one = one_line.values_of(found, "map", draw=1)
    assert of_one["lightgbm:lambdarank"]["s"] == pytest.approx([0.3, 0.9])


def test_a_draw_that_is_not_finished_is_left_out(one_line):
    found = [made_up(one_line, "lambdarank", 0, draw, 0.5) for draw in (0, 1)]
    jobs = [job for job, _ in found] + [made_up(one_line, "lambda_map", 0, 1, 0.5)[0]]
    assert [job.draw for job, _ in one_line.whole_draws(found, jobs)] == [0]


def test_errors_over_draws_are_those_of_the_mean_over_sets(one_line):
    gains = {0: 0.01, 1: 0.03}
    found = [
        made_up(one_line, method, fold, draw, value + 0.1 * fold)
        for draw, gain in gains.items()
        for fold in (0, 1)
        for method in one_line.methods_of("lightgbm")
        for method, value in [(method[9:], 0.5 + gain * (method == "lightgbm:lambda_map"))]
    ]
    [section] = [one_line.draws_table(found, "lightgbm", ["s"])]
    by_own = {row[0]: dict(zip(section.columns, row, strict=True)) for row in section.rows}
    assert by_own["lambdarank"]["MAP, lambda_map"] == "+0.0200 ± 0.0100, 2 of 2"
    assert by_own["rank_xendcg"]["AUC, lambda_auc"] == "+0.0000 ± 0.0000, 0 of 2"


@pytest.mark.slow
def test_a_training_is_kept_with_the_test_value_of_its_best_round(one_line, tmp_path, monkeypatch):
    trees = importlib.import_module("fixed_trees")
    monkeypatch.setattr(trees, "SETTINGS", trees.Settings(rounds=20, patience=10))
    folder = letor_folder(tmp_path / "s", 2)
    job = trees.Job("lightgbm:lambda_map", str(folder), 1, 0)
    found = trees.train(job)
    assert found.rounds["map"] % trees.EVERY == 0
    for other in ({"rate": 0.1}, {"options": (("sigma", 3.0),)}, {"draw": 1}, {"fold": 0}):
        assert trees.train(dataclasses.replace(job, **other)).test != found.test
    more = dataclasses.replace(job, also="p@5")
    assert trees.train(more).test.keys() - found.test.keys() == {"p@5"}
    assert more.key != job.key
    test = read_folds(folder)[1].test
    chance = evaluate(test.labels, np.zeros(test.labels.size), group=test.group, metrics=["map"])
    assert found.test["map"] > chance.mean["map"]
    # What a file has is not trained again.
    kept = tmp_path / "kept.jsonl"
    line = {"job": job.key, "trained": {"test": {}, "valid": {}, "rounds": {"map": 77}}}
    kept.write_text(json.dumps(line) + "\n")
    [(_, again)] = trees.trained([job], kept, processes=1)
    assert again.rounds == {"map": 77}
