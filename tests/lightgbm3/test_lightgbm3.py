"""Objectives and metrics in LightGBM 3, which needs a separate environment:

python -m pytest tests/lightgbm3
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from small_data import TRAINED, Recorder, Small, graded

import lambdaplus as lp
from lambdaplus import eval_metric, evaluate, lambda_objective

lgb = pytest.importorskip("lightgbm")
if not lgb.__version__.startswith("3."):
    pytest.skip(f"LightGBM is {lgb.__version__}, not 3", allow_module_level=True)

import lambdaplus.lightgbm as llgb  # noqa: E402

QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1}
EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)
# Of LightGBM 3 itself, with a NumPy and a scikit-learn that are newer than it.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*(argument is deprecated|keyword has been found):UserWarning"
    ),
]


def dataset(data: Small, **options: Any) -> Any:
    options = {"label": data.labels, "group": data.sizes, "params": QUIET, **options}
    return lgb.Dataset(data.features, free_raw_data=False, **options)


def train(objective: Any, train_set: Any, rounds: int = 8, **options: Any) -> Any:
    params = {**QUIET, **options.pop("params", {})}
    return lgb.train(params, train_set, rounds, fobj=objective, **options)


def value(metric: str, data: Small, scores: Any) -> float:
    return evaluate(data.labels, scores, group=data.sizes, metrics=metric)[metric]


def same_gradient(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]))


def test_plain_lightgbm_takes_no_callable_in_params() -> None:
    # Why lambdaplus.lightgbm exists: code for LightGBM 4 does not run here as it is.
    with pytest.raises((TypeError, lgb.basic.LightGBMError)):
        lgb.train({**QUIET, "objective": lp.lambda_auc}, dataset(graded()), 2)


@EACH_METRIC
def test_an_objective_as_fobj_trains(metric: str) -> None:
    data = graded()
    given, record = dataset(data), dict[str, Any]()
    booster = train(
        lambda_objective(metric),
        given,
        10,
        params={"num_leaves": 4},  # larger trees rank these queries perfectly by MRR at once
        feval=eval_metric(metric, "map@3"),
        valid_sets=[given],
        valid_names=["train"],
        callbacks=[lgb.record_evaluation(record)],
    )
    curve = record["train"][metric]
    assert list(record["train"]) == [metric, "map@3"]
    for rounds in (1, 10):
        scores = booster.predict(data.features, num_iteration=rounds)
        assert curve[rounds - 1] == pytest.approx(value(metric, data, scores), abs=1e-9)
    assert value(metric, data, np.zeros(data.n)) + 0.1 < curve[0] < curve[-1]


@EACH_METRIC
def test_the_gradient_inside_is_the_plain_functions(metric: str) -> None:
    objective = lambda_objective(metric)
    sizes = []

    def watched(scores: Any, given: Any) -> Any:
        before = scores.copy()
        found = objective(scores, given)
        assert_array_equal(scores, before)
        fresh = objective(given.get_label(), before, None, given.get_group())
        assert same_gradient(found, fresh)
        sizes.append(given.get_group())
        return found

    train(watched, dataset(graded()))
    assert len(sizes) == 8
    assert sizes[0].dtype == np.int64  # 4.x: int32
    assert_array_equal(sizes[0], graded().sizes)


@EACH_METRIC
def test_our_train_takes_both_forms(metric: str) -> None:
    data, objective = graded(), lambda_objective(metric)
    expected = train(objective, dataset(data)).predict(data.features)
    for params, fobj in (
        ({}, objective),
        ({"objective": objective}, None),
        ({"app": objective}, None),
        ({"objective": "binary"}, objective),
    ):
        params = {**QUIET, **params}
        before = dict(params)
        booster = llgb.train(params, dataset(data), 8, fobj=fobj)
        assert_array_equal(booster.predict(data.features), expected)
        assert params == before


def test_our_train_leaves_native_objectives_alone() -> None:
    booster = llgb.train({**QUIET, "objective": "lambdarank"}, dataset(graded()), 3)
    assert "\nobjective=lambdarank" in booster.model_to_string()


def test_our_module_is_lightgbm_otherwise() -> None:
    for name in ("Dataset", "Booster", "LGBMRanker", "early_stopping", "record_evaluation"):
        assert getattr(llgb, name) is getattr(lgb, name)
    assert llgb.__version__ == lgb.__version__
    assert llgb.train is not lgb.train


@pytest.mark.parametrize("metric", ["auc", "mauc", "map", "mrr", "ndcg"])
def test_early_stopping_keeps_the_best_round(metric: str) -> None:
    data = graded()
    first, rest = data.queries(0, 30), data.queries(30, 60)
    training, record = dataset(first), dict[str, Any]()
    booster = llgb.train(
        {**QUIET, "learning_rate": 0.3, "objective": lambda_objective(metric, sigma=2)},
        training,
        60,
        valid_sets=[dataset(rest, reference=training)],
        feval=eval_metric(metric),
        callbacks=[lgb.early_stopping(3, verbose=False), lgb.record_evaluation(record)],
    )
    curve = record["valid_0"][metric]
    assert booster.best_iteration == np.argmax(curve) + 1
    assert len(curve) == booster.best_iteration + 3 < 60


def rows_of(scores: Any, data: Any) -> Any:
    return np.asarray(data.used_indices)


def assert_queries_whole(data: Small, folds: list[Any]) -> None:
    for rows in folds:
        taken = np.bincount(data.qid[rows], minlength=len(data.sizes))
        assert set(np.unique(taken / data.sizes)) == {0.0, 1.0}


@pytest.mark.parametrize("form", ["fobj", "objective", "GroupKFold"])
@pytest.mark.parametrize("before", [False, True], ids=["", "data set made before"])
def test_folds_keep_queries_whole(form: str, before: bool) -> None:
    data = graded()
    given = dataset(data)
    given = given.construct() if before else given
    objective, metric = Recorder(lp.lambda_ndcg, rows_of), Recorder(lp.eval_ndcg, rows_of)
    if form == "fobj":
        result = llgb.cv(QUIET, given, 4, nfold=3, fobj=objective, feval=metric)
    elif form == "objective":
        result = llgb.cv({**QUIET, "objective": objective}, given, 4, nfold=3, feval=metric)
    else:
        result = lgb.cv(QUIET, given, 4, folds=GroupKFold(3), fobj=objective, feval=metric)
    assert len(objective.seen) == len(metric.seen) == 12
    assert_queries_whole(data, objective.seen + metric.seen)
    assert_array_equal(np.sort(np.concatenate(metric.seen[:3])), np.arange(data.n))
    curve = result["ndcg-mean"]
    assert len(curve) == 4
    assert curve[-1] > curve[0]


def test_plain_cv_raises_since_it_cuts_queries() -> None:
    with pytest.raises(ValueError, match=r"queries, as lgb.cv does by default"):
        lgb.cv(QUIET, dataset(graded()), 2, fobj=lp.lambda_ndcg)


def test_our_cv_stops_early() -> None:
    found = llgb.cv(
        {**QUIET, "learning_rate": 0.3},
        dataset(graded()),
        40,
        fobj=lp.lambda_map,
        feval=lp.eval_map,
        callbacks=[lgb.early_stopping(3, verbose=False)],
        return_cvbooster=True,
    )
    assert len(found["map-mean"]) == found["cvbooster"].best_iteration < 40


@pytest.mark.parametrize("twice", [False, True], ids=["subset", "subset of a subset"])
def test_subsets_have_their_queries(twice: bool) -> None:
    data = graded()
    rows = np.flatnonzero((data.qid % 3 != 1) & (data.qid != 0))
    part = data.rows(rows)
    subset = dataset(data).construct().subset(rows.tolist()).construct()
    if twice:
        again = np.flatnonzero(part.qid % 2 == 1)
        part, rows = part.rows(again), rows[again]
        subset = subset.subset(again.tolist()).construct()
    for metric in TRAINED:
        objective = lambda_objective(metric)
        own = dataset(part).construct()
        assert same_gradient(objective(part.scores(), subset), objective(part.scores(), own))
        assert eval_metric(metric)(part.scores(), subset) == eval_metric(metric)(part.scores(), own)


def test_a_subset_that_cuts_queries_raises() -> None:
    data = graded()
    cut = dataset(data).construct().subset(list(range(3, data.n - 2))).construct()
    with pytest.raises(ValueError, match=r"splits 2 of 60 queries.*lambdaplus.lightgbm.cv"):
        lp.lambda_ndcg(data.scores()[3:-2], cut)


def test_what_is_set_after_a_training_is_used_in_the_next() -> None:
    data = graded()
    given = dataset(data).construct()
    train(lp.lambda_ndcg, given, 2)
    labels, sizes = np.roll(data.labels, 7), data.sizes[::-1].copy()
    options: dict[str, Any] = {}
    for name, method, new in (
        ("label", given.set_label, labels),
        ("group", given.set_group, sizes),
        ("weight", given.set_weight, data.row_weights),
    ):
        stale = lp.lambda_ndcg(data.scores(), given)
        method(new)
        options[name] = new
        found = lp.lambda_ndcg(data.scores(), given)
        assert not same_gradient(found, stale)
        fresh = dataset(data, **options).construct()
        assert same_gradient(found, lp.lambda_ndcg(data.scores(), fresh))


def test_init_score_and_training_on() -> None:
    data = graded()
    recorder = Recorder(lp.lambda_map, lambda scores, given: scores.copy())
    train(recorder, dataset(data, init_score=data.scores()), 1)
    assert_array_equal(recorder.seen[0], data.scores())
    whole = train(lp.lambda_map, dataset(data), 10).predict(data.features)
    half = train(lp.lambda_map, dataset(data), 5)
    rest = train(lp.lambda_map, dataset(data), 5, init_model=half)
    np.testing.assert_allclose(rest.predict(data.features), whole, rtol=1e-9)


def test_without_group() -> None:
    data = graded()
    given = dataset(data, label=data.binary, group=None)
    scores = train(lp.lambda_auc, given).predict(data.features)
    assert lp.eval_auc(scores, given)[1] == pytest.approx(roc_auc_score(data.binary, scores))
    assert roc_auc_score(data.binary, scores) > 0.9
    with pytest.raises(ValueError, match=r"ndcg ranks.*no queries: set group="):
        train(lp.lambda_ndcg, given)
    one = train(lambda_objective("ndcg", one_group=True), given).predict(data.features)
    named = train(lp.lambda_ndcg, dataset(data, label=data.binary, group=[data.n]))
    assert_array_equal(one, named.predict(data.features))


@pytest.fixture
def _estimators(monkeypatch: pytest.MonkeyPatch) -> None:
    """LightGBM 3's estimators, which pass an argument that scikit-learn 1.8 no longer knows."""
    for name in ("_LGBMCheckXY", "_LGBMCheckArray"):
        check = getattr(lgb.sklearn, name)
        if "force_all_finite" not in inspect.signature(check).parameters:

            def without(*args: Any, check: Any = check, **kwargs: Any) -> Any:
                kwargs["ensure_all_finite"] = kwargs.pop("force_all_finite", True)
                return check(*args, **kwargs)

            monkeypatch.setattr(lgb.sklearn, name, without)


