"""What the classifiers promise; test_classifiers.py has how good they are."""

import inspect
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contracts import Raises, Rows, Warns, contract, hold
from sklearn.exceptions import NotFittedError

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.metrics import Declaration

random = np.random.default_rng(0)
X = random.normal(size=(300, 4))
Y = (X[:, 0] + random.normal(size=300) > 1).astype(int)
NATIVE = {lp.LightGBMClassifier: "binary", lp.XGBoostClassifier: "binary:logistic"}
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1, "min_child_samples": 5} if kind is lp.LightGBMClassifier else {}
    return kind(**{"n_estimators": 4, "n_jobs": 1, **quiet, **options})


@cache
def fitted(kind: Any, **options: Any) -> Any:
    return made(kind, **options).fit(X, Y)


def held_out(features: Any, labels: Any) -> dict[str, Any]:
    """An evaluation set in the form of LightGBM 4.7, if this is one."""
    if "eval_X" in inspect.signature(lgb.LGBMClassifier.fit).parameters:
        return {"eval_X": features, "eval_y": labels}
    return {"eval_set": [(features, labels)]}


def alone(labels: Any, **options: Any) -> Any:
    """LightGBM's, without a word."""
    return made(lp.LightGBMClassifier, **options).fit(X[: len(labels)], labels)


def best(labels: Any, **options: Any) -> Any:
    """The watched value of the second half."""
    model = made(lp.LightGBMClassifier, **{"objective": "binary", "eval_metric": "map", **options})
    model.fit(X[:150], labels[:150], **held_out(X[150:], labels[150:]))
    return next(iter(model.best_score_["valid_0"].values()))


# -- outputs --------------------------------------------------------------------------------------

OUTPUTS: Rows = {  # of a model that ranks
    f"{method}({name}=True)": (
        lambda kind, method=method, name=name: getattr(fitted(kind), method)(X[:3], **{name: True}),
        {
            "predict_proba": lambda kind, name=name: fitted(kind).predict(X[:3], **{name: True}),
            "decision_function": Raises(f"pass {name} to predict", TypeError),
        }[method],
    )
    for method in ("predict_proba", "decision_function")
    for name in ("pred_leaf", "pred_contrib")
}
OUTPUTS |= {
    "predict_proba(raw_score=True)": (
        lambda kind: fitted(kind).predict_proba(X[:3], raw_score=True),
        lambda kind: fitted(kind).decision_function(X[:3]) + fitted(kind).offset_,
    ),
    "predict_proba after set_params of LightGBM's objective": (
        lambda kind: pickle.loads(pickle.dumps(fitted(kind))).set_params(
            objective="binary").predict_proba(X[:3]),
        lambda kind: fitted(kind).predict_proba(X[:3]),
    ),
    "predict after set_params of an objective that ranks": (
        lambda kind: made(kind, objective="binary").fit(X, Y).set_params(
            objective="map").predict(X),
        Raises("has no threshold, since its last fit failed, or", NotFittedError),
    ),
}  # fmt: skip


@contract(OUTPUTS)
def test_other_outputs_are_the_parents(act: Callable[..., Any], right: Any) -> None:
    hold(act, right, lp.LightGBMClassifier)


@pytest.mark.parametrize("name", ["output_margin", "pred_leaf", "raw_score", "num_iteration"])
def test_xgboosts_predict_proba_takes_what_its_parents_takes(name: str) -> None:
    for model in (fitted(lp.XGBoostClassifier), fitted(xgb.XGBClassifier)):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            model.predict_proba(X[:3], **{name: 1})
    few = fitted(lp.XGBoostClassifier).predict_proba(X[:3], iteration_range=(0, 1))
    assert not np.array_equal(few, fitted(lp.XGBoostClassifier).predict_proba(X[:3]))


def test_a_saved_classifier_of_lightgbm_has_trees_alone() -> None:
    model = fitted(lp.LightGBMClassifier)
    scores = lgb.Booster(model_str=model.booster_.model_to_string()).predict(X)
    np.testing.assert_array_equal(scores, model.predict(X, raw_score=True))
    np.testing.assert_array_equal(model.predict(X), (scores > model.offset_).astype(int))
    shares = model.predict(X, pred_contrib=True).sum(axis=1)
    np.testing.assert_allclose(shares, model.decision_function(X) + model.offset_, atol=1e-9)


