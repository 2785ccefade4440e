"""What an objective trains if it is not told: shown by its repr, and equal to its long form."""

import pydoc

import brute_force
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lambdaplus
from lambdaplus import lambda_objective, parse_metric
from lambdaplus.metrics import CATALOGUE

GRADES = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 4.0, 0.0, 2.0, 0.0, 1.0]
SCORES = np.random.default_rng(0).permutation(12) / 5.0


@pytest.mark.parametrize(
    ("name", "trained"),
    [
        *((name, name) for name in ("ndcg", "map", "auc")),
        ("ndcg@10", "ndcg"), ("dcg(gain=linear)@3", "dcg(gain=linear)"), ("err@3", "err"),
        ("map(relevant=2)@5", "map(relevant=2)"), ("mrr", "arhr"), ("mrr@5", "arhr"),
        ("mrr(relevant=2)", "arhr(relevant=2)"), ("success@1", "arhr"), ("p@5", "map"),
        ("recall(relevant=2)@5", "map(relevant=2)"), ("rprec", "map"), ("top_precision", "map"),
    ],
)  # fmt: skip
def test_where_few_pairs_change_a_metric_another_one_weighs_them(name: str, trained: str) -> None:
    found = lambda_objective(name)
    assert str(found.surrogate) == trained
    assert (f"surrogate={trained!r}" in repr(found)) == (trained != str(found.metric))
    assert eval(repr(found), {"lambda_objective": lambda_objective}) == found
    stands_in = parse_metric(trained).declaration != found.metric.declaration
    assert found.__name__ == f"lambda_{name}" + stands_in * f"(surrogate={trained})"
    explicit = lambda_objective(trained, surrogate=trained)
    arguments = GRADES, SCORES, None, [12]
    assert_array_equal(found(*arguments), explicit(*arguments))


@pytest.mark.parametrize("name", ["ndcg@3", "mrr", "p@3", "rprec"])
def test_the_metric_itself_can_be_asked_for(name: str) -> None:
    arguments = GRADES, SCORES, None, [12]
    own = lambda_objective(name, surrogate=name)
    assert own.surrogate == own.metric
    assert np.abs(own(*arguments)[0] - lambda_objective(name)(*arguments)[0]).max() > 0.01


@pytest.mark.parametrize("name", ["auc", "mauc", "map", "mrr", "ndcg"])
def test_a_name_has_the_gradient_of_its_own_metric(name: str) -> None:
    """In a query, that of the swap deltas of the metric, or of the one that its repr names."""
    objective = getattr(lambdaplus, f"lambda_{name}")
    labels = [min(grade, 1.0) for grade in GRADES] if name in ("auc", "map", "mrr") else GRADES
    expected, hessian, S = brute_force.lambda_gradients(objective.surrogate, labels, SCORES)
    found = objective(labels, SCORES, None, [12])
    scale = np.log2(1 + S) / S
    # What is promised, of the largest of the query.
    assert_allclose(found[0], scale * expected, rtol=0, atol=1e-6 * abs(scale * expected).max())
    assert_allclose(found[1], scale * hessian, rtol=0, atol=1e-5 * (scale * hessian).max())
    assert objective.surrogate.declaration.name == {"mrr": "arhr"}.get(name, name)


def test_help_of_an_objective_names_its_metric_and_what_stands_in() -> None:
    text = pydoc.render_doc(lambdaplus.lambda_mrr, renderer=pydoc.plaintext)
    for words in ("lambda_objective('mrr', surrogate='arhr')", "Mean reciprocal rank", "arhr if"):
        assert words in text
    assert "arhr stands in for mrr" in " ".join(text.split())
    assert "Mean average precision" in (lambdaplus.lambda_map.__doc__ or "")
    of_tables = " ".join((lambdaplus.lambda_auc.__doc__ or "").split())
    assert "Of data without queries, it is combine({lambda_objective('auc'): 0.5, Log" in of_tables
    assert "without queries, it" not in (lambda_objective("auc", pairs="equal").__doc__ or "")


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
