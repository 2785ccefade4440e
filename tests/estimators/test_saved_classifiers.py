"""Files of XGBoostClassifier hold what fit learnt, as data, and what they cannot hold is said."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts import Raises, Rows, Warns, contract, hold
from small_classifiers import X, Y, fitted, made

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.metrics import Declaration


def loaded(model: Any, folder: Path, into: Any = None, name: str = "model.json") -> Any:
    model.save_model(folder / name)
    found = type(model)() if into is None else into
    found.load_model(folder / name)
    return found


SAVED: dict[str, tuple[Any, dict[str, Any]]] = {  # labels, and options of the estimator
    "0 and 1": (Y, {}),
    "flags": (Y == 1, {}),
    "text": (np.where(Y, "fraud", "ok"), {}),
    "text as objects": (np.where(Y, "fraud", "ok").astype(object), {}),
    "int8": (Y.astype(np.int8), {}),
    "7.0 and 9.0": (np.where(Y, 9.0, 7.0), {"pos_label": 7.0}),
    "without probabilities": (Y, {"cv": None}),
    "a sum and two metrics": (Y, {"objective": "p@50 + 0.5*ndcg", "eval_metric": ["auc", "map"]}),
    "options of an objective": (Y, {"objective": lp.lambda_objective("map", sigma=2.0)}),
    "a sum with log-loss":
        (Y, {"objective": lp.combine({lp.LogLoss(relevant=1): 1, lp.lambda_map: 0.5})}),
    "XGBoost's objective": (Y, {"objective": "binary:logistic", "eval_metric": "map"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ["model.json", "model.ubj"])
@pytest.mark.parametrize(("labels", "options"), SAVED.values(), ids=SAVED)
def test_a_loaded_classifier_is_the_saved_one(
    labels: Any, options: dict[str, Any], name: str, tmp_path: Path
) -> None:
    model = made(lp.XGBoostClassifier, **options).fit(X, labels)
    again = loaded(model, tmp_path, name=name)
    copied = loaded(pickle.loads(pickle.dumps(again)), tmp_path, name=name)
    for other in (again, copied):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.predict(X).dtype == model.predict(X).dtype
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert hasattr(other, "predict_proba") == hasattr(model, "predict_proba")
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        for parameter in ("objective", "eval_metric"):
            assert getattr(other, parameter) == getattr(model, parameter)
    trees = xgb.Booster(model_file=tmp_path / name)
    margin = trees.predict(xgb.DMatrix(X), output_margin=True)
    np.testing.assert_array_equal(margin, model.predict(X, output_margin=True))
    plain = xgb.XGBClassifier()
    plain.load_model(tmp_path / name)
    refitted = again.set_params(n_estimators=4, n_jobs=1, cv=None).fit(X, Y)
    assert refitted.classes_.tolist() == [0, 1]


def test_a_training_that_goes_on_does_not_keep_what_was_saved(tmp_path: Path) -> None:
    first = loaded(fitted(lp.XGBoostClassifier), tmp_path)
    longer = made(lp.XGBoostClassifier, cv=None).fit(X, Y, xgb_model=first)
    for model in (fitted(lp.XGBoostClassifier), first, longer):
        assert model.get_booster().attr("lambdaplus") is None
    file = tmp_path / "model.json"
    for start in (str(file), xgb.Booster(model_file=file)):
        again = made(lp.XGBoostClassifier, cv=None).fit(X, Y, xgb_model=start)
        assert again.get_booster().attr("lambdaplus") is None
        with pytest.raises(ValueError, match=r"ranks 1 first, not 0: pass pos_label=1$"):
            made(lp.XGBoostClassifier, pos_label=0).fit(X, Y, xgb_model=start)
    by_xgboost = xgb.train({}, xgb.DMatrix(X, Y), 2, xgb_model=str(file)).save_raw()
    with pytest.raises(ValueError, match=r"had 4 rounds when it was saved .* has 6"):
        lp.XGBoostClassifier().load_model(by_xgboost)
    trees = longer.get_booster().save_raw()
    with pytest.raises(ValueError, match="holds trees alone, without labels and threshold"):
        lp.XGBoostClassifier().load_model(trees)


def test_another_objective_of_xgboost_does_not_move_scores_before_the_next_fit(
    tmp_path: Path,
) -> None:
    model = pickle.loads(pickle.dumps(fitted(lp.XGBoostClassifier)))
    model.set_params(objective="binary:logistic", base_score=0.9)  # which the threshold lacks
    for other in (model, loaded(model, tmp_path)):
        for method in ("predict", "predict_proba", "decision_function"):
            of_fit = getattr(fitted(lp.XGBoostClassifier), method)(X)
            np.testing.assert_array_equal(getattr(other, method)(X), of_fit)


def test_a_saved_classifier_of_lightgbm_has_trees_alone() -> None:
    model = fitted(lp.LightGBMClassifier)
    scores = lgb.Booster(model_str=model.booster_.model_to_string()).predict(X)
    np.testing.assert_array_equal(scores, model.predict(X, raw_score=True))
    np.testing.assert_array_equal(model.predict(X), (scores > model.offset_).astype(int))
    shares = model.predict(X, pred_contrib=True).sum(axis=1)
    np.testing.assert_allclose(shares, model.decision_function(X) + model.offset_, atol=1e-9)


MINE = Declaration(
    "mine", "", "", binary=True, discount=lambda metric, ranks: 1 / ranks,
    gain=lambda counts: counts.label, normalizer=lambda counts: counts.ideal(counts.label),
)  # fmt: skip


def ranker(objective: Any, **options: Any) -> Any:
    quick = {"n_estimators": 2, "n_jobs": 1, "objective": objective, **options}
    return lp.XGBoostRanker(**quick).fit(X, Y, group=[20] * 15)


UNSAVED: Rows = {
    "a metric of your own": (
        lambda folder: loaded(ranker(MINE), folder),
        Warns(r"saved with objective=mine\[@k\], which a file cannot hold, and has .*=ndcg now"),
    ),
    "an objective of a metric of your own": (
        lambda folder: loaded(ranker(lp.lambda_objective(MINE)), folder),
        Warns(r"saved with objective=lambda_objective\('mine.*'\), which a file cannot hold"),
    ),
    "labels of your own": (
        lambda folder: loaded(
            ranker(lp.combine({lp.lambda_map: 1, lp.lambda_ndcg.on(Y): 1})), folder
        ),
        Warns("saved with objective=combine.*300 labels"),
    ),
    "a function": (
        lambda folder: loaded(ranker("map", eval_metric=max), folder),
        Warns("saved with eval_metric=max, which a file cannot hold"),
    ),
    "the same metric in the estimator that loads": (
        lambda folder: (
            loaded(ranker(MINE), folder, lp.XGBoostRanker(objective=MINE)).objective == MINE
        ),
        True,
    ),
    "labels that are dates": (
        lambda folder: loaded(
            made(lp.XGBoostClassifier).fit(X, np.array(["2020", "2021"], "M8[D]")[Y]), folder
        ),
        Raises(r"a file cannot hold the labels .*: pickle the estimator"),
    ),
}


@contract(UNSAVED)
def test_what_a_file_cannot_hold_is_said(act: Any, right: Any, tmp_path: Path) -> None:
    hold(act, right, tmp_path)


TAMPERED = {  # attributes of a file, and what is said of them
    '{"objective": {"lambda_objective": "map", "sgima": 2}}': "cannot be read",
    '{"objective": {"lambda_objective": 3}}': "cannot be read",
    '{"objective": {"os.system": "ls"}}': "cannot be read",
    '{"objective": {"combine": [1]}}': "cannot be read",
    '{"objective": {"combine": [[{"combine": []}, 1]]}}': "cannot be read",
    '{"objective": 5}': "of an older lambdaplus, or damaged",
    "[" * 100_000: "of an older lambdaplus, or damaged",
    "ndcg@10 + map": "of an older lambdaplus, or damaged",  # of 0.1
    "[1]": "of an older lambdaplus, or damaged",
    '{"classes": ["a", "b"], "dtype": "<U100000000", "pos_label": "a"}': "damaged",
    '{"classes": [0, 1], "dtype": "1000000000f8", "pos_label": 0}': "damaged",
    '{"classes": 5}': "damaged",
    '{"classes": [0, 1], "dtype": "<i8", "pos_label": 2}': "damaged",
}


@pytest.mark.parametrize(("text", "message"), TAMPERED.items(), ids=range(len(TAMPERED)))
def test_what_a_file_holds_is_data_and_no_code(text: str, message: str) -> None:
    booster = fitted(lp.XGBoostClassifier).get_booster().copy()
    booster.set_attr(lambdaplus=text, scikit_learn=None)
    with pytest.raises(ValueError, match=message):
        lp.XGBoostClassifier().load_model(booster.save_raw())


@pytest.mark.parametrize(
    "changed",
    [
        *({name: value} for name in ("offset", "a", "b") for value in (np.nan, np.inf, -np.inf)),
        {"a": None}, {"classes": [0, 1, 2]}, {"classes": [1, 0]}, {"classes": [0, 0]},
        {"classes": [np.nan, 1.0], "dtype": "<f8"}, {"classes": [0, 300], "dtype": "<i1"},
        {"classes": [0.5, 1.5], "pos_label": 1.5},
    ],
)  # fmt: skip
def test_numbers_that_fit_cannot_have_saved_are_refused(changed: Any, tmp_path: Path) -> None:
    fitted(lp.XGBoostClassifier).save_model(tmp_path / "model.json")
    booster = xgb.Booster(model_file=tmp_path / "model.json")
    text = json.dumps({**json.loads(str(booster.attr("lambdaplus"))), **changed})
    booster.set_attr(lambdaplus=text, scikit_learn=None)
    with pytest.raises(ValueError, match="of an older lambdaplus, or damaged"):
        lp.XGBoostClassifier().load_model(booster.save_raw())
