"""The estimators are LightGBM's and XGBoost's own, with a metric's name as objective."""

import difflib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from drawn_queries import by_default, kinds
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, cross_validate
from small_data import GRADED, Small

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus import eval_metric, evaluate, lambda_map, lambda_objective, query_folds
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)
from lambdaplus.metrics import CATALOGUE

PARENTS = {
    LightGBMRanker: lgb.LGBMRanker,
    XGBoostRanker: xgb.XGBRanker,
    LightGBMClassifier: lgb.LGBMClassifier,
    XGBoostClassifier: xgb.XGBClassifier,
}
RANKERS = (LightGBMRanker, XGBoostRanker)
rankers = pytest.mark.parametrize("kind", RANKERS)
every_estimator = pytest.mark.parametrize("kind", PARENTS)
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


def of_lightgbm(kind: Any) -> bool:
    return issubclass(kind, lgb.LGBMModel)


def lambdarank(kind: Any) -> str:
    """The framework's own objective for rankings."""
    return "lambdarank" if of_lightgbm(kind) else "rank:ndcg"


def made(kind: Any, **options: Any) -> Any:
    quiet = {"verbose": -1} if of_lightgbm(kind) else {}
    return kind(**{"n_estimators": 8, "n_jobs": 1, "random_state": 0, **quiet, **options})


def data_of(kind: Any, part: Small | None = None, name: str = "") -> dict[str, Any]:
    """Arguments of fit: X, y, and the queries of a ranker."""
    part = GRADED if part is None else part
    if issubclass(kind, RANKERS):
        return {"X": part.features, "y": part.labels, "qid": part.qid}
    return {"X": part.features, "y": part.binary}


