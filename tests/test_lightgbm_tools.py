"""What stands around an objective in LightGBM 4: metrics, folds, our module, estimators."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from lightgbm_training import ESTIMATOR, QUIET, constructed, dataset, lgb, train
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from small_data import PLUMBED, TRAINED, Recorder, Small, graded, same_gradient, value

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective

llgb = pytest.importorskip("lambdaplus.lightgbm")

pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


# -- metrics as feval ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feval", "names"),
    [
        (lp.eval_map, ["map"]),
        (eval_metric("map", "ndcg@10"), ["map", "ndcg@10"]),
        ([lp.eval_map, eval_metric("mrr", "auc")], ["map", "mrr", "auc"]),
        (eval_metric("ndcg@3", "map", gain="linear", relevant=2), None),
    ],
    ids=["one", "several in one", "a list", "with options"],
)
def test_feval_reports_what_evaluate_says(feval: Any, names: list[str] | None) -> None:
    data = graded()
    first, rest = data.queries(0, 40), data.queries(40, 60)
    training, record = dataset(first), dict[str, Any]()
    booster = train(
        lp.lambda_ndcg,
        training,
        5,
        valid_sets=[training, dataset(rest, reference=training)],
        valid_names=["train", "rest"],
        feval=feval,
        callbacks=[lgb.record_evaluation(record)],
    )
    names = names or ["ndcg(gain=linear)@3", "map(relevant=2)"]
    for name, part in (("train", first), ("rest", rest)):
        assert list(record[name]) == names
        for metric, values in record[name].items():
            expected = [
                value(metric, part, booster.predict(part.features, num_iteration=rounds + 1))
                for rounds in range(5)
            ]
            assert_allclose(values, expected, atol=1e-9)


@pytest.mark.parametrize("metric", PLUMBED)
def test_early_stopping_keeps_the_best_round(metric: str) -> None:
    data = graded()
    first, rest = data.queries(0, 30), data.queries(30, 60)
    training, record = dataset(first), dict[str, Any]()
    booster = train(
        lambda_objective(metric, sigma=2),
        training,
        60,
        valid_sets=[dataset(rest, reference=training)],
        feval=eval_metric(metric),
        callbacks=[lgb.early_stopping(3, verbose=False), lgb.record_evaluation(record)],
        params={"learning_rate": 0.3},
    )
    curve = record["valid_0"][metric]
    assert booster.best_iteration == np.argmax(curve) + 1
    assert len(curve) == booster.best_iteration + 3 < 60
    assert booster.best_score["valid_0"][metric] == max(curve)
    assert max(curve) > min(curve)


def test_a_validation_set_without_anything_relevant_is_an_error() -> None:
    data = graded()
    training = dataset(data)
    nothing = dataset(data, label=np.zeros(data.n), reference=training)
    with pytest.raises(ValueError, match="ndcg has no value on any query"):
        train(lp.lambda_ndcg, training, valid_sets=[nothing], feval=lp.eval_ndcg)


# -- subsets and folds ---------------------------------------------------------------------------


def test_a_subset_of_whole_queries_is_as_good_as_data_of_its_own() -> None:
    data = graded()
    rows = np.flatnonzero((data.qid % 3 != 1) & (data.qid != 0))
    part = data.rows(rows)
    again = np.flatnonzero(part.qid % 2 == 1)
    subset = constructed(data, weight=data.row_weights).subset(rows.tolist()).construct()
    own = constructed(part, weight=data.row_weights[rows])
    for metric in TRAINED:
        objective = lambda_objective(metric)
        expected = objective(part.scores(), own)
        assert same_gradient(objective(part.scores(), subset), expected)
        assert eval_metric(metric)(part.scores(), subset) == eval_metric(metric)(part.scores(), own)
    inner = part.rows(again)
    of_subset = subset.subset(again.tolist()).construct()
    expected = lp.lambda_map(
        inner.scores(), constructed(inner, weight=data.row_weights[rows][again])
    )
    assert same_gradient(lp.lambda_map(inner.scores(), of_subset), expected)


def test_a_subset_that_cuts_queries_raises_unless_it_is_grouped_anew() -> None:
    data = graded()
    rows = np.arange(3, data.n - 2)
    part = data.rows(rows)
    cut = constructed(data).subset(rows.tolist()).construct()
    for made in (lp.lambda_ndcg, lp.eval_ndcg):
        with pytest.raises(ValueError, match=r"splits 2 of 60 queries.*lambdaplus.lightgbm.cv"):
            made(part.scores(), cut)
    sizes = [part.n - 10, 10]
    cut.set_group(sizes)
    found = lp.lambda_ndcg(part.scores(), cut)
    assert same_gradient(found, lp.lambda_ndcg(part.scores(), constructed(part, group=sizes)))


def rows_of(scores: Any, data: Any) -> Any:
    return np.asarray(data.used_indices)


def assert_queries_whole(data: Small, folds: list[Any]) -> None:
    """Every fold has all rows of a query or none, and some of the queries."""
    for rows in folds:
        taken = np.bincount(data.qid[rows], minlength=len(data.sizes))
        assert set(np.unique(taken / data.sizes)) == {0.0, 1.0}


def different(folds: list[Any]) -> set[Any]:
    return {rows.tobytes() for rows in folds}


def test_plain_cv_raises_since_it_cuts_queries() -> None:
    params = {**QUIET, "objective": lp.lambda_ndcg}
    with pytest.raises(ValueError, match=r"queries, as lgb.cv does by default"):
        lgb.cv(params, dataset(graded()), 2)
    with pytest.raises(ValueError, match=r"folds=sklearn.model_selection.GroupKFold"):
        lgb.cv({**params, "objective": lp.lambda_auc}, dataset(graded()), 2, stratified=False)


@pytest.mark.parametrize("own", [False, True], ids=["GroupKFold", "lambdaplus.lightgbm"])
@pytest.mark.parametrize("before", [False, True], ids=["", "data set made before"])
def test_folds_keep_queries_whole(own: bool, before: bool) -> None:
    data = graded()
    given = constructed(data) if before else dataset(data, free_raw_data=False)
    objective, metric = Recorder(lp.lambda_ndcg, rows_of), Recorder(lp.eval_ndcg, rows_of)
    if own:
        result = llgb.cv(QUIET, given, 4, nfold=3, fobj=objective, feval=metric)
    else:
        params = {**QUIET, "objective": objective}
        result = lgb.cv(params, given, 4, folds=GroupKFold(3), feval=metric)
    assert len(objective.seen) == len(metric.seen) == 12
    assert len(different(objective.seen)) == len(different(metric.seen)) == 3
    assert_queries_whole(data, objective.seen + metric.seen)
    assert_array_equal(np.sort(np.concatenate(metric.seen[:3])), np.arange(data.n))
    curve = result["valid ndcg-mean"]
    assert len(curve) == 4
    assert curve[-1] > curve[0]


def test_our_cv_deals_queries_by_seed() -> None:
    data = graded()

    def folds(*arguments: Any, **options: Any) -> set[Any]:
        metric = Recorder(lp.eval_ndcg, rows_of)
        llgb.cv(QUIET, dataset(data), 1, *arguments, fobj=lp.lambda_ndcg, feval=metric, **options)
        assert_queries_whole(data, metric.seen)
        return different(metric.seen)

    assert len(folds()) == 5
    assert len(folds(nfold=4)) == 4
    assert folds() == folds(seed=0)
    assert folds(seed=1) == folds(seed=1) != folds(seed=2)
    assert folds(shuffle=False) == folds(shuffle=False, seed=3) != folds()
    assert len(folds(None, 3)) == 3  # folds and nfold by position
    mine = [(np.arange(200, data.n), np.arange(200))]
    whole = [(np.flatnonzero(data.qid > 20), np.flatnonzero(data.qid <= 20))]
    assert folds(folds=whole) == {whole[0][1].astype(np.int64).tobytes()}
    with pytest.raises(ValueError, match=r"splits \d+ of \d+ queries"):
        folds(folds=mine)


def test_our_cv_takes_what_lightgbms_takes() -> None:
    data = graded()
    found = llgb.cv(
        {**QUIET, "objective": lp.lambda_map, "num_iterations": 40, "learning_rate": 0.3},
        dataset(data),
        feval=eval_metric("map", "ndcg@5"),
        eval_train_metric=True,
        return_cvbooster=True,
        callbacks=[lgb.early_stopping(3, first_metric_only=True, verbose=False)],
    )
    assert len(found["cvbooster"].boosters) == 5
    assert {"train map-mean", "valid map-mean", "valid ndcg@5-stdv"} < set(found)
    assert len(found["valid map-mean"]) == found["cvbooster"].best_iteration < 40
    with pytest.raises(TypeError, match="unexpected keyword argument 'nfolds'"):
        llgb.cv(QUIET, dataset(data), 1, nfolds=3, fobj=lp.lambda_map)
    native = llgb.cv({**QUIET, "objective": "lambdarank"}, dataset(data), 2)
    assert len(native["valid ndcg@5-mean"]) == 2


def test_our_cv_without_queries_is_lightgbms() -> None:
    data = graded()
    given = lgb.Dataset(data.features, data.binary, params={"verbosity": -1})
    metric = Recorder(lp.eval_auc, rows_of)
    found = llgb.cv(QUIET, given, 3, nfold=4, fobj=lp.lambda_auc, feval=metric)
    assert found["valid auc-mean"][-1] > 0.85
    share = [data.binary[rows].mean() for rows in metric.seen]
    assert np.ptp(share) < 0.01  # stratified by label


def test_our_cv_keeps_queries_whole_in_a_subset() -> None:
    data = graded()
    rows = np.flatnonzero(data.qid < 40)
    subset = constructed(data).subset(rows.tolist())
    assert llgb.cv(QUIET, subset, 2, fobj=lp.lambda_ndcg, feval=lp.eval_ndcg)


@pytest.fixture
def in_file(tmp_path: Path) -> str:
    """A data set in LightGBM's binary format, which knows its queries only once it is read."""
    path = str(tmp_path / "data.bin")
    constructed(graded()).save_binary(path)
    return path


