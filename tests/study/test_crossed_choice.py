"""The choice of a method without the queries on which it is tested."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import invoke
from made_up_results import results_of
from small_data import letor_folder

from lambdaplus.data import RankingData, cross_validation, digits_queries
from lambdaplus.study import Config, Study, Summary, find_methods
from lambdaplus.study.crossed_choice import validated_apart
from lambdaplus.study.summary_tables import verdict_table

FOLDS = ("1", "2", "3", "4", "5")


def test_of_equal_rankers_none_is_better_more_often_than_by_chance() -> None:
    """14 rankers on 100 queries, a baseline: 2.5 of 100 are expected, and at most 6 allowed.

    Chosen by all validation values, which are test values of the fold before, it was 12, the value
    of the chosen one was .031 too high, and 24 intervals were above the truth.
    """
    random, better, above, values = np.random.default_rng(1), 0, 0, []
    for _ in range(100):
        rankers = np.clip(random.normal(0.5, 0.3, (14, 5, 1, 20)), 0, 1)
        summary = Summary(results_of(rankers, baseline="method0"))
        better += "better than method0" in summary.conclusion()
        value, (low, _) = summary.expected(summary.choice("map"))
        above += low > 0.5
        values.append(value)
    assert better <= 6
    assert above <= 7
    # Six standard errors of this mean are .018: the value of the luckiest of 14 is .05 higher.
    assert abs(np.mean(values) - 0.5) < 3 * 0.3 / np.sqrt(100 * 100)


def test_equal_rankers_in_few_folds_are_corrected_for_the_choice() -> None:
    random, better = np.random.default_rng(2), 0
    for _ in range(60):
        rankers = random.normal(0.5, 0.1, (8, 3, 2, 20))
        summary = Summary(results_of(rankers, baseline="method0"))
        assert summary.choice("map", summary.others).by_fold is None
        better += "better than method0" in summary.conclusion()
        assert summary.main is not None
        assert summary.main.tests == 7
    assert better <= 4  # of 60 with 2.5 %, 4 are three standard errors above
    assert "Corrected for 7 possible choices" in summary.conclusion()


def test_a_fold_is_tested_with_the_choice_of_other_folds() -> None:
    """Of fold f, and of fold f + 1, which is validated on the test queries of f, nothing counts."""
    for place in range(5):
        values = np.full((2, 5, 1, 20), 0.5)
        values += np.random.default_rng(0).normal(0, 1e-3, values.shape)
        # Method 1 is far better on validation data of the two folds that must not count.
        values[1, [place - 1, place]] += 0.3
        values[0, [place - 4, place - 3, place - 2]] += 0.1
        choice = Summary(results_of(values)).choice("map")
        assert choice.best == "method1"
        assert choice.by_fold is not None
        assert choice.by_fold[FOLDS[place]][0] == "method0"
        runs = choice.runs()
        expected = [
            values[int(choice.by_fold[fold][0][-1]), number].mean()
            for number, fold in enumerate(FOLDS)
        ]
        assert [run["map"] for run in runs] == pytest.approx(expected)
        said = Summary(results_of(values)).decision()[0]
        assert "On test data, if other folds choose the method for each: " in said
        times = choice.times_chosen()
        assert sum(times.values()) == 5
        assert times["method0"] >= 1


def test_what_is_compared_is_named_where_the_choice_varies() -> None:
    """The difference is then that of the choices, not of the two methods that are best overall."""
    names = ("ours1", "ours2", "theirs1", "theirs2")
    for seed in range(20):
        values = np.clip(np.random.default_rng(seed).normal(0.5, 0.2, (4, 5, 1, 20)), 0, 1)
        summary = Summary(results_of(values, names))
        both = summary.contenders("map")
        main, table, text = summary.main, verdict_table(summary), summary.conclusion()
        assert main is not None
        assert table is not None
        own = values[names.index(main.first)].mean() - values[names.index(main.second)].mean()
        for one, words in zip(both, main.words, strict=True):
            times = one.times_chosen()
            varies = len(times) > 1 or one.best not in times
            assert words.startswith("the choice by other folds (") == varies
            assert all(name in words for name in (*times, one.best))
            assert words[1:] in text
        if main.words == (main.first, main.second):
            assert main.difference == pytest.approx(own)
        else:
            assert [line for line in table.foot if line.startswith("By MAP: the choice")
                    or " less the choice" in line]  # fmt: skip


def test_folds_that_share_no_queries_are_found_by_content() -> None:
    random = np.random.default_rng(0)
    data = RankingData(
        random.normal(size=(300, 3)), random.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    )
    tables = replace(data, qid=np.zeros(300, np.int64), grouped=False)
    for each in (cross_validation(data), cross_validation(tables), digits_queries()):
        apart = validated_apart(each)
        for place, fold in enumerate(each):
            left_out = {fold.name, each[(place + 1) % 5].name}
            assert {*apart[fold.name]} == {one.name for one in each} - left_out
    # Folds with validation data of their own say nothing of each other's tests.
    parts = [data.take_queries(np.arange(j, 30, 6)) for j in range(6)]
    first, second = (
        replace(fold, name=f"f{j}") for j, fold in enumerate(cross_validation(data)[:2])
    )
    own = [
        replace(first, valid=parts[0], test=parts[1]),
        replace(second, valid=parts[2], test=parts[3]),
    ]
    assert validated_apart(own) == {"f0": ["f1"], "f1": ["f0"]}
    # Other labels, or other numbers of queries, are other queries.
    other = replace(parts[1], labels=parts[1].labels + 1)
    assert validated_apart([own[0], replace(own[1], valid=other)])["f0"] == ["f1"]
    assert validated_apart([own[0], replace(own[1], valid=parts[1])])["f0"] == []
    one_of_them = data.take_queries([1, 2])
    assert validated_apart([own[0], replace(own[1], valid=one_of_them)])["f0"] == []


def test_folds_of_time_are_corrected() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, (3, 5, 1, 20))
    results = results_of(values)
    assert Summary(results).choice("map").tests == 1
    by_time = replace(results, config=replace(results.config, order="day"))
    assert Summary(by_time).choice("map").tests == 3
    assert "Corrected for 3 possible choices" in Summary(by_time).conclusion()


def test_the_saved_model_is_the_one_of_the_conclusion(tmp_path: Path) -> None:
    """Also where validation data prefers another one, which is worse on test data."""
    data = letor_folder(tmp_path / "data", folds=5, queries=10)
    options = ("--methods", "lightgbm:map,xgboost:map,lightgbm:lambdarank", "--metrics", "map",
               "--rounds", 6, "--jobs", 1, "--out", tmp_path / "out")  # fmt: skip
    for baseline in ((), ("--baseline", "lightgbm:lambdarank")):
        model = tmp_path / f"model{len(baseline)}"
        said = " ".join(
            invoke("compare", data, *options, *baseline, "--save-model", model).output.split()
        )
        saved = re.search(r"Model: (\S+), trained", said)
        assert saved is not None
        assert saved[1] in said.partition("Saved to")[2]  # which the conclusion follows
        assert "keep it" not in said or baseline


def test_a_significantly_better_baseline_is_saved_though_validation_prefers_another() -> None:
    """Validation features are reversed, so that trees that may only fall look better there."""
    random = np.random.default_rng(0)
    feature = random.normal(size=(1000, 1))
    labels = feature[:, 0] + random.normal(size=1000) > 1.0
    data = RankingData(feature, labels, np.repeat(np.arange(50), 20))
    folds = [
        replace(fold, valid=replace(fold.valid, features=-fold.valid.features))
        for fold in cross_validation(data)
    ]
    [right] = find_methods("lightgbm:map")
    falling = replace(right, name="falling", fixed={"monotone_constraints": [-1]})
    study = Study(folds, [right, falling], ["map"], Config(baseline=right.name, rounds=5))
    study.finish()
    assert Summary(study.results).choice("map").best == "falling"
    assert study.train_final().task.method.name == right.name
