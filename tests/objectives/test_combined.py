"""Weighted sums of objectives: expressions, gradients, metrics, and both frameworks."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from small_data import GRADED, gradient_of

import lambdaplus as lp
from lambdaplus import combine, eval_metric, evaluate, lambda_objective
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.weighted_sum import WeightedSum, sum_of, terms_of

EXPRESSIONS = ("ndcg@10+0.5*mrr", "map+2*auc", "ndcg(gain=linear)@3+mrr+0.25*p@5", "0.5*err@5")


# -- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_prints_as_it_is_parsed(text: str) -> None:
    objective = lambda_objective(text)
    assert str(objective.metric) == text
    assert lambda_objective(str(objective.metric)) == objective
    assert lambda_objective(objective.metric) == objective
    assert eval_metric(text).metrics == (objective.metric,)
    assert objective.__name__ == f"lambda_{text}"


@given(
    st.dictionaries(
        st.sampled_from(["auc", "map", "mrr@5", "ndcg(gain=linear)@3", "map(relevant=1e+01)"]),
        st.floats(1e-300, 1e100),
        min_size=1,
    )
)
def test_any_weights_survive_printing(weights: dict[str, float]) -> None:
    made = sum_of([(parse_metric(name), weight) for name, weight in weights.items()])
    [found] = eval_metric(str(made)).metrics
    assert found == made
    assert " " not in str(made)


def test_spelling_makes_no_difference() -> None:
    names = "ndcg@10+0.5*mrr", " NDCG@10 +  5e-1 * MRR ", "1*ndcg@10 + .5*mrr"
    parts = {lambda_objective("ndcg@10"): 1, lp.lambda_mrr: 0.5}
    assert len({*map(lambda_objective, names), combine(parts)}) == 1
    assert lambda_objective("1*mrr") == lp.lambda_mrr
    assert lambda_objective("mrr+ndcg@10") != lambda_objective("ndcg@10+mrr")
    assert lambda_objective("mrr+ndcg") != lambda_objective("mrr+2*ndcg")
    assert terms_of("2E+1*mrr+1E+1*map") == [("mrr", 20.0), ("map", 10.0)]
    assert terms_of("map(relevant=1e+1)+2e+1*mrr") == [("map(relevant=1e+1)", 1.0), ("mrr", 20.0)]


def test_options_go_to_the_parts_that_have_them() -> None:
    objective: Any = lambda_objective("ndcg+map", gain="linear", relevant=2, sigma=2)
    assert str(objective.metric) == "ndcg(gain=linear)+map(relevant=2)"
    assert [part.sigma for part, _ in objective.parts] == [2, 2]
    assert eval_metric("ndcg+map", gain="linear", relevant=2).metrics == (objective.metric,)
    with pytest.raises(ValueError, match="none of mrr, map has an option gain"):
        lambda_objective("mrr+map", gain="linear")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndcg + 0*mrr", "weight of mrr must be a number above 0 and at most 1e\\+100, got 0"),
        ("ndcg + -1*mrr", "must be a number above 0 .* got -1"),
        ("ndcg + inf*mrr", "must be a number above 0 .* got inf"),
        ("1_0*ndcg", "the weight '1_0' is not a number"),
        ("1e39*map", "the weight of map in a sum must be a number at least 1e-06 and at most 1e"),
        ("1e-30*logloss + map", "the weight of logloss in a sum must be a number"),
        ("ndcg + 1e30*map", "the weight of map in a sum must be a number"),
        ("ndcg + mrr + NDCG", "ndcg occurs twice in the sum"),
        ("ndcg +", r"a metric is missing next to \+ or \*"),
        ("ndcg + mrt", "unknown metric 'mrt'"),
    ],
)
def test_a_bad_expression_is_a_value_error_that_says_why(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lambda_objective(text)


def test_parts_must_be_objectives_of_single_metrics() -> None:
    with pytest.raises(ValueError, match="at least one objective"):
        combine({})
    for wrong in ("mrr", lambda_objective("mrr+map"), lp.eval_map):
        with pytest.raises(TypeError, match="is not a lambda objective"):
            combine({lp.lambda_ndcg: 1, wrong: 1})  # type: ignore[dict-item]


# -- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("normalize", [True, False])
def test_a_sum_is_the_weighted_sum_of_its_parts(text: str, normalize: bool) -> None:
    found = gradient_of(lambda_objective(text, normalize=normalize), GRADED)
    terms = terms_of(text)
    for i in (0, 1):
        parts = [
            weight
            * gradient_of(lambda_objective(name, normalize=normalize), GRADED)[i].astype(float)
            for name, weight in terms
        ]
        assert_allclose(found[i], sum(parts), rtol=1e-6, atol=1e-6)
        assert found[i].dtype == np.float32


def test_data_without_queries_is_taken_where_every_part_takes_it() -> None:
    pooled = lambda_objective("map+auc")(GRADED.labels, GRADED.scores())
    # Each part is scaled to half the rows; float32 keeps seven digits.
    assert 0 < np.abs(pooled[0]).sum(dtype=np.float64) <= GRADED.n * (1 + 1e-6)
    with pytest.raises(ValueError, match="mrr ranks the documents of each query"):
        lambda_objective("map+mrr")(GRADED.labels, GRADED.scores())
    one = lambda_objective("map+mrr", one_group=True)
    assert one.one_group
    assert np.isfinite(one(GRADED.labels, GRADED.scores())[0]).all()


# -- log-loss, whose gradient is that of test_log_loss -------------------------------------------


def test_the_names_of_log_loss() -> None:
    names = "logloss + 0.5*map", "binary_logloss + 0.5 * MAP", " log_loss+0.5*map"
    same = [*map(lambda_objective, names), combine({lp.LogLoss(): 1, lp.lambda_map: 0.5})]
    assert len(set(same)) == 1
    assert same[0].metric == parse_metric("map")  # which is to be evaluated
    assert same[0].__name__ == "lambda_logloss+0.5*map"
    both: Any = lambda_objective("map + logloss + 2*ndcg@10", relevant=2)
    assert str(both.metric) == "map(relevant=2)+2*ndcg@10"
    assert both.parts[1] == (lp.LogLoss(relevant=2), 1.0)
    own: Any = lambda_objective("ndcg + logloss(relevant=3)")
    assert own.parts[1][0] == lp.LogLoss(relevant=3.0)


def test_log_loss_needs_two_classes_and_a_ranking() -> None:
    with pytest.raises(ValueError, match=r"log-loss needs labels 0 and 1, and row .*: pass relev"):
        gradient_of(lambda_objective("logloss + ndcg"), GRADED)
    with pytest.raises(ValueError, match="does not rank: add a ranking metric"):
        lambda_objective("logloss")
    with pytest.raises(ValueError, match="at least one objective that ranks"):
        combine({lp.LogLoss(): 1})
    with pytest.raises(ValueError, match="log-loss occurs twice"):
        lambda_objective("logloss + map + logloss")
    with pytest.raises(ValueError, match="weight of logloss in a sum must be a number at least"):
        lambda_objective("-1*logloss + map")


# -- the metric ----------------------------------------------------------------------------------


def test_the_metric_is_the_weighted_sum_of_means() -> None:
    metric = eval_metric("ndcg@10+0.5*mrr", "mrr", "map")
    found = metric(GRADED.labels, GRADED.scores(), None, GRADED.sizes)
    expected = evaluate(
        GRADED.labels, GRADED.scores(), group=GRADED.sizes, metrics=["ndcg@10", "mrr", "map"]
    )
    assert [name for name, _, _ in found] == ["ndcg@10+0.5*mrr", "mrr", "map"]
    both = expected["ndcg@10"] + 0.5 * expected["mrr"]
    assert_allclose([v for _, v, _ in found], [both, expected["mrr"], expected["map"]])
    assert isinstance(metric.metrics[0], WeightedSum)
    with pytest.raises(ValueError, match="mrr has no value on any query"):
        eval_metric("mrr+map")(np.zeros(4), np.zeros(4), None, [4])


# Labels of its own -------------------------------------------------------------------------------


RANDOM = np.random.default_rng(0)
CLICKS, SCORES = RANDOM.integers(0, 3, 90).astype(float), RANDOM.normal(size=90)
PURCHASES = (RANDOM.random(90) < 0.2).astype(float)


def test_a_part_may_have_labels_of_its_own() -> None:
    both = lp.combine({lp.lambda_ndcg: 1, lp.lambda_map.on(PURCHASES): 0.5})
    found = both(CLICKS, SCORES, None, [40, 50])
    of_clicks = lp.lambda_ndcg(CLICKS, SCORES, None, [40, 50])
    of_purchases = lp.lambda_map(PURCHASES, SCORES, None, [40, 50])
    for ours, first, second in zip(found, of_clicks, of_purchases, strict=True):
        np.testing.assert_allclose(ours, first + 0.5 * second, rtol=1e-5, atol=1e-7)
    assert str(both.metric) == "ndcg"
    # The same metric of two columns.
    twice = lp.combine({lp.lambda_map: 1, lp.lambda_map.on(PURCHASES): 1})
    assert str(twice.metric) == "map"
    again = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(again(CLICKS, SCORES, None, [40, 50])[0], found[0])


WEIGHTS = RANDOM.uniform(0.2, 3.0, 90)


@pytest.mark.parametrize("group", [[40, 50], None], ids=["queries", "table"])
def test_an_objective_may_have_weights_of_its_own(group: Any) -> None:
    expected = lp.lambda_map(CLICKS, SCORES, WEIGHTS, group)
    for passed in (None, np.linspace(1.0, 2.0, 90)):
        found = lp.lambda_map.weighted(WEIGHTS)(CLICKS, SCORES, passed, group)
        np.testing.assert_array_equal(found, expected)
    of_purchases = lp.lambda_map(PURCHASES, SCORES, WEIGHTS, group)
    for both in (
        lp.lambda_map.on(PURCHASES).weighted(WEIGHTS), lp.lambda_map.weighted(WEIGHTS).on(PURCHASES)
    ):  # fmt: skip
        np.testing.assert_array_equal(both(CLICKS, SCORES, None, group), of_purchases)
        again = pickle.loads(pickle.dumps(both))
        np.testing.assert_array_equal(again(CLICKS, SCORES, None, group), of_purchases)
        with pytest.raises(TypeError, match="cannot have labels or weights of its own"):
            both.on(PURCHASES)
    half = lp.combine({lp.lambda_ndcg: 1, lp.lambda_map.weighted(WEIGHTS): 0.5})
    assert str(half.metric) == "ndcg+0.5*map"
    if group:
        of_ndcg, found = (each(CLICKS, SCORES, None, group) for each in (lp.lambda_ndcg, half))
        for ours, first, second in zip(found, of_ndcg, expected, strict=True):
            np.testing.assert_allclose(ours, first + 0.5 * second, rtol=1e-5, atol=1e-7)


def test_own_weights_of_rows_train_xgboost() -> None:
    """It takes none within a query itself."""
    import xgboost as xgb

    X, group = SCORES[:, None], [40, 50]
    own = lp.lambda_map.weighted(WEIGHTS)
    ranker = lp.XGBoostRanker(objective=own, n_estimators=1, n_jobs=1, max_depth=1)
    ranker.fit(X, CLICKS, group=group)
    data = xgb.DMatrix(X, CLICKS, group=group)
    gradient, hessian = lp.lambda_map(CLICKS, np.zeros(90), WEIGHTS, group)
    by_hand = xgb.train(
        {"base_score": 0.0, "max_depth": 1, "nthread": 1, "disable_default_eval_metric": 1},
        data, 1, obj=lambda *_: (gradient, 2 * hessian),
    )  # fmt: skip
    np.testing.assert_allclose(ranker.predict(X), by_hand.predict(data), rtol=1e-6)


def test_own_labels_that_do_not_fit_are_refused() -> None:
    message = "labels of its own for 80 rows, and was called for 90"
    for function in (lp.lambda_map, lp.eval_map):
        with pytest.raises(ValueError, match=message):
            function.on(PURCHASES[:80])(CLICKS, SCORES, None, [40, 50])
    used = lp.lambda_map.on(PURCHASES)
    used(CLICKS, SCORES, None, [40, 50])
    used(CLICKS, SCORES + 1.0, None, [40, 50])
    for other in (used, pickle.loads(pickle.dumps(used))):
        with pytest.raises(ValueError, match="for the rows of another data set"):
            other(CLICKS[::-1], SCORES, None, [40, 50])
        with pytest.raises(ValueError, match="for the rows of another data set"):
            other(CLICKS, SCORES, None, [50, 40])
    with pytest.raises(ValueError, match="different numbers of rows"):
        lp.eval_map.on(PURCHASES, PURCHASES)
    with pytest.raises(ValueError, match="weights of its own for 80 rows"):
        lp.lambda_map.weighted(1.0 + PURCHASES[:80])(CLICKS, SCORES, None, [40, 50])
    with pytest.raises(ValueError, match="weights must not be negative"):
        lp.lambda_map.weighted(-WEIGHTS)
    with pytest.raises(TypeError, match="cannot have labels or weights of its own"):
        lp.lambda_map.on(PURCHASES).on(PURCHASES)
    columns = np.column_stack([CLICKS, PURCHASES])
    for ranker in (lp.LightGBMRanker(), lp.XGBoostRanker()):
        with pytest.raises(ValueError, match=r"shape \(90, 2\): pass one column.*lambda_map\.on\("):
            ranker.fit(SCORES[:, None], columns, group=[40, 50])
    for classifier in (lp.LightGBMClassifier(), lp.XGBoostClassifier()):
        with pytest.raises(ValueError, match="should be a 1d array"):
            classifier.fit(SCORES[:, None], columns)
    model = lp.LightGBMRanker(objective=lp.lambda_map.on(PURCHASES), n_estimators=2, verbose=-1)
    with pytest.raises(ValueError, match="sort rows and labels by qid first"):
        model.fit(SCORES[:, None], CLICKS, qid=np.arange(90) % 2)


def test_metrics_may_have_labels_of_their_own() -> None:
    own = lp.eval_metric("map", "auc").on(PURCHASES[:40], PURCHASES, name="bought")
    found = own(CLICKS, SCORES, None, [40, 50])
    expected = lp.eval_metric("map", "auc")(PURCHASES, SCORES, None, [40, 50])
    assert found == [(f"{name}_bought", value, True) for name, value, _ in expected]