@pytest.mark.usefixtures("_estimators")
@pytest.mark.parametrize("metric", [*TRAINED, "ndcg@10"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_ranker_takes_a_function_of_labels_scores_and_group(
    metric: str, weighted: bool
) -> None:
    # LightGBM 3 knows (y, p) and (y, p, group), and multiplies by the weights itself.
    data, objective = graded(), lambda_objective(metric)
    weight = data.row_weights if weighted else None
    options: dict[str, Any] = {"n_estimators": 8, "metric": "None", **QUIET}
    with pytest.raises(TypeError, match="should have 2 or 3 arguments, got 4"):
        lgb.LGBMRanker(objective=objective, **options).fit(
            data.features, data.labels, group=data.sizes
        )
    ranker = lgb.LGBMRanker(
        objective=lambda labels, scores, group: objective(labels, scores, None, group), **options
    )
    ranker.fit(
        data.features,
        data.labels,
        group=data.sizes,
        sample_weight=weight,
        eval_set=[(data.features, data.labels)],
        eval_group=[data.sizes],
        eval_sample_weight=[weight],
        eval_metric=eval_metric("map"),
    )

    def in_float32(scores: Any, given: Any) -> Any:  # rounds as LightGBM does
        found = objective(given.get_label(), scores, None, given.get_group())
        return tuple(found) if weight is None else tuple(array * weight for array in found)

    scores = ranker.predict(data.features)
    given = dataset(data, weight=weight)
    assert_array_equal(scores, train(in_float32, given).predict(data.features))
    found = next(iter(ranker.evals_result_.values()))
    _, expected, _ = lp.eval_map(scores, given)
    assert found["map"][-1] == pytest.approx(expected, abs=1e-9)


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    data = graded()
    booster = train(lp.lambda_ndcg, dataset(data))
    booster.save_model(str(tmp_path / "model.txt"))
    loaded = lgb.Booster(model_file=str(tmp_path / "model.txt"))
    assert_array_equal(loaded.predict(data.features), booster.predict(data.features))


def test_our_estimators_ask_for_lightgbm_4() -> None:
    with pytest.raises(ImportError, match="the estimators need LightGBM 4"):
        _ = lp.LightGBMRanker