def test_a_data_set_in_a_file_has_its_queries(in_file: str) -> None:
    data = graded()
    expected = train(lp.lambda_map, dataset(data)).predict(data.features)
    given = lgb.Dataset(in_file, params={"verbosity": -1})
    assert_array_equal(train(lp.lambda_map, given).predict(data.features), expected)
    rows = np.flatnonzero(data.qid % 2 == 1)
    part = data.rows(rows)
    subset = given.subset(rows.tolist()).construct()
    found = lp.lambda_map(part.scores(), subset)
    assert same_gradient(found, lp.lambda_map(part.scores(), constructed(part)))
    cut = given.subset(rows[1:].tolist()).construct()
    with pytest.raises(ValueError, match="splits 1 of 60 queries"):
        lp.lambda_map(part.scores()[1:], cut)


def test_our_cv_keeps_queries_whole_that_were_read_from_a_file(in_file: str) -> None:
    metric = Recorder(lp.eval_map, rows_of)
    given = lgb.Dataset(in_file, params={"verbosity": -1})
    llgb.cv(QUIET, given.construct(), 1, fobj=lp.lambda_map, feval=metric)
    assert len(different(metric.seen)) == 5
    assert_queries_whole(graded(), metric.seen)
    # Before that the queries are not known, but split ones raise an error later.
    with pytest.raises(ValueError, match=r"splits \d+ of \d+ queries"):
        llgb.cv(QUIET, lgb.Dataset(in_file, params={"verbosity": -1}), 1, fobj=lp.lambda_map)


