"""The accuracy study's choices and tests, on made-up results."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("accuracy_page")


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("accuracy_contenders")


def result(value, valid, test):
    return {"value": value, "round": 5, "valid": valid, "test": test}


def test_trial_is_chosen_on_validation_and_seeds_are_averaged(page):
    found = {
        ("s", 0, "a", 1, 0): {"map": result(0.3, [0.3], [0.9])},
        ("s", 0, "a", 1, 1): {"map": result(0.4, [0.4], [0.1])},  # better valid, worse test
        ("s", 0, "a", 2, 0): {"map": result(0.2, [0.2], [0.5])},
        ("s", 1, "a", 1, 0): {"map": result(0.2, [0.2], [0.7, 0.8])},
        ("s", 1, "a", 2, 0): {"map": result(0.2, [0.2], [0.9, 0.8])},
    }
    assert page.chosen_values(found, "map", "test")["a"]["s"] == pytest.approx([0.3, 0.8, 0.8])


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
        values = (hard + lift + 0.01 * rng.normal(size=50)).tolist()
        return dict.fromkeys(page.METRICS, result(0.5, values, values))

    lifts = {
        "lambda_ndcg, lambda_mrr, LightGBM": 0.0,
        "lambda_ndcg, undamped, LightGBM": 0.05,
        "lambda_map, LightGBM": 0.0,
        "lambda_auc, LightGBM": 0.1,
        "LightGBM lambdarank": 0.05,
    }
    found = {("s", 0, label, 1, 0): kept(lift) for label, lift in lifts.items()}
    page.write_page(found, "the command", tmp_path / "accuracy")
    said = json.loads((tmp_path / "accuracy.json").read_text())["sentences"]
    ahead = "lambda_auc, LightGBM"
    assert said[0].endswith(f"significantly behind on s ({ahead}), the mean ({ahead}).")
    assert f"best on the mean over sets is {ahead}" in said[3]
    assert said[3].endswith("; significantly behind on no set.")
    markdown = (tmp_path / "accuracy.md").read_text()
    assert "    the command" in markdown
    assert markdown.count("<sup>-</sup>") == 4 * 4 * 3  # all but the best of ours, in each table
    damping = next(line for line in markdown.splitlines() if line.startswith("| mean of these"))
    assert float(damping.split("|")[2].split()[0]) == pytest.approx(0.05, abs=0.01)


CONTENDERS = {
    "LightGBM lambdarank": "lightgbm",
    "lambda_auc, XGBoost": "xgboost",
    "CatBoost YetiRank:mode=MAP": "catboost",
    "lambda_auc, CatBoost": "catboost",
}


@pytest.mark.parametrize("name", CONTENDERS)
def test_a_contender_learns(study, name):
    pytest.importorskip(CONTENDERS[name])
    contender = study.contenders()[name]
    found = study.trained("web-search-like:30", 0, "", contender, study.draw(1, 0), 1, 10)
    assert found.keys() == study.METRICS.keys()
    assert np.mean(found["auc"]["valid"]) == pytest.approx(found["auc"]["value"])
    assert len(found["auc"]["test"]) == 6
    assert np.mean(found["auc"]["test"]) > 0.6
