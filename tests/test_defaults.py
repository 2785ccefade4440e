"""What an objective trains if it is not told: shown by its repr, and equal to its long form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lambdaplus import lambda_objective
from lambdaplus.metrics import CATALOGUE

GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0


@pytest.mark.parametrize(
    ("name", "trained", "damping"),
    [
        ("ndcg", "ndcg", None),
        ("ndcg@10", "ndcg", 0.01),
        ("dcg(gain=linear)@3", "dcg(gain=linear)", 0.01),
        ("map", "map", None),
        ("map(relevant=2)@5", "map(relevant=2)", None),
        ("auc", "auc", None),
        ("mrr", "ndcg", None),
        ("mrr@5", "ndcg", None),
        ("mrr(relevant=2)", "auc(relevant=2)", None),
        ("success@1", "ndcg", None),
        ("p@5", "auc", None),
        ("recall(relevant=2)@5", "auc(relevant=2)", None),
        ("rprec", "auc", None),
        ("p@1%", "auc", None),
        ("err@3", "err", None),
        ("bpref", "bpref", None),
    ],
)
def test_where_few_pairs_change_a_metric_another_one_weighs_them(
    name: str, trained: str, damping: float | None
) -> None:
    found = lambda_objective(name)
    assert str(found.optimised) == trained
    assert found.shape.damping == damping
    assert found.noise is None
    assert (f"surrogate={trained!r}" in repr(found)) == (trained != str(found.metric))
    assert eval(repr(found), {"lambda_objective": lambda_objective}) == found
    explicit = lambda_objective(trained, damping=damping, surrogate=trained)
    arguments = GRADES, SCORES, None, [12]
    assert_array_equal(found(*arguments), explicit(*arguments))


@pytest.mark.parametrize("name", ["ndcg@3", "mrr", "p@3", "rprec"])
def test_the_metric_itself_and_damping_can_be_asked_for(name: str) -> None:
    arguments = GRADES, SCORES, None, [12]
    own = lambda_objective(name, surrogate=name, damping=None)
    assert own.optimised == own.metric
    assert own.shape.damping is None
    assert np.abs(own(*arguments)[0] - lambda_objective(name)(*arguments)[0]).max() > 0.01


def test_a_gradient_reaches_every_document_that_a_better_one_could_replace() -> None:
    """The reason for the defaults: below a cutoff, pairs of the metric itself have no weight."""
    n = 40
    labels, scores = (np.arange(n) % 4 == 3).astype(float), -np.arange(n) / 10
    for declaration in CATALOGUE:
        if declaration.refusal or declaration.name in ("bpref", "pauc", "printed_precision"):
            continue  # those stop at a rank in the middle of the list
        metric = declaration(3) if declaration.cutoff != "no" else declaration()
        gradient = lambda_objective(metric)(labels, scores, None, [n])[0]
        assert (gradient[labels > 0] < 0).all(), metric
