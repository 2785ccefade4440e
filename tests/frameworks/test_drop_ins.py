"""What stands around an objective: metrics, folds, our two modules, the frameworks' estimators.

The tests of LightGBM run on LightGBM 3, too, but for those of estimators.
"""

import pickle
import runpy
from typing import Any

import numpy as np
import pytest
from boosting_frameworks import LIGHTGBM, pytest_generate_tests  # noqa: F401
from numpy.testing import assert_allclose, assert_array_equal
from places import ROOT
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from small_data import GRADED, TRAINED, Recorder, Small, same_gradient, value

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective

N = GRADED.labels.size

pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
not_lightgbm_3 = pytest.mark.skipif(
    bool(LIGHTGBM) and LIGHTGBM[0].module.__version__.startswith("3."),
    reason="LightGBM 3's estimators take other functions",
)
QUIET = {"verbosity": -1, "num_threads": 1}


# -- metrics -------------------------------------------------------------------------------------


def test_metrics_report_what_evaluate_says(framework: Any) -> None:
    metric = eval_metric("ndcg@3", "map", "concordance", gain="linear", relevant=2)
    names = ["ndcg(gain=linear)@3", "map(relevant=2)", "concordance"]
    parts = {"train": GRADED.queries(0, 40), "rest": GRADED.queries(40, 60)}
    given = {name: framework.data(part) for name, part in parts.items()}
    trained = framework.train(lp.lambda_ndcg, given["train"], 5, metric=metric, valid=given)
    for name, part in parts.items():
        assert list(trained.curves[name]) == names
        for each, values in trained.curves[name].items():
            expected = [value(each, part, trained.scores(part, n)) for n in range(1, 6)]
            assert_allclose(values, expected, atol=2e-6)  # XGBoost prints six digits


@pytest.mark.parametrize("own", [False, True], ids=["", "own train"])
@pytest.mark.parametrize("metric", ["map", "ndcg", "mauc", "mrr", "err", "success@1"])
def test_early_stopping_keeps_the_best_round(framework: Any, metric: str, own: bool) -> None:
    """XGBoost knows the first two."""
    parts = [framework.data(GRADED.queries(*ends)) for ends in ((0, 30), (30, 60))]
    trained = framework.train(
        lambda_objective(metric), parts[0], 60, params={"learning_rate": 0.3}, own=own, stop=4,
        metric=eval_metric(metric), valid={"rest": parts[1]},
    )  # fmt: skip
    best, curve = framework.best_round(trained) - 1, trained.curves["rest"][metric]
    assert best == np.argmax(curve) != np.argmin(curve)
    assert best + 5 <= len(curve) + 1 < 60


def test_early_stopping_of_xgboosts_cross_validation_maximises(xgboost_alone: Any) -> None:
    given = xgboost_alone.data(GRADED, label=GRADED.binary, sizes=None)
    history = xgboost_alone.module.cv(
        xgboost_alone.quiet, given, 40, obj=lp.lambda_auc,
        custom_metric=eval_metric("auc + 0.5*map"), early_stopping_rounds=3, as_pandas=False,
    )  # fmt: skip
    values = history["test-auc+0.5*map-mean"]
    assert len(values) - 1 == np.argmax(values) > 0


@pytest.mark.parametrize("odd", [[-1], [N], [2**62], [0.5], [np.nan], ["a"], [True, False]])
def test_folds_of_rows_that_the_data_does_not_have_are_an_error(
    xgboost_alone: Any, odd: list[Any]
) -> None:
    """XGBoost reads memory outside of the data for them, which ends the process."""
    given = xgboost_alone.data(GRADED)
    folds = [(np.arange(N), np.array(odd))]
    with pytest.raises(
        ValueError, match=f"other numbers of rows than whole ones from 0 to {N - 1}"
    ):
        xgboost_alone.own.cv(xgboost_alone.quiet, given, 2, folds=folds, obj=lp.lambda_ndcg)


# -- subsets and folds of LightGBM ---------------------------------------------------------------


def test_a_subset_of_whole_queries_is_as_good_as_data_of_its_own(lightgbm_alone: Any) -> None:
    rows = np.flatnonzero((GRADED.qid % 3 != 1) & (GRADED.qid != 0))
    part = GRADED.rows(rows)
    whole = lightgbm_alone.data(GRADED, weight=GRADED.row_weights)
    subset = whole.subset(rows.tolist()).construct()
    own = lightgbm_alone.data(part, weight=GRADED.row_weights[rows])
    for metric in TRAINED:
        objective, measure = lambda_objective(metric), eval_metric(metric)
        assert same_gradient(objective(part.scores(), subset), objective(part.scores(), own))
        assert measure(part.scores(), subset) == measure(part.scores(), own)
    again = np.flatnonzero(part.qid % 2 == 1)
    inner = part.rows(again)
    of_subset = subset.subset(again.tolist()).construct()
    own = lightgbm_alone.data(inner, weight=GRADED.row_weights[rows][again])
    expected = lp.lambda_map(inner.scores(), own)
    assert same_gradient(lp.lambda_map(inner.scores(), of_subset), expected)


