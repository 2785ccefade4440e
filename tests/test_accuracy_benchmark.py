"""The accuracy study's choices and tests, on made-up results."""

import importlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from lambdaplus.comparison import Settings

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


@pytest.mark.slow
def test_the_study_runs_and_writes_its_page(accuracy, tmp_path, monkeypatch, capsys):
    results = tmp_path / "results" / "accuracy"
    monkeypatch.setattr("sys.argv", [
        "accuracy.py", "web-search-like:15", "--seeds", "1", "--trials", "2", "--rounds", "4",
        "--jobs", "1", "--kept", str(tmp_path / "kept"), "--results", str(results),
        "--methods", "lightgbm:lambdarank,lightgbm:lambda_map",
    ])  # fmt: skip
    accuracy.main()
    assert "best on the mean over sets is lightgbm:lambda" in capsys.readouterr().out
    means = json.loads(results.with_suffix(".json").read_text())["means"]
    assert 0.55 < means["auc"]["test"]["lightgbm:lambdarank"]["web-search-like"] < 1
    assert " of 40 chosen rounds are in " in results.with_suffix(".md").read_text()
    assert (tmp_path / "kept" / "web-search-like" / "report.html").exists()
