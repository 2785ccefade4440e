"""What must not change a gradient, to the last bit: the order of rows, threads and other queries.

And weights only multiply the rows of queries.  Each test is for another way to a gradient.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drawn_queries import by_default, kinds, weights_of
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from test_gradients import MANY_LABELS, each_pooled, many_labels, random_query
from test_rounding import RARE, N, spread
from textbook_metrics import DECLARED

from lambdaplus import gradients, lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.compute.thresholds import THRESHOLDS

Floats = NDArray[np.float64]
Gradient = Callable[..., Any]

KINDS = [by_default(declaration) for declaration in kinds(DECLARED)]
KINDS += [declaration(5) for declaration in kinds(DECLARED) if declaration.cutoff == "optional"]
each_kind = pytest.mark.parametrize("metric", KINDS, ids=str)


def data_set(n_queries: int, longest: int) -> tuple[Floats, Floats, Any]:
    """Labels, scores and sizes of queries; in some of them many scores are tied."""
    random = np.random.default_rng(0)
    group = random.integers(1, longest, n_queries)
    labels, scores = random_query(0, group.sum(), 1.0)
    tied = np.repeat(random.random(n_queries) < 0.3, group)
    return labels, np.where(tied, np.round(scores), scores), group


def assert_invariant(
    gradient: Gradient, labels: Floats, scores: Floats, group: Any = None, weight: Any = None
) -> None:
    """The arguments of the gradient are labels, scores, weights and sizes of queries."""
    random = np.random.default_rng(1)
    queries = np.split(np.arange(labels.size), np.cumsum([] if group is None else group)[:-1])
    order = np.concatenate([random.permutation(rows) for rows in queries])
    with limit_threads(1):
        expected = np.array(gradient(labels, scores, weight, group))
    assert np.abs(expected[0]).max() > 0
    assert np.isfinite(expected).all()
    with limit_threads(2):
        assert_array_equal(gradient(labels, scores, weight, group), expected)
    with limit_threads(3):
        moved = weight if weight is None else weight[order]
        found = gradient(labels[order], scores[order], moved, group)
        assert_array_equal(found, expected[:, order])
    for rows in queries[:25] if group is not None else ():
        alone = np.array(gradient(labels[rows], scores[rows], None, [rows.size]))
        assert_array_equal(alone if weight is None else alone * weight[rows], expected[:, rows])


def of(metric: Any, **options: Any) -> Gradient:
    given = {**weights_of(metric), **options}
    return lambda labels, scores, weight, group: gradients(
        labels, scores, weight=weight, group=group, **given
    )


@each_kind
@pytest.mark.parametrize("options", [{}, {"normalize": True}], ids=str)
def test_gradients_of_queries(metric: Any, options: dict[str, Any]) -> None:
    labels, scores, group = data_set(700, 130)
    assert len(labels) > 40_000  # which is worth two threads
    weight = np.random.default_rng(4).choice([0.0, 0.3, 1.0, 7.0], len(labels))
    assert_invariant(of(metric, **options), labels, scores, group, weight)


@each_pooled
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [None, 3])
@pytest.mark.parametrize("normalize", [False, True])
def test_gradients_without_queries(
    weights: Any, weighted: bool, ties: Any, normalize: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(THRESHOLDS, "rows_per_thread", 100)
    labels, scores = random_query(2, 700, 1.0, ties)
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.3], 700) if weighted else None
    assert_invariant(of(weights, normalize=normalize), labels, scores, None, weight)


def test_long_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(THRESHOLDS, "long_sweep", 300)
    sizes = [500, 40, 700, 299]
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 4, sum(sizes)), random.normal(size=sum(sizes))
    for name in ("map", "ndcg@10", "err"):  # two classes, several, and lists of two of several
        assert_invariant(lambda_objective(name), labels, scores, sizes)


def test_the_tree_of_many_labels() -> None:
    labels, scores = many_labels("as many as documents", 30_000, 0, 1000)
    assert_invariant(of("ndcg"), labels, scores, [labels.size])


@pytest.fixture
def rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of a list of N rows are rounded, on several threads."""
    monkeypatch.setattr(THRESHOLDS, "long_list", 5_000)
    monkeypatch.setattr(THRESHOLDS, "long_list_of_labels", 5_000)
    monkeypatch.setattr(THRESHOLDS, "rows_per_thread", 1_000)


@pytest.mark.usefixtures("rounded")
@pytest.mark.parametrize("kind", ["heavy tails", "few distinct"])
@pytest.mark.parametrize("metric", ["auc", "auc equal", "map"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rounded_scores_of_two_classes(metric: str, kind: str, weighted: bool) -> None:
    weight = np.random.default_rng(3).uniform(0, 3, N) if weighted else None
    assert_invariant(of(metric, normalize=True), RARE, spread(kind, RARE), None, weight)


@pytest.mark.usefixtures("rounded")
@pytest.mark.parametrize("metric", ["ndcg(gain=linear)", "concordance equal"])
@pytest.mark.parametrize("kind", ["as many as documents", "forty"])
def test_rounded_scores_of_many_labels(metric: str, kind: str) -> None:
    random = np.random.default_rng(4)
    labels = MANY_LABELS[kind](random, N)
    scores = np.where(random.random(N) < 0.2, 0.5, random.normal(size=N))
    both, group = (np.append(values, values[:9]) for values in (labels, scores)), [N, 9]
    weight = random.choice([0.0, 0.3, 1.0, 7.0], N + 9)
    assert_invariant(of(metric, normalize=True), *both, group, weight)


@each_kind
def test_default_options(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(THRESHOLDS, "rows_per_thread", 50)
    monkeypatch.setattr(THRESHOLDS, "batch", 100)
    labels, scores, group = data_set(40, 25)
    objective = lambda_objective(metric, surrogate=metric)
    for each in (scores, np.round(scores), np.zeros(labels.size)):
        assert_invariant(objective, labels, each, group)
        assert objective(labels, each, None, group)[1].min() >= 0
