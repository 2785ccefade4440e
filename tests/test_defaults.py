"""What an objective trains if it is not told: shown by its repr, and equal to its long form."""

import brute_force
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lambdaplus import lambda_objective, parse_metric
from lambdaplus.metrics import CATALOGUE

GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0


@pytest.mark.parametrize(
    ("name", "trained"),
    [
        ("ndcg", "ndcg"),
        ("ndcg@10", "ndcg"),
        ("dcg(gain=linear)@3", "dcg(gain=linear)"),
        ("map", "map"),
        ("map(relevant=2)@5", "map(relevant=2)"),
        ("auc", "map"),
        ("mrr", "map"),
        ("mrr@5", "map"),
        ("mrr(relevant=2)", "map(relevant=2)"),
        ("success@1", "map"),
        ("p@5", "map"),
        ("recall(relevant=2)@5", "map(relevant=2)"),
        ("rprec", "map"),
        ("top_precision", "map"),
        ("err@3", "err"),
        ("bpref", "bpref"),
    ],
)
def test_where_few_pairs_change_a_metric_another_one_weighs_them(name: str, trained: str) -> None:
    found = lambda_objective(name)
    assert str(found.surrogate) == trained
    assert (found.damping, found.pointwise) == ("default", "default")
    assert found.truncation is None
    assert (f"surrogate={trained!r}" in repr(found)) == (trained != str(found.metric))
    assert eval(repr(found), {"lambda_objective": lambda_objective}) == found
    explicit = lambda_objective(trained, damping=0.1, pointwise=0.5, surrogate=trained)
    arguments = GRADES, SCORES, None, [12]
    assert_array_equal(found(*arguments), explicit(*arguments))


@pytest.mark.parametrize("name", ["ndcg@3", "mrr", "p@3", "rprec"])
def test_the_metric_itself_and_damping_can_be_asked_for(name: str) -> None:
    arguments = GRADES, SCORES, None, [12]
    own = lambda_objective(name, surrogate=name, damping=0.01)
    assert own.surrogate == own.metric
    assert own.damping == 0.01
    assert np.abs(own(*arguments)[0] - lambda_objective(name)(*arguments)[0]).max() > 0.01


def test_where_several_are_relevant_none_is_left_out_of_mrr() -> None:
    labels, scores = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    deltas = brute_force.swap_deltas(parse_metric("mrr"), labels)
    assert deltas[0, 4] == deltas[0, 3] != 0
    assert deltas[2, 4] == 0  # as of most pairs
    gradient = lambda_objective("mrr", damping=None, pointwise=0)(labels, scores, None, [6])[0]
    assert (gradient[[1, 3, 4]] < 0).all()
    expected, _, S = brute_force.lambda_gradients(parse_metric("map"), labels, scores)
    assert_allclose(gradient, np.log2(1 + S) / S * expected, rtol=1e-5)


def test_a_gradient_reaches_every_document_that_a_better_one_could_replace() -> None:
    """The reason for the defaults: below a cutoff, pairs of the metric itself have no weight."""
    n = 40
    labels, scores = (np.arange(n) % 4 == 3).astype(float), -np.arange(n) / 10
    for declaration in CATALOGUE:
        if declaration.name in ("bpref", "cindex"):
            continue  # it stops at a rank within the list; labels of cindex are times
        metric = declaration(3) if declaration.cutoff != "no" else declaration()
        gradient = lambda_objective(metric)(labels, scores, None, [n])[0]
        assert (gradient[labels > 0] < 0).all(), metric