def test_another_objective_of_xgboost_does_not_move_scores_before_the_next_fit(
    tmp_path: Path,
) -> None:
    model = pickle.loads(pickle.dumps(fitted(lp.XGBoostClassifier)))
    model.set_params(objective="binary:logistic")
    for other in (model, loaded(model, tmp_path)):
        for method in ("predict", "predict_proba", "decision_function"):
            of_fit = getattr(fitted(lp.XGBoostClassifier), method)(X)
            np.testing.assert_array_equal(getattr(other, method)(X), of_fit)
    natively = made(xgb.XGBClassifier, objective="binary:logistic").fit(X, Y)
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), natively.predict_proba(X))


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_arguments_have_the_positions_of_the_parents(kind: Any) -> None:
    """Of `decision_function`, which parents lack, X alone."""
    ranks, native = fitted(kind), made(kind, objective=NATIVE[kind]).fit(X, Y)
    for model in (ranks, native):
        with pytest.raises(TypeError, match="positional arguments"):
            model.decision_function(X, True)
        if kind is lp.LightGBMClassifier:
            for method in (model.predict, model.predict_proba):
                np.testing.assert_array_equal(method(X, True), model.predict(X, raw_score=True))
        else:
            few = model.predict_proba(X, False, None, (0, 1))
            expected = model.predict_proba(X, iteration_range=(0, 1))
            np.testing.assert_array_equal(few, expected)
            with pytest.raises(TypeError, match="positional arguments"):
                model.predict(X, True)
    if kind is lp.LightGBMClassifier:
        start = np.linspace(-1, 1, 300)
        by_name = made(kind).fit(X, Y, sample_weight=1.0 + Y, init_score=start)
        found = made(kind).fit(X, Y, 1.0 + Y, start)
        np.testing.assert_array_equal(found.predict_proba(X), by_name.predict_proba(X))


