"""Probabilities of labels 0 and 1 by a saved model: learned from test rows, kept with how good."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.metrics import log_loss

import lambdaplus as lp
from lambdaplus.data import Fold, RankingData
from lambdaplus.saved_model.about import SCORES
from lambdaplus.saved_model.scores import score_file
from lambdaplus.study import Config, Study, find_methods, study_of
from lambdaplus.study.fits import Fit
from lambdaplus.study.probabilities import (
    bins_of,
    learned_from,
    probabilities_in_words,
    score_in_words,
)

METHODS = ("lightgbm:binary", "xgboost:auc")


def fraud(n: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    amount, foreign = random.lognormal(3, 1, n), random.random(n) < 0.2
    p = expit(0.8 * np.log(amount) + 1.2 * foreign - 5.5)
    return pl.DataFrame(
        {"amount": amount, "foreign": foreign, "label": (random.random(n) < p).astype(int)}
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Study, Path, Path]]:
    folder = tmp_path_factory.mktemp("fraud")
    fraud(3000, 0).write_csv(folder / "a.csv")
    fraud(20_000, 1).drop("label").write_csv(folder / "new.csv")
    config = Config(data=str(folder / "a.csv"), qid="none", methods=METHODS, rounds=40)
    study = study_of(config)
    study.finish()
    found = {}
    for name in [method.name for method in study.methods]:
        study.save_model(folder / name.replace(":", "-"), name)
        found[name.partition(":")[0]] = study, folder / name.replace(":", "-"), folder / "new.csv"
    return found


def platt(scores: Any, labels: Any) -> Any:
    """Slope and intercept by Platt 1999: the log-loss of targets that are not quite 0 and 1."""
    n = np.bincount(labels.astype(int))
    target = np.where(labels == 1, (n[1] + 1) / (n[1] + 2), 1 / (n[0] + 2))

    def loss(ab: Any) -> float:
        z = ab[0] * scores + ab[1]
        return -float(np.sum(target * log_expit(z) + (1 - target) * log_expit(-z)))

    return minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-6}).x


def about(folder: Path) -> Any:
    return json.loads((folder / "about.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
def test_probabilities_are_those_of_the_test_rows_and_right_for_new_ones(
    saved: Any, framework: str
) -> None:
    study, model, new = saved[framework]
    kept = about(model)
    fits, tests = study.chosen(kept["method"], "map"), [fold.test for fold in study.folds]
    scores = [fit.test for fit in fits]
    labels = [test.labels for test in tests]
    assert sum(y.size for y in labels) == 3000  # each row once
    a, b = platt(np.concatenate(scores), np.concatenate(labels))
    assert [kept["a"], kept["b"]] == pytest.approx([a, b], rel=1e-3)
    p = score_file(model, new, probabilities=True)
    np.testing.assert_allclose(p, expit(kept["a"] * score_file(model, new) + kept["b"]))
    y = fraud(20_000, 1)["label"].to_numpy()
    assert p.mean() == pytest.approx(np.concatenate(labels).mean(), rel=0.05)
    for one in bins_of(y, p, np.ones(y.size)):
        assert one.observed == pytest.approx(one.expected, rel=0.35, abs=0.02)
    assert log_loss(y, p) < log_loss(y, np.full(y.size, y.mean())) - 0.02
    # Log-loss and bins: each fold by the numbers of the others.
    of_others = []
    for place in range(5):
        others = [np.concatenate([*all_[:place], *all_[place + 1 :]]) for all_ in (scores, labels)]
        a, b = platt(*others)
        of_others.append(expit(a * scores[place] + b))
    p, y = np.concatenate(of_others), np.concatenate(labels)
    how_good = kept["probabilities"]
    assert how_good["log_loss"] == pytest.approx(log_loss(y, p), abs=1e-4)
    assert how_good["of_share"] == pytest.approx(log_loss(y, np.full(3000, y.mean())))
    before = log_loss(y, expit(np.concatenate(scores))) if framework == "lightgbm" else None
    assert how_good["before"] == (before and pytest.approx(before))
    assert (how_good["rows"], how_good["positives"], how_good["folds"]) == (3000, y.sum(), 5)
    order = np.argsort(p, kind="stable").reshape(10, 300)
    np.testing.assert_allclose(
        [list(one.values()) for one in how_good["reliability"]],
        np.column_stack([np.full(10, 300), p[order].mean(axis=1), y[order].mean(axis=1)]),
        atol=1e-4,
    )


def test_both_programs_print_them_and_say_what_numbers_are(saved: Any) -> None:
    _, model, new = saved["lightgbm"]
    p = score_file(model, new, probabilities=True)
    blocked = "import runpy, sys; sys.modules['lambdaplus'] = None; sys.argv = sys.argv[1:]; "
    program = blocked + "runpy.run_path(sys.argv[0], run_name='__main__')"
    for place in (0, 1):
        options = [str(new)]
        options.insert(place, "--probabilities")
        command = [sys.executable, "-c", program, str(model / "predict.pyz"), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        assert [*map(float, done.stdout.split())] == p.tolist()
        assert done.stderr == "predict.pyz: probabilities of the label 1\n"
    done = invoke("predict", model, new, "--probabilities")
    assert [*map(float, done.stdout.split())] == p.tolist()
    assert done.stderr == "probabilities of the label 1\n"
    said = "; --probabilities prints probabilities of the label 1\n"
    assert invoke("predict", model, new).stderr == f"log-odds of the label 1{said}"
    assert invoke("predict", saved["xgboost"][1], new).stderr == f"{SCORES}{said}"


def test_compare_says_what_numbers_are_and_how_good_probabilities_are(tmp_path: Path) -> None:
    fraud(800, 0).write_csv(tmp_path / "a.csv")
    said = invoke(
        "compare", tmp_path / "a.csv", "--qid", "none", "--methods", "lightgbm:binary", "--rounds",
        9, "--jobs", 1, "--out", tmp_path / "out", "--save-model", tmp_path / "model",
    ).output  # fmt: skip
    kept = about(tmp_path / "model")["probabilities"]
    shown = {name: f"{kept[name]:.4f}"[1:] for name in ("log_loss", "before", "of_share")}
    assert (
        "Its numbers are log-odds of the label 1. Probabilities, learned from 800 test rows of 5 "
        f"folds: log-loss {shown['log_loss']} (its own log-odds: {shown['before']}; the share of "
        f"positives alone: {shown['of_share']})."
    ) in said
    assert "predict.pyz FILE [--probabilities]" in said


def test_a_model_without_probabilities_says_why(tmp_path: Path) -> None:
    frame = fraud(600, 0).with_columns(label=pl.col("label") + (pl.col("amount") > 40))
    frame.with_columns(qid=np.arange(600) // 10).write_csv(tmp_path / "a.csv")
    said = invoke(
        "compare", tmp_path / "a.csv", "--methods", "lightgbm:ndcg", "--rounds", 5, "--jobs", 1,
        "--out", tmp_path / "out", "--save-model", tmp_path / "model",
    ).output  # fmt: skip
    assert f"Its numbers are {SCORES}.\nSaved to" in said
    assert "--probabilities" not in said
    done = invoke("predict", tmp_path / "model", tmp_path / "a.csv")
    assert done.stderr == f"{SCORES}\n"
    done = invoke("predict", tmp_path / "model", tmp_path / "a.csv", "--probabilities", ends=2)
    assert "has no probabilities: the labels are not 0 and 1. Leave out --prob" in done.stderr
    assert not done.stdout


def test_an_exported_classifier_has_its_own_probabilities(tmp_path: Path) -> None:
    frame = fraud(2000, 0).to_pandas()
    X, y = frame[["amount", "foreign"]], np.where(frame["label"], "fraud", "ok")
    frame.to_csv(tmp_path / "a.csv", index=False)
    for kind, objective in ((lp.LightGBMClassifier, "map"), (lp.XGBoostClassifier, "auc"),
                            (lp.LightGBMClassifier, "binary")):  # fmt: skip
        model = kind(objective=objective, n_estimators=10, n_jobs=1).fit(X, y)
        model.export(tmp_path / "model")
        label = about(tmp_path / "model")["pos_label"]
        p = score_file(tmp_path / "model", tmp_path / "a.csv", probabilities=True)
        known = model.predict_proba(X)[:, model.classes_.tolist().index(label)]
        np.testing.assert_allclose(p, known, rtol=1e-5)
        done = invoke("predict", tmp_path / "model", tmp_path / "a.csv", "--probabilities")
        assert done.stderr == f"probabilities of the label {label}\n"
        log_odds = invoke("predict", tmp_path / "model", tmp_path / "a.csv").stderr
        assert log_odds.startswith("log-odds of the label") == (objective == "binary")
    lp.LightGBMClassifier(objective="map", cv=None, n_jobs=1).fit(X, y).export(tmp_path / "model")
    done = invoke("predict", tmp_path / "model", tmp_path / "a.csv", "--probabilities", ends=2)
    assert "has no probabilities: Pass cv='auto' or eval_set=" in done.stderr


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("lightgbm:binary", "log-odds of a label of 1 or more"),
        ("xgboost:binary:logistic", "log-odds of a label of 1 or more"),
        ("lightgbm:cross_entropy", "log-odds of the label"),
        ("lightgbm:binary(sigmoid=2)", SCORES),
        ("lightgbm:regression", "predicted labels"),
        ("xgboost:reg:squarederror", "predicted labels"),
        ("lightgbm:regression(labels=ranks)", SCORES),
        ("lightgbm:tweedie", "logarithms of predicted labels"),
        ("xgboost:count:poisson", "logarithms of predicted labels"),
        ("lightgbm:lambdarank", SCORES),
        ("lightgbm:map", SCORES),
        ("xgboost:0.25*map+0.75*logloss", SCORES),
    ],
)
def test_what_scores_are(method: str, words: str) -> None:
    [found] = find_methods(method)
    assert score_in_words(found, found.fixed, False) == words


# Odd data ----------------------------------------------------------------------------------------


def part(labels: Any, weights: Any = None) -> RankingData:
    labels = np.asarray(labels, float)
    return RankingData(np.zeros((labels.size, 1)), labels, np.zeros(labels.size, int),
                       weights=weights, grouped=False)  # fmt: skip


def learned(*tested: tuple[Any, Any], weights: Any = None, log_odds: bool = False) -> Any:
    """From test rows of these labels and scores."""
    names = [f"Fold{i}" for i, _ in enumerate(tested)]
    both = part([0, 1])
    folds = [
        Fold(name, both, both, part(labels, weights))
        for name, (labels, _) in zip(names, tested, strict=True)
    ]
    fits = [
        Fit("m", name, 0, 0, test=np.asarray(scores, float))
        for name, (_, scores) in zip(names, tested, strict=True)
    ]
    return learned_from(fits, folds, log_odds)


RANDOM = np.random.default_rng(0)
S = RANDOM.normal(size=600)
Y = (RANDOM.random(600) < expit(2 * S - 1)).astype(float)


def test_one_fold_has_them_and_says_so() -> None:
    found = learned((Y, S), log_odds=True)
    assert (found.a, found.b) == pytest.approx((2, -1), abs=0.4)
    assert found.before == pytest.approx(log_loss(Y, expit(S)))
    assert "from 600 test rows of a fold: log-loss" in probabilities_in_words(found)


def test_folds_with_one_class_are_used() -> None:
    order = np.argsort(Y, kind="stable")
    found = learned((Y[order[:50]], S[order[:50]]), (Y[order[50:]], S[order[50:]]))
    assert (found.a, found.b) == pytest.approx(tuple(platt(S, Y)), rel=1e-3)


def test_rows_of_weight_k_count_k_times() -> None:
    weights = RANDOM.integers(1, 4, 600)
    one, other = learned((Y, S), weights=weights.astype(float)), learned(
        (np.repeat(Y, weights), np.repeat(S, weights))
    )  # fmt: skip
    assert (one.a, one.b) == pytest.approx((other.a, other.b), rel=1e-3)
    assert one.log_loss == pytest.approx(other.log_loss, rel=1e-4)


def test_what_has_no_probabilities() -> None:
    assert learned((Y, -S)) == "higher scores do not go with more positives on test rows"
    assert learned((Y, 0 * S)) == "higher scores do not go with more positives on test rows"
    assert learned((0 * Y, S)) == "all test rows have the label 0"
    assert learned((Y / 2, S)) == "the labels are not 0 and 1"
    said = "It has no probabilities: higher scores do not go with more positives on test rows."
    assert probabilities_in_words(learned((Y, -S))) == said
    assert probabilities_in_words(learned((2 * Y, S))) == ""  # nobody expects them