# -- lambdaplus.lightgbm -------------------------------------------------------------------------


def test_our_train_is_lightgbms_with_fobj() -> None:
    data = graded()
    expected = train(lp.lambda_ndcg, dataset(data)).model_to_string()
    assert llgb.train(QUIET, dataset(data), 8, fobj=lp.lambda_ndcg).model_to_string() == expected
    with_params = {**QUIET, "objective": lp.lambda_ndcg}
    assert llgb.train(with_params, dataset(data), 8).model_to_string() == expected


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "binary"},
        {"objective": "lambdarank"},
        {"application": "binary"},
        {"app": lp.lambda_auc},
        {"loss": lp.lambda_auc},
        {"objective_type": lp.lambda_auc, "objective": "binary"},
    ],
    ids=str,
)
def test_fobj_wins_over_objectives_in_params(params: dict[str, Any]) -> None:
    data = graded()
    expected = train(lp.lambda_ndcg, dataset(data)).predict(data.features)
    params = {**QUIET, **params}
    before = dict(params)
    booster = llgb.train(params, dataset(data), 8, fobj=lp.lambda_ndcg)
    assert_array_equal(booster.predict(data.features), expected)
    assert params == before


def test_aliases_of_objective_take_callables() -> None:
    data = graded()
    expected = train(lp.lambda_ndcg, dataset(data)).predict(data.features)
    for name in ("objective", "objective_type", "app", "application", "loss"):
        booster = llgb.train({**QUIET, name: lp.lambda_ndcg}, dataset(data), 8)
        assert_array_equal(booster.predict(data.features), expected)