def test_a_subset_that_cuts_queries_raises_unless_it_is_grouped_anew(lightgbm_alone: Any) -> None:
    part = GRADED.rows(np.arange(3, GRADED.n - 2))
    cut = lightgbm_alone.data(GRADED).subset(list(range(3, GRADED.n - 2))).construct()
    for made in (lp.lambda_ndcg, lp.eval_ndcg):
        with pytest.raises(ValueError, match=r"splits 2 of 60 queries.*lambdaplus.lightgbm.cv"):
            made(part.scores(), cut)
    sizes = [part.n - 10, 10]
    cut.set_group(sizes)
    found = lp.lambda_ndcg(part.scores(), cut)
    assert same_gradient(
        found, lp.lambda_ndcg(part.scores(), lightgbm_alone.data(part, sizes=sizes))
    )


def rows_of(scores: Any, data: Any) -> Any:
    return np.asarray(data.used_indices)


def assert_queries_whole(data: Small, folds: list[Any]) -> None:
    """Every fold has all rows of a query or none, and some of the queries."""
    for rows in folds:
        taken = np.bincount(data.qid[rows], minlength=len(data.sizes))
        assert set(np.unique(taken / data.sizes)) == {0.0, 1.0}


@pytest.mark.parametrize("folds", [None, GroupKFold(3)], ids=["default", "GroupKFold"])
@pytest.mark.parametrize("before", [False, True], ids=["", "data set made before"])
def test_folds_of_our_cv_keep_queries_whole(lightgbm_alone: Any, folds: Any, before: bool) -> None:
    given = lightgbm_alone.module.Dataset(
        GRADED.features, GRADED.labels, group=GRADED.sizes, free_raw_data=False, params=QUIET
    )
    given = given.construct() if before else given
    objective, metric = Recorder(lp.lambda_ndcg, rows_of), Recorder(lp.eval_ndcg, rows_of)
    params = {**QUIET, "objective": objective}
    curves = lightgbm_alone.own.cv(params, given, 4, nfold=3, folds=folds, feval=metric)
    assert len(objective.seen) == len(metric.seen) == 12
    assert_queries_whole(GRADED, objective.seen + metric.seen)
    assert_array_equal(np.sort(np.concatenate(metric.seen[:3])), np.arange(GRADED.n))
    curve = curves.get("valid ndcg-mean") or curves["ndcg-mean"]  # LightGBM 3
    assert len(curve) == 4
    assert curve[-1] > curve[0]


def test_our_cv_of_lightgbm_shuffles_queries_by_seed(lightgbm_alone: Any) -> None:

    def folds(*arguments: Any, **options: Any) -> set[Any]:
        metric, given = Recorder(lp.eval_ndcg, rows_of), lightgbm_alone.data(GRADED)
        lightgbm_alone.own.cv(
            QUIET, given, 1, *arguments, fobj=lp.lambda_ndcg, feval=metric, **options
        )
        assert_queries_whole(GRADED, metric.seen)
        return {rows.tobytes() for rows in metric.seen}

    assert len(folds()) == 5
    assert folds() == folds(seed=0) != folds(seed=1)
    assert folds(shuffle=False) == folds(shuffle=False, seed=3) != folds()
    assert len(folds(None, 3)) == 3  # folds and nfold by position


def test_our_cv_of_lightgbm_takes_what_lightgbms_takes(lightgbm_alone: Any) -> None:
    lgb = lightgbm_alone.module
    found = lightgbm_alone.own.cv(
        {**QUIET, "objective": lp.lambda_map, "num_iterations": 40, "learning_rate": 0.3},
        lightgbm_alone.data(GRADED),
        feval=eval_metric("map", "ndcg@5"),
        return_cvbooster=True,
        callbacks=[lgb.early_stopping(3, first_metric_only=True, verbose=False)],
    )
    assert len(found["cvbooster"].boosters) == 5
    curve = found.get("valid map-mean") or found["map-mean"]
    assert len(curve) == found["cvbooster"].best_iteration < 40


def test_our_cv_of_lightgbm_without_queries_stratifies_by_label(lightgbm_alone: Any) -> None:
    given = lightgbm_alone.data(GRADED, label=GRADED.binary, sizes=None)
    metric = Recorder(lp.eval_auc, rows_of)
    lightgbm_alone.own.cv(QUIET, given, 3, nfold=4, fobj=lp.lambda_auc, feval=metric)
    assert np.ptp([GRADED.binary[rows].mean() for rows in metric.seen]) < 0.01


# -- our modules ---------------------------------------------------------------------------------