SETS = [(X[150:], Y[150:]), (X[:150], Y[:150])]
FORMS: dict[str, Any] = {  # of the weights of the second set
    "list": lambda weights: [None, weights], "tuple": lambda weights: (None, weights),
    "dictionary": lambda weights: {1: weights}, "polars": lambda weights: {1: pl.Series(weights)},
    "pandas": lambda weights: [None, pd.Series(weights)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_weights_of_evaluation_rows_count_in_any_form(kind: Any, form: Any) -> None:
    """Those that occur twice are the same weight."""
    light, weights = kind is lp.LightGBMClassifier, np.where(Y[:150], 3.0, 1.0)
    name = "eval_sample_weight" if light else "sample_weight_eval_set"
    quiet = {} if light else {"verbose": False}
    if light or isinstance(form(weights), list | tuple):
        given = {"eval_set": SETS if light else tuple(SETS), name: form(weights)}
        model = made(kind).fit(X, Y, **given, **quiet)
        rows = np.repeat(np.arange(150), weights.astype(int))
        copies = made(kind).fit(X, Y, eval_set=[SETS[0], (X[rows], Y[rows])], **quiet)
        np.testing.assert_allclose(model.predict_proba(X), copies.predict_proba(X), atol=0.02)
        plain = made(kind).fit(X, Y, eval_set=SETS, **quiet)
        assert np.ptp(model.predict_proba(X) - plain.predict_proba(X)) > 0.02


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize("n", [2, 6])
def test_few_rows_of_both_classes_give_probabilities(kind: Any, n: int) -> None:
    held_out = np.argsort(-Y, kind="stable")[[0, *range(1 - n, 0)]]  # one is of the trained class
    quiet = {} if kind is lp.LightGBMClassifier else {"verbose": False}
    model = made(kind).fit(X, Y, eval_set=[(X[held_out], Y[held_out])], **quiet)
    assert model.predict_proba(X).shape == (300, 2)
    assert 0.0 < model.predict_proba(X)[:, 1].mean() < 1.0


# -- labels ---------------------------------------------------------------------------------------

LABELS: Rows = {
    "labels 1 and 2 of eval_y, our metric": (lambda: best(Y + 1), lambda: best(Y)),
    "names in eval_y, our metric": (lambda: best(np.where(Y, "y", "n")), lambda: best(Y)),
    "labels 5 to 7 of eval_y, LightGBM's metric":
        (lambda: best(np.arange(300) % 3 + 5, objective="multiclass", eval_metric=None),
         lambda: best(np.arange(300) % 3, objective="multiclass", eval_metric=None)),
    "a label that y lacks in eval_y":
        (lambda: best(np.append(Y[:150], Y[150:] + 1)), Raises("0: .2. are none of|unseen labels")),
    "a class that y lacks":
        (lambda: alone(Y, pos_label=2), Raises(r"pos_label=2 is none of \[0, 1\]")),
    "weights of other classes":
        (lambda: alone(Y, class_weight={"0": 1, 1: 5}), Raises("are none of the classes .0, 1.")),
    "weights of classes of an evaluation set": (
        lambda: made(lp.LightGBMClassifier).fit(
            X, Y, eval_set=[(X, Y)], eval_class_weight=[{1: 5.0}]
        ),
        Raises("pass eval_sample_weight"),
    ),
    "XGBoost's objective, labels 1 and 2, our metric": (
        lambda: made(lp.XGBoostClassifier, objective="binary:logistic", eval_metric="map").fit(
            X, Y + 1
        ),
        Raises(r"y has the labels \[1, 2\]: XGBoost's own .* need 0 and 1"),
    ),
    "a label that y lacks in eval_set": (
        lambda: made(lp.XGBoostClassifier, objective="binary:logistic", eval_metric="map").fit(
            X, Y, eval_set=[(X, Y), (X, Y + 1)]
        ),
        Raises(r"evaluation set 1 has the labels \[1, 2\]: XGBoost's own"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize(
    ("weights", "trained"),
    [(None, 1), (np.where(Y, 9.0, 1.0), 0), (np.where(Y, np.sum(Y == 0), np.sum(Y)), 1)],
    ids=["counts", "weights", "as many"],
)
def test_the_class_whose_rows_weigh_less_is_trained(kind: Any, weights: Any, trained: int) -> None:
    model = made(kind).fit(X, Y, sample_weight=weights)
    assert model.pos_label_ == trained
    assert model.decision_function(X)[Y == 1].mean() > model.decision_function(X).mean()


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "three classes":
        ({"y": np.arange(300) % 3}, "Only binary classification is supported.*multiclass"),
    "one class": ({"y": np.zeros(300)}, "y holds one class"),
    "labels of mixed types":
        ({"y": np.array(["no", 1], object)[Y]}, "y holds objects of type int and str: .* all text"),
    "NaN": ({"y": np.where(np.arange(300) == 5, np.nan, Y)}, "NaN"),
    "a label of an evaluation set": ({"eval_set": [(X, Y * 2)]}, "set 0: .2. are none of"),
    "a negative weight": ({"sample_weight": np.full(300, -1.0)}, "weights must not be negative"),
}  # fmt: skip


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
@pytest.mark.parametrize(("given", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_fit_that_fails_leaves_no_model(given: dict[str, Any], message: str, kind: Any) -> None:
    model = made(kind).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.fit(**{"X": X, "y": Y, **given})
    assert not hasattr(model, "offset_")
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)


@contract(LABELS)
def test_labels_are_those_of_one_problem(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)


@pytest.mark.parametrize("kind", [lp.LightGBMClassifier, lp.XGBoostClassifier])
def test_pos_label_of_another_objective_is_warned_of(kind: Any) -> None:
    with pytest.warns(UserWarning, match="pos_label has no effect with the framework's") as told:
        made(kind, objective=NATIVE[kind], pos_label=0).fit(X, Y)
    assert told[0].filename == __file__


# -- why there are no probabilities ---------------------------------------------------------------

SINGLE = np.arange(300) == 5
WITHOUT: dict[str, tuple[Callable[[], Any], str]] = {
    "cv=None": (lambda: alone(Y, cv=None), "Pass cv='auto' or eval_set="),
    "before fit": (lambda: made(lp.LightGBMClassifier, cv=None), "Pass cv='auto' or eval_set="),
    "one positive row": (lambda: alone(SINGLE), "A class with a single row cannot be held out"),
    "init_model": (
        lambda: made(lp.LightGBMClassifier).fit(X, Y, init_model=fitted(lp.LightGBMClassifier)),
        "A model that continues another has seen all rows",
    ),
    "few rows": (lambda: alone(Y[:60], min_child_samples=20), r"There are too few rows \(60\)"),
    "an evaluation set of one class": (
        lambda: made(lp.LightGBMClassifier, eval_metric="binary_logloss").fit(
            X, Y, **held_out(X[Y == 0], Y[Y == 0])
        ),
        "The evaluation set has rows of one class alone",
    ),
    "an evaluation set in which one class has no weight": (
        lambda: made(lp.LightGBMClassifier, eval_metric="binary_logloss").fit(
            X, Y, **held_out(X[:150], Y[:150]), eval_sample_weight=[1.0 - Y[:150]]
        ),
        "The evaluation set has rows of one class alone",
    ),
}


def test_evaluation_rows_give_a_model_that_goes_on_its_probabilities() -> None:
    for kind, name in ((lp.LightGBMClassifier, "init_model"), (lp.XGBoostClassifier, "xgb_model")):
        model = made(kind).fit(X[:150], Y[:150])
        more = made(kind).fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])], **{name: model})
        assert more.predict_proba(X).shape == (300, 2)


@pytest.mark.parametrize(("act", "message"), WITHOUT.values(), ids=WITHOUT)
def test_a_model_without_probabilities_says_the_reason(act: Any, message: str) -> None:
    model = act()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        _ = model.predict_proba
    assert ("cv='auto'" in str(raised.value.__cause__)) == message.startswith("Pass cv")
    with pytest.raises(Exception, match=message):
        raise raised.value.__cause__  # type: ignore[misc]


# -- saved models of XGBoost ----------------------------------------------------------------------


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