def halves(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of fit with an evaluation set, and those of score."""
    train, valid = (data_of(kind, GRADED.queries(*ends)) for ends in ((0, 40), (40, 60)))
    held_out: dict[str, Any] = {"eval_set": [(valid["X"], valid["y"])]}
    if "qid" in valid:
        held_out["eval_qid"] = [valid["qid"]]
    if not of_lightgbm(kind):
        held_out["verbose"] = False
    return {**train, **held_out}, valid


def raw(model: Any, X: Any) -> Any:
    """The score of the trees."""
    if isinstance(model, lgb.LGBMModel):
        return model.predict(X, raw_score=True)
    return model.predict(X, output_margin=True)


def curves(model: Any) -> dict[str, Any]:
    found = model.evals_result_ if isinstance(model, lgb.LGBMModel) else model.evals_result()
    return {name: dict(curve) for name, curve in found.items()}


def curve_of(model: Any) -> dict[str, list[float]]:
    """By metric, on the only evaluation set."""
    [found] = curves(model).values()
    return {name: list(values) for name, values in found.items()}


def best_round(model: Any) -> int:
    """From 0."""
    return model.best_iteration_ - 1 if isinstance(model, lgb.LGBMModel) else model.best_iteration


# -- the parents' ---------------------------------------------------------------------------------


@every_estimator
def test_they_are_their_parents(kind: Any) -> None:
    parent = PARENTS[kind]
    model = made(kind).fit(**data_of(kind))
    assert isinstance(model, parent)
    assert set(parent().get_params()) <= set(kind().get_params())
    same = {"objective"} | {"eval_metric"} & set(parent().get_params())
    for name, value in parent().get_params().items():
        if name not in same:
            assert kind().get_params()[name] == value or value != value, name


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("kind", [LightGBMRanker, LightGBMClassifier])
def test_lightgbm_gives_the_parents_bits(kind: Any, stopped: bool) -> None:
    fit, valid = halves(kind)
    fit |= {"eval_metric": eval_metric("map"), "sample_weight": GRADED.row_weights[: len(fit["y"])]}
    options = {"early_stopping_rounds": 3, "n_estimators": 60} if stopped else {}
    ours = made(kind, objective="map", **options).fit(**fit)
    if "qid" in fit:
        del fit["qid"], fit["eval_qid"]
        fit |= {"group": GRADED.sizes[:40], "eval_group": [GRADED.sizes[40:]]}
    theirs = made(PARENTS[kind], objective=lambda_map, metric="None", **options).fit(**fit)
    assert_array_equal(raw(ours, valid["X"]), raw(theirs, valid["X"]))
    assert ours.best_iteration_ == theirs.best_iteration_
    assert curves(ours) == curves(theirs)
    assert (ours.best_iteration_ > 0) == stopped


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("kind", [XGBoostRanker, XGBoostClassifier])
def test_xgboost_gives_the_bits_of_plain_training(kind: Any, stopped: bool) -> None:
    fit, valid = halves(kind)
    options = {"early_stopping_rounds": 3, "n_estimators": 60} if stopped else {}
    ours = made(kind, objective="mrr" if "qid" in fit else "auc", **options).fit(**fit)

    def matrix(X: Any, y: Any, qid: Any = None, ref: Any = None) -> Any:
        return xgb.QuantileDMatrix(X, y, qid=qid, ref=ref)

    train = matrix(fit["X"], fit["y"], fit.get("qid"))
    found: dict[str, Any] = {}
    metric = eval_metric("mrr" if "qid" in fit else "auc")
    booster = xgb.train(
        {"nthread": 1, "seed": 0}, train, 60 if stopped else 8,
        obj=lambda_objective(str(metric.metrics[0])), custom_metric=metric,
        evals=[(matrix(**valid, ref=train), "validation_0")], evals_result=found,
        early_stopping_rounds=3 if stopped else None, verbose_eval=False,
    )  # fmt: skip
    rounds = (0, booster.best_iteration + 1) if stopped else (0, 0)
    expected = booster.predict(xgb.DMatrix(valid["X"]), iteration_range=rounds)
    assert_array_equal(raw(ours, valid["X"]), expected)
    assert curves(ours) == {name: dict(curve) for name, curve in found.items()}
    if stopped:
        assert ours.best_iteration == booster.best_iteration < 59


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (LightGBMRanker, {"eta": 0.3, "num_leaf": 5, "lambda_l1": 1.0, "num_iterations": 4}),
        (LightGBMClassifier, {"class_weight": "balanced", "max_bin": 15}),
        (LightGBMClassifier, {"class_weight": {0: 1.0, 1: 3.0}}),
        (XGBoostRanker, {"eta": 0.3, "seed": 1, "enable_categorical": True, "max_bin": 15}),
        (XGBoostClassifier, {"alpha": 1.0, "enable_categorical": True}),
    ],
)
def test_every_name_of_a_parameter_works(kind: Any, options: dict[str, Any]) -> None:
    model = made(kind, **options).fit(**data_of(kind))
    X, plain = GRADED.features, made(kind).fit(**data_of(kind))
    assert not np.array_equal(raw(model, X), raw(plain, X))
    for name, value in options.items():
        assert model.get_params()[name] == clone(model).get_params()[name] == value


@every_estimator
def test_training_goes_on_from_a_model(kind: Any, tmp_path: Path) -> None:
    fit = data_of(kind)
    name = "init_model" if of_lightgbm(kind) else "xgb_model"
    first = made(kind).fit(**fit)
    booster = first.booster_ if of_lightgbm(kind) else first.get_booster()
    booster.save_model(tmp_path / "model.json")
    whole = raw(made(kind, n_estimators=16).fit(**fit), fit["X"])
    for start in (first, booster, str(tmp_path / "model.json")):
        both = made(kind).fit(**fit, **{name: start})
        found = raw(both, fit["X"])
        assert_allclose(found, whole, rtol=1e-3, atol=1e-3)


# -- queries --------------------------------------------------------------------------------------


SPARSE = ("csr", "csc", "coo")
FORMS = {
    "array": np.asarray,
    "columns": np.asfortranarray,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(np.ascontiguousarray(X)),
    "pyarrow": lambda X: pl.DataFrame(np.ascontiguousarray(X)).to_arrow(),
    **{name: lambda X, name=name: csr_matrix(X).asformat(name) for name in SPARSE},
    **{f"{name} array": lambda X, name=name: csr_array(X).asformat(name) for name in SPARSE},
}


@rankers
@pytest.mark.filterwarnings("ignore:Unknown data type", "ignore:Converting data")  # in prediction
@pytest.mark.parametrize("form", FORMS)
def test_rows_may_be_in_any_order(kind: Any, form: str) -> None:
    if form == "pyarrow":
        pytest.importorskip("narwhals", reason="older versions of LightGBM do not read it")
    fit, valid = halves(kind)
    names = ("init_score", "eval_init_score", "eval_sample_weight")
    if not of_lightgbm(kind):
        names = ("base_margin", "base_margin_eval_set", "sample_weight_eval_set")
    n, n_valid = len(fit["y"]), len(valid["y"])
    start, eval_start = np.linspace(-1, 1, n), np.linspace(1, -1, n_valid)
    weights = np.repeat(np.linspace(0.5, 2.0, 40), GRADED.sizes[:40])

    def given(rows: Any, held_out: Any) -> dict[str, Any]:
        part = {name: array[held_out] for name, array in valid.items()}
        return {
            "X": FORMS[form](fit["X"][rows]), "y": fit["y"][rows], "sample_weight": weights[rows],
            names[0]: start[rows], "eval_set": [(FORMS[form](part["X"]), part["y"])],
            "eval_qid": [part["qid"]], names[1]: [eval_start[held_out]],
            names[2]: [(part["qid"] + 1.0) / 10],
        }  # fmt: skip

    model = made(kind, objective="map")
    expected = clone(model).fit(**given(slice(None), slice(None)), qid=fit["qid"])
    # By turns from all queries: the rows of each keep their order, and so do the queries.
    order, other = (np.argsort(_turns(part["qid"]), kind="stable") for part in (fit, valid))
    assert (np.diff(fit["qid"][order]) != 0).mean() > 0.9
    names_of_queries = [f"q{query}" for query in fit["qid"][order]]
    by_turns = clone(model).fit(**given(order, other), qid=names_of_queries)
    X = FORMS[form](valid["X"])
    assert_array_equal(by_turns.predict(X), expected.predict(X))
    assert curves(by_turns) == curves(expected)
    assert_array_equal(expected.predict(X), expected.predict(np.asarray(valid["X"])))
    plain = clone(model).fit(**fit)
    assert not np.array_equal(plain.predict(valid["X"]), expected.predict(X))


def _turns(qid: Any) -> Any:
    """The number of each row within its query."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(qid)) + 1])
    return np.arange(len(qid)) - np.repeat(first, np.diff(np.append(first, len(qid))))


def shuffled() -> list[Any]:
    """Features, labels and queries, the rows of a query apart."""
    order = np.random.default_rng(0).permutation(GRADED.n)
    return [array[order] for array in GRADED.ranking]


# -- scikit-learn ---------------------------------------------------------------------------------


@every_estimator
def test_copies_have_the_same_parameters_and_predictions(kind: Any) -> None:
    fit, valid = halves(kind)
    model = made(kind, objective="map", max_bin=31, eval_metric=eval_metric("auc")).fit(**fit)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(valid["X"])
    assert_array_equal(clone(model).fit(**fit).predict(valid["X"]), model.predict(valid["X"]))
    other = pickle.loads(pickle.dumps(model))
    for method in {"predict", "predict_proba", "decision_function"} & {*dir(model)}:
        assert_array_equal(*(getattr(one, method)(valid["X"]) for one in (other, model)))
    assert_array_equal(raw(other, valid["X"]), raw(model, valid["X"]))
    assert repr(other.get_params()) == repr(model.get_params())  # nan is not nan
    model.set_params(n_estimators=3, objective="auc").fit(**fit)
    assert model.get_params()["objective"] == "auc"
    assert not of_lightgbm(kind) or "objective='auc'" in repr(model)  # XGBoost's are cut
    assert len(curve_of(model)["auc"]) == 3


@pytest.mark.parametrize("kind", [LightGBMRanker, LightGBMClassifier])
def test_predictions_follow_every_change_of_an_estimator(kind: Any) -> None:
    """LightGBM's estimator behind it is kept between predictions, but not in copies."""
    X, y, qid = GRADED.features, GRADED.binary, GRADED.qid
    more = {"qid": qid} if kind is LightGBMRanker else {}
    model = kind(n_estimators=5, verbose=-1).fit(X, y, **more)
    before, size = dict(vars(model)), len(pickle.dumps(model))
    first = model.predict(X[:50], raw_score=True)
    assert model._trained() is model._trained()
    assert vars(model) == before  # nor the same object in it
    assert len(pickle.dumps(model)) == size
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    model.n_jobs = 2
    assert model._trained().n_jobs == 2
    assert model.set_params(n_jobs=3)._trained().n_jobs == 3
    assert model.set_params(pred_early_stop=True)._trained().get_params()["pred_early_stop"]
    other = pickle.loads(pickle.dumps(model))
    model.fit(X, 1 - y, **more)
    again = kind(n_estimators=5, verbose=-1).fit(X, 1 - y, **more)
    assert_array_equal(model.predict(X[:50], raw_score=True), again.predict(X[:50], raw_score=True))
    assert_array_equal(other.predict(X[:50], raw_score=True), first)


def test_predictions_do_not_explain_again_that_an_objective_is_of_the_framework(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking for similar names took half as long as predicting a row."""
    X, y = GRADED.features, GRADED.binary
    model = made(LightGBMClassifier, objective="binary").fit(X, y)
    expected = model.predict(X[:3]), model.predict_proba(X[:3])
    monkeypatch.setattr(difflib, "get_close_matches", None)
    assert_array_equal(model.predict(X[:3]), expected[0])
    assert_array_equal(model.predict_proba(X[:3]), expected[1])


@rankers
def test_a_scorer_gives_the_metric_in_tools_of_scikit_learn(kind: Any) -> None:
    X, y, qid = shuffled()
    scorers = {name: lp.scorer(name) for name in ("ndcg@5", "map + 0.5*mrr")}
    scorers["linear"] = lp.scorer("ndcg", gain="linear")
    scorers = pickle.loads(pickle.dumps(scorers))  # as for other processes
    folds = query_folds(qid=qid, n_splits=3)
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(made(kind), X, y, cv=folds, scoring=scorers, params={"qid": qid})
        search = GridSearchCV(
            made(kind), {"max_depth": [1, 3]}, scoring=scorers["ndcg@5"], cv=folds
        )
        search.fit(X, y, qid=qid)
    train, test = folds[0]
    model = made(kind).fit(X[train], y[train], qid=qid[train])
    rows = test[np.argsort(qid[test], kind="stable")]
    held_out: dict[str, Any] = {"qid": qid[rows]}
    args = (y[rows], model.predict(X[rows]))
    values = evaluate(*args, **held_out, metrics=["ndcg@5", "map", "mrr"])
    assert found["test_ndcg@5"][0] == pytest.approx(values["ndcg@5"])
    assert found["test_map + 0.5*mrr"][0] == pytest.approx(values["map"] + 0.5 * values["mrr"])
    linear = evaluate(*args, **held_out, metrics="ndcg(gain=linear)")["ndcg(gain=linear)"]
    assert found["test_linear"][0] == pytest.approx(linear)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) > 0
    scoring = lp.scorer("ndcg@5", qid=qid[test])
    assert scoring(model, X[test], y[test]) == pytest.approx(values["ndcg@5"])
    with pytest.raises(ValueError, match=r"ndcg@5 ranks.*set group="):
        lp.scorer("ndcg@5")(model, X[test], y[test])
    with pytest.raises(ValueError, match="qid must have one entry per row"):
        scoring(model, X[train], y[train])
    weights = np.where(qid[rows] % 2, 1.0, 3.0)
    weighted = evaluate(*args, **held_out, weight=weights, metrics="ndcg@5")["ndcg@5"]
    found = scoring(model, X[test], y[test], sample_weight=np.where(qid[test] % 2, 1.0, 3.0))
    assert found == pytest.approx(weighted)


def test_a_scorer_of_a_classifier_takes_its_scores() -> None:
    model = made(XGBoostClassifier).fit(GRADED.features, GRADED.binary)
    found = lp.scorer("auc")(model, GRADED.features, GRADED.binary)
    expected = sklearn.metrics.roc_auc_score(
        GRADED.binary, model.decision_function(GRADED.features)
    )
    assert found == pytest.approx(expected)
    # Predicted labels would tie all rows but for two groups.
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    forest.fit(GRADED.features, GRADED.binary)
    expected = sklearn.metrics.roc_auc_score(
        GRADED.binary, forest.predict_proba(GRADED.features)[:, 1]
    )
    assert lp.scorer("auc")(forest, GRADED.features, GRADED.binary) == pytest.approx(expected)


# -- the metric that early stopping watches ------------------------------------------------------


def stopping(kind: Any, **options: Any) -> tuple[int, dict[str, list[float]]]:
    """The best round, from 0, and the curves."""
    fit, _ = halves(kind)
    options = {"n_estimators": 60, "learning_rate": 0.5, "early_stopping_rounds": 4, **options}
    model = made(kind, objective="map", **options).fit(**fit)
    return best_round(model), curve_of(model)


LOSS = {
    LightGBMRanker: "l2", LightGBMClassifier: "binary_logloss",
    XGBoostRanker: "rmse", XGBoostClassifier: "logloss",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:early stopping watches")
@pytest.mark.parametrize("metric", ["map", "mrr"])
@every_estimator
def test_early_stopping_watches_the_metric_that_is_promised(kind: Any, metric: str) -> None:
    loss = LOSS[kind]
    metric = "mauc" if kind not in RANKERS and metric == "mrr" else metric
    every = [[metric, "auc"], ["auc", metric], [metric, loss], [loss, metric]]
    for names in every:
        options = {"first_metric_only": True} if of_lightgbm(kind) else {}
        best, found = stopping(kind, eval_metric=names, **options)
        # The frameworks evaluate their own metrics first.
        ours = [name for name in names if name != loss]
        watched = (names if loss not in names else [loss])[0] if of_lightgbm(kind) else ours[-1]
        pick = np.argmin if watched == loss else np.argmax
        curve = found[watched]
        assert best == pick(curve)
        assert len(curve) in (best + 5, 60)
        assert set(found) == set(names)


@pytest.mark.filterwarnings("ignore:eval_metric='auc' is a metric")
@pytest.mark.parametrize(
    "metric", ["cindex", *(str(by_default(kind)) for kind in kinds(CATALOGUE))]
)
@every_estimator
def test_the_best_round_of_any_metric_is_the_one_with_the_best_ranking(
    kind: Any, metric: str
) -> None:
    fit, valid = halves(kind)
    X, labels, sizes = valid["X"], valid["y"], GRADED.sizes[40:]
    ranks = "qid" in valid
    options = {"one_group": True} if not ranks else {"group": sizes}

    def value(labels: Any, scores: Any) -> float:
        return float(evaluate(labels, scores, metrics=metric, **options)[metric])

    # Of times, cindex has the lowest first.
    direction = 1.0 if value(labels, labels) > value(labels, -labels) else -1.0
    assert direction == (-1.0 if metric == "cindex" else 1.0)
    for objective in ["map", metric]:
        for y in (labels, labels.max() - labels):  # a value that rises, and one that falls
            model = made(
                kind, objective=objective, eval_metric=metric, early_stopping_rounds=4,
                n_estimators=20, learning_rate=0.5,
            )  # fmt: skip
            train = {**fit, "eval_set": [(X, y)]}
            if metric == "cindex" and not (ranks and objective == metric):
                with pytest.raises(ValueError, match=r"low labels first|reads labels in a way"):
                    model.fit(**train)
                continue
            model.fit(**train)
            [curve] = curve_of(model).values()
            scores = raw(model, X)
            assert best_round(model) == np.argmax(curve)
            assert value(y, scores) == pytest.approx(max(curve), abs=1e-6)
            assert direction * np.corrcoef(scores, labels)[0, 1] > 0.1