def test_our_modules_are_the_frameworks_otherwise(framework: Any) -> None:
    names = {"lightgbm": ("Dataset", "LGBMRanker"), "xgboost": ("DMatrix", "callback")}
    for name in (*names[framework.name], "Booster", "__version__"):
        assert getattr(framework.own, name) is getattr(framework.module, name)
    assert framework.own.train is not framework.module.train
    with pytest.raises(AttributeError, match="no_such_thing"):
        framework.own.no_such_thing  # noqa: B018


NATIVE_NDCG: dict[str, Any] = {
    "lightgbm": {"metric": "ndcg", "eval_at": [10]},
    "xgboost": {"eval_metric": "ndcg@10"},
}


@pytest.mark.parametrize("own", [False, True], ids=["", "own train"])
def test_two_metrics_of_one_name_have_a_history_each(framework: Any, own: bool) -> None:
    """Without it, both frameworks record the values of both in turn under one name."""
    part, params = GRADED.queries(0, 40), NATIVE_NDCG[framework.name]
    given = framework.data(part)
    metric, valid = eval_metric("ndcg@10", "map"), {"valid": given}
    with pytest.warns(UserWarning, match="ndcg@10 is reported as ndcg@10_lambdaplus"):
        both = framework.train(
            lp.lambda_ndcg, given, 4, params=params, metric=metric, valid=valid, own=own
        )
    curves = both.curves["valid"]
    assert {name: len(values) for name, values in curves.items()} == dict.fromkeys(
        ("ndcg@10", "ndcg@10_lambdaplus", "map"), 4
    )
    alone = framework.train(lp.lambda_ndcg, given, 4, metric=metric, valid=valid).curves["valid"]
    assert curves["ndcg@10_lambdaplus"] == alone["ndcg@10"]
    native = framework.train(lp.lambda_ndcg, given, 4, params=params, valid=valid).curves["valid"]
    assert curves["ndcg@10"] == native["ndcg@10"]


# -- the frameworks' own estimators --------------------------------------------------------------

ESTIMATOR: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1, "random_state": 0}


@not_lightgbm_3
@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
@pytest.mark.parametrize("metric", ["auc", "map"])
def test_other_estimators_train_on_ungrouped_data(framework: Any, kind: str, metric: str) -> None:
    of_lightgbm = framework.name == "lightgbm"
    weight, objective, measure = GRADED.row_weights, lambda_objective(metric), eval_metric(metric)
    held_out = [(GRADED.features, GRADED.binary)]
    if of_lightgbm:
        made = getattr(framework.module, f"LGBM{kind}")
        model = made(objective=objective, metric="None", verbose=-1, **ESTIMATOR)
        fit = {"eval_sample_weight": [weight], "eval_metric": measure}
        raw = {"raw_score": True}
    else:
        made = getattr(framework.module, f"XGB{kind}")
        start = 0.0 if kind == "Regressor" else 0.5  # a classifier's is a probability
        model = made(objective=objective, base_score=start, eval_metric=measure, **ESTIMATOR)
        fit = {"sample_weight_eval_set": [weight], "verbose": False}
        raw = {"output_margin": True}
    model.fit(GRADED.features, GRADED.binary, sample_weight=weight, eval_set=held_out, **fit)
    given = framework.data(GRADED, label=GRADED.binary, sizes=None, weight=weight)
    expected = framework.train(objective, given, params={} if of_lightgbm else {"seed": 0})
    margin = model.predict(GRADED.features, **raw)
    assert_allclose(margin, expected.scores(GRADED), rtol=1e-5, atol=1e-6)
    curves = model.evals_result_ if of_lightgbm else model.evals_result()
    curve = next(iter(curves.values()))[metric]
    score = roc_auc_score if metric == "auc" else average_precision_score
    weighted = score(GRADED.binary, margin, sample_weight=weight)
    assert curve[-1] == pytest.approx(weighted, abs=2e-6)
    again = clone(pickle.loads(pickle.dumps(model)))
    again.fit(GRADED.features, GRADED.binary, sample_weight=weight, eval_set=held_out, **fit)
    assert_array_equal(again.predict(GRADED.features, **raw), margin)


@not_lightgbm_3  # which cannot set the value of a leaf
def test_the_refit_of_the_example_is_that_of_lightgbm(lightgbm_alone: Any) -> None:
    def log_loss(labels: Any, scores: Any, *_: Any) -> Any:
        p = 1.0 / (1.0 + np.exp(-scores))
        return p - labels, p * (1.0 - p)

    part, rest = GRADED.queries(0, 40), GRADED.queries(40, 60)
    given = lightgbm_alone.data(part, label=part.binary)
    params = {"boost_from_average": False, "min_data_in_leaf": 40}
    booster = lightgbm_alone.train("binary", given, 5, params=params).booster
    example = ROOT / "examples" / "refit_and_bagging.py"
    ours = runpy.run_path(str(example))["refit"](
        booster, log_loss, rest.features, rest.binary, None
    )
    theirs = booster.refit(rest.features, rest.binary)
    found, expected, before = (
        model.predict(part.features, raw_score=True) for model in (ours, theirs, booster)
    )
    assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - before).max() > 0.01
