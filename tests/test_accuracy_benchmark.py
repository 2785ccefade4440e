"""The accuracy study's choices and tests, on made-up results."""

import importlib
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from lambdaplus.study import Settings

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("accuracy_page")


@pytest.fixture
def accuracy(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("accuracy")


@dataclass
class MadeUp:
    """What the page asks of a study."""

    results: dict
    seeds: tuple = (0,)
    trials: int = 2
    settings: Settings = field(default_factory=Settings)

    @property
    def methods(self):
        return [SimpleNamespace(name=name) for name in self.results]


def choice(fold, test, valid=(0.0,)):
    def found(values):
        of_all = dict.fromkeys(("ndcg@10", "map", "mrr", "auc"), np.array(values))
        return SimpleNamespace(per_query=of_all)

    return SimpleNamespace(
        fold=SimpleNamespace(name=fold),
        search=None,
        evaluation=found(test),
        validation=lambda: found(valid),
    )


def test_seeds_are_averaged_and_queries_without_a_value_left_out(page):
    choices = [
        choice("1", [0.1, np.nan], [0.3]),
        choice("2", [0.7, 0.8], [0.4]),
        choice("1", [0.5, np.nan], [0.5]),
        choice("2", [0.9, 0.8], [0.4]),
    ]
    studies = {"s": MadeUp({"a": choices})}
    assert page.chosen_values(studies, "map", "test")["a"]["s"] == pytest.approx([0.3, 0.8, 0.8])
    assert page.chosen_values(studies, "map", "valid")["a"]["s"] == pytest.approx([0.4, 0.4])


def test_a_fold_counts_once_and_a_method_that_lacks_one_is_left_out(page):
    values = importlib.import_module("accuracy_values")
    whole = [choice("2", [0.7, 0.8, 0.9]), choice("1", [0.1, np.nan]), choice("1", [0.5, np.nan])]
    studies = {"s": MadeUp({"a": whole, "b": whole[:1]})}
    found = values.fold_means(studies, "map")
    assert list(found) == ["a"]
    assert found["a"]["s"] == pytest.approx([0.3, 0.8])  # in the order of the folds' names


def test_one_set_is_the_paired_t_test(page):
    rng = np.random.default_rng(0)
    values = {"a": {"s": rng.normal(size=40)}, "b": {"s": rng.normal(size=40)}}
    found = page.difference(values, "a", "b", ["s"])
    assert found.p == pytest.approx(stats.ttest_rel(values["a"]["s"], values["b"]["s"]).pvalue)


def test_mean_over_two_sets_is_welchs_test(page):
    rng = np.random.default_rng(1)
    gains = {"s": rng.normal(size=30), "t": rng.normal(2.0, 3.0, size=12)}
    # a + b over two sets: Welch's test of a against -b has the same statistic and freedom.
    values = {"a": gains, "b": {name: np.zeros(gain.size) for name, gain in gains.items()}}
    found = page.difference(values, "a", "b", ["s", "t"])
    assert found.p == pytest.approx(
        stats.ttest_ind(gains["s"], -gains["t"], equal_var=False).pvalue
    )
    assert found.mean == pytest.approx((gains["s"].mean() + gains["t"].mean()) / 2)


def test_page_says_where_the_specialist_is_behind(page, tmp_path):
    rng = np.random.default_rng(2)
    hard = rng.uniform(0.3, 0.6, size=50)

    def kept(lift):
        values = hard + lift + 0.01 * rng.normal(size=50)
        return [choice("1", values, values)]

    lifts = {
        "lightgbm:lambda_ndcg": 0.0,
        "lightgbm:lambda_mrr": 0.0,
        "lightgbm:lambda_map": 0.0,
        "lightgbm:lambda_auc": 0.1,
        "lightgbm:lambdarank": 0.05,
    }
    studies = {"s": MadeUp({label: kept(lift) for label, lift in lifts.items()})}
    page.write_page(studies, "the command", tmp_path / "accuracy")
    said = json.loads((tmp_path / "accuracy.json").read_text())["sentences"]
    ahead = "lightgbm:lambda_auc"
    assert said[0].endswith(f"significantly behind on s ({ahead}), the mean ({ahead}).")
    assert "to lightgbm:lambdarank (p = " in said[0]
    assert f"best on the mean over sets is {ahead}" in said[3]
    assert said[3].endswith("; significantly behind on no set.")
    markdown = (tmp_path / "accuracy.md").read_text()
    assert "    the command" in markdown
    assert markdown.count("<sup>-</sup>") == 4 * 4 * 3  # all but the best of ours, in each table


def made_up(lifts, seed=0, queries=50):
    """A study in which each method is above a common level by its lift, and by little noise."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.3, 0.6, size=queries)
    found = {}
    for label, lift in lifts.items():
        values = hard + lift + 0.01 * rng.normal(size=queries)
        found[label] = [choice("1", values, values)]
    return MadeUp(found)


def specialists(framework, lift):
    return {f"{framework}:lambda_{name}": lift for name in ("ndcg", "map", "mrr", "auc")}


def test_a_method_may_lack_some_of_the_sets(page, tmp_path):
    lightgbm = {**specialists("lightgbm", 0.02), "lightgbm:lambdarank": 0.0}
    catboost = {"catboost:YetiRank:mode=MAP": 0.1}
    studies = {"s": made_up(lightgbm), "t": made_up({**lightgbm, **catboost}, seed=1)}
    said = page.write_page(studies, "the command", tmp_path / "accuracy")
    assert "best on the mean over sets is lightgbm:lambda_" in said
    assert "significantly behind on t (catboost:YetiRank:mode=MAP)." in said
    text = (tmp_path / "accuracy.md").read_text()
    assert "without a mean over sets: catboost:YetiRank:mode=MAP." in text
    _, _, by_map = text.partition("## MAP")
    [row] = [line for line in by_map.splitlines() if "| catboost" in line][:1]
    assert re.fullmatch(r"\| catboost:YetiRank:mode=MAP \| - \| \.\d{4}<sup>\+</sup> \| - \|", row)
    assert "CatBoost" not in (tmp_path / "accuracy-readme.md").read_text()
    kept = json.loads((tmp_path / "accuracy.json").read_text())
    assert {gain["framework"] for gain in kept["gains"]} == {"lightgbm"}
    assert [gain["on"] for gain in kept["gains"]] == ["s", "t", "mean"] * 4


@pytest.mark.parametrize("only", ["lambda_map", "lambdarank"])
def test_one_method_alone_has_a_page(page, tmp_path, only):
    studies = {"s": made_up({f"xgboost:{only}": 0.0})}
    said = page.write_page(studies, "the command", tmp_path / "accuracy")
    assert said.count(f"best on the mean over sets is xgboost:{only} (") == 4
    assert json.loads((tmp_path / "accuracy.json").read_text())["gains"] == []


def test_a_best_mean_is_no_winner_where_chance_may_have_made_it(page, tmp_path):
    studies = {"s": made_up({**specialists("lightgbm", 0.0), "lightgbm:lambdarank": 0.0005})}
    said = page.write_page(studies, "the command", tmp_path / "accuracy")
    assert said.count("no significant difference between the highest mean over sets") == 4
    short = (tmp_path / "accuracy-readme.md").read_text()
    assert short.count("**") == 0
    assert "not significantly different by NDCG@10, MAP, MRR and AUC." in short


def test_the_short_table_has_a_row_for_each_framework(page, tmp_path):
    studies = {
        name: made_up(
            {
                **specialists("lightgbm", 0.03),
                "lightgbm:lambdarank": 0.0,
                **specialists("xgboost", 0.01),
                "xgboost:rank:ndcg": 0.02,
                "catboost:YetiRank:mode=MAP": 0.06,
                "catboost:YetiRank:mode=NDCG": 0.05,
            },
            seed,
        )
        for seed, name in enumerate(("s", "t"))
    }
    page.write_page(studies, "the command", tmp_path / "accuracy")
    short = (tmp_path / "accuracy-readme.md").read_text()
    assert re.findall(r"^\| ([A-Z].*?) \|", short, re.MULTILINE) == [
        "LightGBM, best of its own objectives",
        "LightGBM, our objective for the metric",
        "XGBoost, best of its own objectives",
        "XGBoost, our objective for the metric",
        "CatBoost, best of its own objectives",
    ]
    assert re.findall(r"^\| CatBoost.*", short, re.MULTILINE)[0].count("**") == 8
    every = "NDCG@10, MAP, MRR and AUC."
    assert f"On LightGBM our objectives are significantly better by {every}" in short
    assert f"On XGBoost our objectives are significantly worse by {every}" in short
    assert f"Beside CatBoost's best our objectives are significantly worse by {every}" in short


@pytest.mark.slow
@pytest.mark.usefixtures("empty_plots")
def test_the_study_runs_and_writes_its_page(accuracy, tmp_path, monkeypatch, capsys):
    results = tmp_path / "results" / "accuracy"
    monkeypatch.setattr("sys.argv", [
        "accuracy.py", "web-search-like:15", "--seeds", "1", "--trials", "2", "--rounds", "4",
        "--jobs", "1", "--kept", str(tmp_path / "kept"), "--results", str(results),
        "--methods", "lightgbm:lambdarank,lightgbm:lambda_map",
    ])  # fmt: skip
    accuracy.main()
    assert capsys.readouterr().out.count("**: ") == 4
    kept = json.loads(results.with_suffix(".json").read_text())
    means = kept["means"]
    gains = {gain["on"]: gain for gain in kept["gains"] if gain["metric"] == "map"}
    assert list(gains) == ["web-search-like", "mean"]
    assert gains["mean"]["mean"] == pytest.approx(
        means["map"]["test"]["lightgbm:lambda_map"]["web-search-like"]
        - means["map"]["test"]["lightgbm:lambdarank"]["web-search-like"]
    )
    assert 0.55 < means["auc"]["test"]["lightgbm:lambdarank"]["web-search-like"] < 1
    assert " of 40 chosen rounds are in " in results.with_suffix(".md").read_text()
    assert (tmp_path / "kept" / "web-search-like" / "report.html").exists()
    written = results.with_suffix(".md").read_text()
    # What is kept makes the same page, without another method that was never trained.
    sys.argv[-1] += ",lightgbm:rank_xendcg"
    monkeypatch.setattr("sys.argv", [*sys.argv, "--finished"])
    accuracy.main()
    assert results.with_suffix(".md").read_text() == written.replace(
        "lambda_map\n", "lambda_map,lightgbm:rank_xendcg\n", 1
    )


def test_gains_are_those_over_the_same_trees_alone(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    same = importlib.import_module("same_trees")

    def trial(method, fold, trees, value, **options):
        best = dict.fromkeys(("ndcg@10", "map", "mrr", "auc"), value)
        return same.Trial(f"xgboost:{method}", ("made-up", fold, 0), (trees,), options, best)

    trials = [
        trial("rank:map", "Fold1", "small", 0.5),
        trial("rank:ndcg", "Fold1", "small", 0.3),
        trial("lambda_map", "Fold1", "small", 0.6, noise=None),
        trial("rank:map", "Fold2", "small", 0.7),
        trial("rank:ndcg", "Fold2", "small", 0.7),
        trial("lambda_map", "Fold2", "small", 0.8, noise=None),
        trial("rank:map", "Fold1", "large", 0.9),  # one of the methods has not got so far
        trial("lambda_map", "Fold1", "large", 0.1, noise=1.0),
        trial("lambda_auc", "Fold1", "small", 0.0, noise=1.0),
    ]
    found = same.gains(trials, "xgboost", "lambda_map", "map")
    assert found == [({"noise": None}, pytest.approx((0.2 + 0.1) / 2))]
    assert same.gains(trials, "xgboost", "rank:map", "map")[0][1] == pytest.approx((0.1 + 0.0) / 2)
    assert same.in_words([0.25, -0.05]) == "+.1000 ± .1500 (2)"
