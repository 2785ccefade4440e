"""Harrell's C with censoring: against its definition and scikit-survival, and its gradient."""

from typing import Any

import brute_force
import numpy as np
import pytest
import textbook_metrics
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from test_invariances import assert_invariant, of

from lambdaplus import evaluate, gradients, lambda_objective
from lambdaplus.metrics import parse_metric

times = st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0, 7.5]).flatmap(lambda t: st.sampled_from([t, -t]))
each_way = pytest.mark.parametrize("higher", ["risk", "life"])


@each_way
@given(data=st.data())
@examples(50)
def test_value_and_gradient_are_those_of_the_comparable_pairs(higher: str, data: Any) -> None:
    labels = data.draw(st.lists(times, min_size=1, max_size=30))
    scores = data.draw(st.lists(st.sampled_from(np.arange(8) / 4), min_size=len(labels),
                                max_size=len(labels)))  # fmt: skip
    metric = parse_metric("cindex", higher=higher)
    pairs = list(textbook_metrics.comparable(labels))
    sign = 1 if higher == "risk" else -1
    in_order = [0.5 + 0.5 * np.sign(sign * (scores[i] - scores[j])) for i, j in pairs]
    found = evaluate(labels, scores, metrics=metric).per_query[str(metric)][0]
    assert found == pytest.approx(np.mean(in_order) if pairs else np.nan, rel=1e-12, nan_ok=True)
    expected = brute_force.lambda_gradients(metric, labels, scores)
    for all_pairs in (False, True):
        ours = gradients(labels, scores, metric=metric, group=[len(labels)], all_pairs=all_pairs)
        for mine, right, tolerance in zip(ours, expected[:2], (1e-6, 1e-5), strict=True):
            np.testing.assert_allclose(mine, right, atol=tolerance * max(np.abs(right)) + 1e-30)


def survival(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    time, scores = random.exponential(size=n), random.normal(size=n)
    return np.round(time * np.exp(-scores), 1) + 0.1, random.random(n) < 0.6, np.round(scores, 1)


def test_it_equals_scikit_survivals() -> None:
    metrics = pytest.importorskip("sksurv.metrics")
    datasets = pytest.importorskip("sksurv.datasets")
    _, outcome = datasets.load_gbsg2()
    sets = [survival(n, n) for n in (2, 30, 500)]
    risk = np.round(np.random.default_rng(1).normal(size=len(outcome)), 1)
    sets.append((outcome["time"], outcome["cens"], risk))
    for time, event, scores in sets:
        if event.any():
            theirs = metrics.concordance_index_censored(event, time, scores)[0]
            found = evaluate(np.where(event, time, -time), scores, metrics="cindex")
            assert found["cindex"] == pytest.approx(theirs, rel=1e-12)


def test_a_label_of_zero_is_an_event_at_time_zero() -> None:
    """Whatever its sign: a censored time of 0 has no label of its own."""
    for zero in (0.0, -0.0):
        for higher, right in (("risk", [1.0, 0.5, 0.25]), ("life", [0.25, 0.5, 1.0])):
            metric = parse_metric("cindex", higher=higher)
            # Comparable with the event at 2 and the row censored at 1, which are not comparable.
            for scores, expected in ((right, 1.0), (right[::-1], 0.0)):
                assert evaluate([zero, -1.0, 2.0], scores, metrics=metric)[str(metric)] == expected


def test_a_long_list_is_exact_and_rows_and_threads_do_not_matter() -> None:
    time, event, scores = survival(3000)
    labels = np.where(event, time, -time)
    assert_invariant(of("cindex"), labels, scores, [3000])
    found = gradients(labels, scores, metric="cindex", group=[3000])
    np.testing.assert_allclose(found[0].sum(), 0, atol=1e-7 * np.abs(found[0]).sum())


def test_without_queries_it_is_scaled_as_log_loss() -> None:
    time, event, scores = survival(100)
    gradient, _ = lambda_objective("cindex")(np.where(event, time, -time), scores)
    assert np.abs(gradient).sum() == pytest.approx(50, rel=1e-6)


@pytest.mark.parametrize("metric", ["cindex", "concordance"])
def test_all_pairs_of_a_table_weigh_the_same(metric: str) -> None:
    time, event, scores = survival(60)
    labels = np.where(event, time, -time) if metric == "cindex" else time
    above = np.zeros((60, 60), bool)  # [i, j]: i is to be above j
    above[tuple(np.transpose(list(textbook_metrics.comparable(labels))))] = True
    above = above if metric == "cindex" else above.T
    rho = 1 / (1 + np.exp(scores[:, None] - scores[None, :]))
    expected = (above * rho).sum(axis=0) - (above * rho).sum(axis=1)
    found, _ = lambda_objective(metric, one_group=True)(labels, scores)
    expected *= np.abs(found).sum() / np.abs(expected).sum()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_named_weights_of_pairs_are_those_of_the_training() -> None:
    swapped = lambda_objective("concordance", pairs="swap")
    assert swapped.weighed_by(grouped=False) == swapped.weighed_by(grouped=True)
    assert not swapped.weighed_by(grouped=False).equal_pairs
    with pytest.raises(ValueError, match="concordance has no option 'pairs'"):
        lambda_objective("concordance(pairs=swap)")
    with pytest.raises(ValueError, match="map, mrr has no option 'pairs', which is for auc"):
        lambda_objective("map + mrr", pairs="swap")


def test_labels_of_times_have_no_surrogate_of_grades() -> None:
    for metric, surrogate in (("cindex", "ndcg"), ("ndcg", "cindex")):
        with pytest.raises(ValueError, match="cindex reads labels in a way of its own"):
            lambda_objective(metric, surrogate=surrogate)
