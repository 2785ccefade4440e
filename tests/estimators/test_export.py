"""Models of estimators in a folder, which score files without lambdaplus."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import lambdaplus as lp
from lambdaplus.saved_model.scores import score_file

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "amount": RANDOM.normal(size=600),
        "shop": pd.Categorical(RANDOM.choice(["a", "b", "c"], 600)),
        "new": RANDOM.integers(0, 2, 600) == 1,
        "kind": pd.Categorical(RANDOM.choice([10, 20], 600)),
    }
)
FRAME.loc[::7, "amount"] = np.nan
FRAME.loc[::11, "shop"] = np.nan
SCORE = FRAME["amount"].fillna(0) + (FRAME["shop"] == "b") + FRAME["new"]
Y = (SCORE + RANDOM.normal(size=600) > 2).astype(int).to_numpy()
QID = np.repeat(np.arange(60), 10)
QUICK: dict[Any, dict[str, Any]] = {
    lp.LightGBMRanker: {"verbose": -1},
    lp.LightGBMClassifier: {"verbose": -1},
    lp.XGBoostRanker: {"enable_categorical": True},
    lp.XGBoostClassifier: {"enable_categorical": True},
}
RANKERS, CLASSIFIERS = [*QUICK][::2], [*QUICK][1::2]


def fitted(kind: Any, X: Any = FRAME, **options: Any) -> Any:
    model = kind(**{"n_estimators": 5, "n_jobs": 1, **QUICK[kind], **options})
    return model.fit(X, Y, **({"qid": QID} if kind in RANKERS else {}))


def raw(model: Any, X: Any) -> Any:
    name = "raw_score" if hasattr(model, "booster_") else "output_margin"
    return model.predict(X, **{name: True})


def about(folder: Path) -> Any:
    return json.loads((folder / "about.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", QUICK)
def test_an_exported_model_scores_files_like_the_estimator(
    kind: Any, suffix: str, tmp_path: Path
) -> None:
    model, file = fitted(kind), tmp_path / f"a.{suffix}"
    model.export(tmp_path / "model")
    given = FRAME.assign(note="other").iloc[:, ::-1]
    given.to_csv(file, index=False) if suffix == "csv" else given.to_parquet(file)
    scores = score_file(tmp_path / "model", file)
    np.testing.assert_array_equal(scores, raw(model, FRAME))
    assert np.unique(scores).size > 20
    kept = about(tmp_path / "model")
    assert kept["columns"][1:] == [
        {"name": "shop", "kind": "category", "levels": ["a", "b", "c"]},
        {"name": "new", "kind": "flag"},
        {"name": "kind", "kind": "category", "levels": ["10", "20"]},
    ]
    assert kept["estimator"] == kind.__name__


def probability(kept: Any, score: float) -> float:
    return 1 / (1 + math.exp(-(kept["a"] * score + kept["b"])))


@pytest.mark.parametrize("objective", ["map", "auc", None])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_two_numbers_give_the_probabilities(
    kind: Any, objective: str | None, tmp_path: Path
) -> None:
    native = "binary" if kind is lp.LightGBMClassifier else "binary:logistic"
    model = fitted(kind, objective=objective or native)
    model.export(tmp_path / "model")
    kept, scores = about(tmp_path / "model"), raw(model, FRAME)
    assert kept["classes"] == [0, 1]
    p = [probability(kept, float(score)) for score in scores]
    column = kept["classes"].index(kept["pos_label"])
    np.testing.assert_allclose(p, model.predict_proba(FRAME)[:, column], rtol=1e-6)
    for chosen in (scores > kept["offset"], np.array(p) > kept["threshold"]):
        np.testing.assert_array_equal(chosen, model.predict(FRAME) == kept["pos_label"])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_class_that_was_chosen_and_text_are_kept(kind: Any, tmp_path: Path) -> None:
    model = kind(n_estimators=5, pos_label="ok", cv=None, **QUICK[kind])
    model.fit(FRAME, np.where(Y, "fraud", "ok")).export(tmp_path / "model")
    kept = about(tmp_path / "model")
    assert (kept["classes"], kept["pos_label"]) == (["fraud", "ok"], "ok")
    assert kept["a"] is kept["b"] is kept["threshold"] is None
    assert kept["no_probabilities"] == "Pass cv='auto' or eval_set="
    named = np.where(raw(model, FRAME) > kept["offset"], "ok", "fraud")
    np.testing.assert_array_equal(named, model.predict(FRAME))


@pytest.mark.parametrize("kind", QUICK)
def test_an_exported_model_has_the_best_rounds(kind: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"n_estimators": 30, "learning_rate": 0.5, "eval_metric": "map"}
    fit: dict[str, Any] = {"eval_set": [(FRAME, RANDOM.permutation(Y))]}
    if kind in RANKERS:
        fit |= {"qid": QID, "eval_qid": [QID]}
    if kind in (lp.XGBoostRanker, lp.XGBoostClassifier):
        options["early_stopping_rounds"] = 20
        fit["verbose"] = False
    else:
        options["early_stopping_round"] = 20
    model = kind(**QUICK[kind], **options).fit(FRAME, Y, **fit)
    best = getattr(model, "best_iteration_", 0) or model.best_iteration + 1
    assert best < 30
    model.export(tmp_path / "model")
    (file := tmp_path / "a.csv").write_text(FRAME.to_csv(index=False))
    np.testing.assert_array_equal(score_file(tmp_path / "model", file), raw(model, FRAME))


def test_features_of_an_array_have_numbers_or_names(tmp_path: Path) -> None:
    X = FRAME[["amount", "new"]].to_numpy(dtype=float)
    model = fitted(lp.LightGBMRanker, X)
    model.export(tmp_path / "numbers")
    model.export(tmp_path / "names", columns=["size", "fresh"])
    (tmp_path / "a.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:-2 2:1\n")
    (tmp_path / "a.csv").write_text("fresh,size\nfalse,0.5\ntrue,-2\n")
    right = model.predict([[0.5, 0.0], [-2.0, 1.0]])
    assert score_file(tmp_path / "numbers", tmp_path / "a.txt").tolist() == right.tolist()
    assert score_file(tmp_path / "names", tmp_path / "a.csv").tolist() == right.tolist()
    with pytest.raises(ValueError, match="3 columns for 2 features"):
        model.export(tmp_path / "other", columns=["a", "b", "c"])


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    three = lp.LightGBMClassifier(objective="multiclass", n_estimators=2, verbose=-1)
    with pytest.raises(ValueError, match="'multiclass' and 3 classes cannot be exported"):
        three.fit(FRAME, np.arange(600) % 3).export(tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted yet"):
        lp.XGBoostRanker().export(tmp_path / "model")
    (tmp_path / "model.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="was not written by lambdaplus"):
        fitted(lp.LightGBMRanker).export(tmp_path)
    assert (tmp_path / "model.txt").read_text() == "mine"


def test_a_file_of_xgboost_has_the_same_numbers(tmp_path: Path) -> None:
    model = fitted(lp.XGBoostClassifier)
    model.save_model(tmp_path / "model.json")
    model.export(tmp_path / "model")
    kept = json.loads(xgb.Booster(model_file=tmp_path / "model.json").attr("lambdaplus"))
    of_folder = about(tmp_path / "model")
    same = ["objective", "eval_metric", "classes", "pos_label", "offset", "a", "b", "threshold"]
    assert {name: kept[name] for name in same} == {name: of_folder[name] for name in same}
    # What XGBoost's own class calls probabilities are scores.
    plain = xgb.XGBClassifier()
    plain.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(plain.predict_proba(FRAME)[:, 1], raw(model, FRAME))


SERVICE = """
import sys; sys.modules["lambdaplus"] = None
import json, math, lightgbm
about = json.load(open(sys.argv[1] + "/about.json"))
booster = lightgbm.Booster(model_file=sys.argv[1] + "/model.txt")
for score in booster.predict([[0.5, 1.0], [-2.0, 0.0]], raw_score=True):
    print(1 / (1 + math.exp(-(about["a"] * score + about["b"]))))
"""


def test_a_service_needs_no_lambdaplus(tmp_path: Path) -> None:
    X = FRAME[["amount", "new"]].to_numpy(dtype=float)
    model = fitted(lp.LightGBMClassifier, X)
    model.export(tmp_path / "model")
    command = [sys.executable, "-c", SERVICE, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    right = model.predict_proba([[0.5, 1.0], [-2.0, 0.0]])
    column = about(tmp_path / "model")["classes"].index(model.pos_label_)
    np.testing.assert_allclose([*map(float, done.stdout.split())], right[:, column], rtol=1e-9)