def test_our_train_passes_everything_else_on() -> None:
    data = graded()
    training, record = llgb.Dataset(data.features, data.labels, group=data.sizes), {}
    booster = llgb.train(
        {**QUIET, "learning_rate": 0.3},
        training,
        num_boost_round=30,
        fobj=lp.lambda_ndcg,
        valid_sets=[llgb.Dataset(data.features[:400], np.roll(data.labels, 7)[:400], group=[400])],
        valid_names=["mine"],
        feval=eval_metric("map"),
        callbacks=[llgb.record_evaluation(record), llgb.early_stopping(2, verbose=False)],
    )
    assert isinstance(booster, lgb.Booster)
    assert len(record["mine"]["map"]) == booster.best_iteration + 2 < 30
    native = llgb.train({**QUIET, "objective": "lambdarank"}, dataset(data), 3)
    assert "\nobjective=lambdarank" in native.model_to_string()


@pytest.mark.parametrize("rows", [12, 90], ids=["too few rows", "constant features"])
def test_data_that_cannot_be_split_is_told_in_words(rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(rows, 2)) if rows < 40 else np.ones((rows, 2))
    params: dict[str, Any] = {"label": np.tile([0, 1, 2], rows // 3), "group": [3] * (rows // 3)}
    for use, options in ((llgb.train, {}), (llgb.cv, {"nfold": 2, "feval": lp.eval_map})):
        with pytest.raises(ValueError, match=r"every one is constant, .* min_data_in_leaf rows"):
            use(dict(QUIET), lgb.Dataset(X, **params), 3, fobj=lp.lambda_map, **options)


def test_our_module_is_lightgbm_otherwise() -> None:
    for name in ("Dataset", "Booster", "LGBMRanker", "early_stopping", "log_evaluation"):
        assert getattr(llgb, name) is getattr(lgb, name)
    assert llgb.__version__ == lgb.__version__
    assert llgb.train is not lgb.train
    with pytest.raises(AttributeError, match="no_such_thing"):
        llgb.no_such_thing  # noqa: B018


# -- estimators ----------------------------------------------------------------------------------


def fitted(data: Small, objective: Any, **options: Any) -> Any:
    ranker = lgb.LGBMRanker(objective=objective, **ESTIMATOR)
    return ranker.fit(data.features, data.labels, group=data.sizes, **options)


@pytest.mark.parametrize("metric", [*PLUMBED, "ndcg@10"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_ranker_gets_groups_and_weights(metric: str, weighted: bool) -> None:
    data, objective = graded(), lambda_objective(metric)
    weight = data.row_weights if weighted else None
    ranker = fitted(data, objective, sample_weight=weight)
    booster = train(objective, dataset(data, weight=weight))
    assert_array_equal(ranker.predict(data.features), booster.predict(data.features))
    one_query = train(objective, dataset(data, weight=weight, group=[data.n]))
    assert np.abs(one_query.predict(data.features) - ranker.predict(data.features)).max() > 0.01


def test_the_ranker_takes_metrics_and_stops_early() -> None:
    data = graded()
    first, rest = data.queries(0, 30), data.queries(30, 60)
    ranker = lgb.LGBMRanker(
        objective=lp.lambda_ndcg, **{**ESTIMATOR, "n_estimators": 60, "learning_rate": 0.3}
    )
    ranker.fit(
        first.features,
        first.labels,
        group=first.sizes,
        eval_set=[(rest.features, rest.labels)],
        eval_group=[rest.sizes],
        eval_metric=eval_metric("ndcg@10", "map"),
        callbacks=[lgb.early_stopping(3, first_metric_only=True, verbose=False)],
    )
    curves = ranker.evals_result_["valid_0"]
    assert list(curves) == ["ndcg@10", "map"]
    assert len(curves["ndcg@10"]) == ranker.best_iteration_ + 3 < 60
    assert ranker.best_iteration_ == np.argmax(curves["ndcg@10"]) + 1
    scores = ranker.predict(rest.features)
    assert max(curves["ndcg@10"]) == pytest.approx(value("ndcg@10", rest, scores), abs=1e-9)


def test_without_metric_none_the_ranker_checks_labels_by_its_own_metric() -> None:
    # The trap that the documentation names: LGBMRanker adds its ndcg, also to a custom objective.
    data = graded()
    labels, options = data.labels * 20, {"group": data.sizes}
    assert lgb.LGBMRanker(objective=lp.lambda_ndcg, **ESTIMATOR).fit(
        data.features, labels, **options
    )
    ranker = lgb.LGBMRanker(objective=lp.lambda_ndcg, n_estimators=8, **QUIET)
    with pytest.raises(lgb.basic.LightGBMError, match=r"Label .* is not less than"):
        ranker.fit(
            data.features, labels, **options,
            eval_set=[(data.features, labels)], eval_group=[data.sizes],
        )  # fmt: skip


@pytest.mark.parametrize("kind", ["LGBMRegressor", "LGBMClassifier"])
@pytest.mark.parametrize("objective", [lp.lambda_auc, lp.lambda_map], ids=str)
@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")
def test_other_estimators_train_on_ungrouped_data(kind: str, objective: Any) -> None:
    data = graded()
    model = getattr(lgb, kind)(objective=objective, **ESTIMATOR)
    model.fit(
        data.features, data.binary, sample_weight=data.row_weights,
        eval_set=[(data.features, data.binary)], eval_sample_weight=[data.row_weights],
        eval_metric=eval_metric("auc", "map"),
    )  # fmt: skip
    given = dataset(data, label=data.binary, group=None, weight=data.row_weights)
    expected = train(objective, given).predict(data.features)
    raw = model.predict(data.features, raw_score=True)
    assert_array_equal(raw, expected)
    curves = next(iter(model.evals_result_.values()))
    for metric, score in (("auc", roc_auc_score), ("map", average_precision_score)):
        weighted = score(data.binary, raw, sample_weight=data.row_weights)
        assert curves[metric][-1] == pytest.approx(weighted, abs=1e-6)


def test_a_fitted_ranker_can_be_copied_pickled_and_cloned(tmp_path: Path) -> None:
    data = graded()
    ranker = fitted(data, lambda_objective("map@10", relevant=2))
    expected = ranker.predict(data.features)
    joblib.dump(ranker, tmp_path / "ranker")
    copies = [
        copy.deepcopy(ranker),
        pickle.loads(pickle.dumps(ranker)),
        joblib.load(tmp_path / "ranker"),
        clone(ranker).fit(data.features, data.labels, group=data.sizes),
    ]
    for mine in copies:
        assert mine.get_params()["objective"] == ranker.objective
        assert_array_equal(mine.predict(data.features), expected)
    refitted = copies[1].fit(data.features, data.labels, group=data.sizes)
    assert_array_equal(refitted.predict(data.features), expected)
