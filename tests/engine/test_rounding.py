"""Long lists by rounded scores: errors against the exact gradient, and what must not matter."""

from typing import Any

import numpy as np
import pytest
from drawn_queries import weights_of
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from test_gradients import MANY_LABELS

from lambdaplus import gradients
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.metrics import CATALOGUE
from lambdaplus.ranking import cells, rounding

Floats = NDArray[np.float64]

# Of the largest gradient, and of the mean absolute one: what research/mathematics/sweep.md states.
LARGEST, MEAN = 4e-3, 2e-4
N = 20_000
WITHOUT_LIMIT = 10**9
NOTHING = 1e-100  # the sweep's guard against denormal numbers, where a list is in order

random = np.random.default_rng(0)
RARE = (random.random(N) < 0.02).astype(float)


def spread(kind: str, labels: Floats) -> Floats:
    draw = np.random.default_rng(1)
    scores = draw.normal(size=labels.size) + 0.5 * labels
    if kind == "heavy tails":
        scores = draw.standard_t(1.5, size=labels.size) + 0.5 * labels
    if kind.startswith("outliers"):
        scores[:3] = float(kind.split()[-1]) * np.array([1.0, -0.5, 0.1])
    if kind == "few distinct":
        scores = np.round(8 * scores) / 8
    if kind == "two leaves":
        scores = np.where(scores > 1, 0.1, -0.1)
    if kind == "far apart":
        scores *= 1e3
    if kind == "close":
        scores *= 1e-200
    if kind.startswith("cluster"):  # so many percent of the rows
        inside = draw.random(labels.size) < float(kind.split()[-1]) / 100
        scores[inside] = 0.3 + 1e-8 * scores[inside]
    if kind == "exponential":
        scores = np.exp(20 * scores)
    return scores


KINDS = (
    "normal", "heavy tails", "outliers 1e3", "outliers 1e6", "outliers 1e200", "few distinct",
    "two leaves", "far apart", "close", "cluster .35", "cluster 5", "cluster 24", "exponential",
)  # fmt: skip


@pytest.fixture(autouse=True)
def short_lists_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(THRESHOLDS, "long_list", 5_000)
    monkeypatch.setattr(THRESHOLDS, "long_list_of_labels", 5_000)


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`gradients` without rounding."""

    def not_rounded(labels: Floats, scores: Floats, **given: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(THRESHOLDS, "long_list", WITHOUT_LIMIT)
            return gradients(labels, scores, **given)

    return not_rounded


def assert_near(found: Any, exact: Any, largest: float, mean: float) -> None:
    for ours, right in zip(found, exact, strict=True):
        error = np.abs(ours - right)
        assert error.max() <= largest * np.abs(right).max() + NOTHING
        assert error.mean() <= mean * np.abs(right).mean() + NOTHING
        assert np.abs(right).max() > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["auc", "auc equal", "map"])
@pytest.mark.parametrize("normalize", [False, True])
def test_rounding_hardly_changes_the_gradient(
    metric: str, kind: str, normalize: bool, exactly: Any
) -> None:
    """And the gradient of few distinct scores, which are not rounded, not at all."""
    given = {**weights_of(metric), "normalize": normalize}
    scores = spread(kind, RARE)
    found, exact = gradients(RARE, scores, **given), exactly(RARE, scores, **given)
    # A thousand units apart, few pairs are within the reach of the logistic function's slope.
    near = slice(0, 1) if kind in ("far apart", "exponential") else slice(None)
    not_rounded = kind in ("few distinct", "two leaves")
    assert_near(found[near], exact[near], *((1e-9, 1e-9) if not_rounded else (LARGEST, MEAN)))
    assert abs(found[0].sum()) <= 1e-7 * np.abs(found[0]).sum()
    assert found[1].min() >= 0
    if normalize:
        of_log_loss = np.abs(RARE - RARE.mean()).sum()
        assert np.abs(found[0]).sum() == pytest.approx(of_log_loss, rel=1e-12)


@pytest.mark.parametrize("metric", ["auc", "map"])
@pytest.mark.parametrize("positive", [0.02, 0.5])
@pytest.mark.parametrize(
    ("kind", "largest"),
    [("cluster 35", 0.15), ("cluster 50", 0.15), ("cluster 90", 0.15),
     ("pareto 0.5", 1e-2), ("pareto 1", 1e-2), ("pareto -0.5", 1e-2), ("pareto -1", 1e-2)],
)  # fmt: skip
def test_hostile_lists_are_within_the_wider_bounds_of_the_page(
    metric: str, positive: float, kind: str, largest: float, exactly: Any
) -> None:
    draw = np.random.default_rng(4)
    labels = (draw.random(N) < positive).astype(float)
    shape, number = kind.split()[0], float(kind.split()[1])
    if shape == "cluster":
        inside = draw.random(N) < number / 100
        scores = draw.normal(size=N) * np.where(inside, 1e-8, 1e3)
    else:
        scores = np.sign(number) * draw.pareto(abs(number), N) + 0.3 * labels
    found = gradients(labels, scores, metric=metric)[:1]
    assert_near(found, exactly(labels, scores, metric=metric)[:1], largest, 1e-3)


@pytest.mark.parametrize("metric", CATALOGUE, ids=str)
def test_every_metric_has_its_gradient_in_a_long_query_among_short_ones(
    metric: Any, exactly: Any
) -> None:
    metric = metric(10) if metric.cutoff == "required" else metric()
    n, group = 6_000, [20, 6_000, 30]
    draw = np.random.default_rng(2)
    labels = np.minimum(draw.geometric(0.5, sum(group)) - 1.0, 4.0)
    scores = draw.normal(size=labels.size) + 0.3 * labels
    weight = draw.uniform(0.5, 2, labels.size)
    given = {"metric": metric, "group": group, "weight": weight}
    found, exact = gradients(labels, scores, **given), exactly(labels, scores, **given)
    short = np.r_[0:20, 20 + n : 50 + n]
    assert_array_equal([part[short] for part in found], [part[short] for part in exact])
    # The first ranks of 6,000 decide some of these metrics.
    long = slice(20, 20 + n)
    assert_near([p[long] for p in found], [p[long] for p in exact], 2 * LARGEST, 10 * MEAN)


def weights(heavy: float = 0.0) -> Floats:
    """Of many sizes, or about 1 but for 50 rows that hide the others in a sum."""
    if not heavy:
        return np.random.default_rng(5).choice([0.0, 0.01, 1.0, 3.5, 100.0], N)
    return np.append(np.full(50, heavy), np.random.default_rng(6).uniform(0.5, 2, N - 50))


@pytest.mark.parametrize("metric", ["auc", "map"])
@pytest.mark.parametrize(
    ("given", "largest", "mean"),
    [
        # The rows of an entry have its mean weight.
        *(({"weight": weights(heavy)}, 10, 60) for heavy in (0.0, 1e3, 1e15, 1e30)),
    ],
)
def test_weighted_gradients_are_near(
    metric: str, given: Any, largest: int, mean: int, exactly: Any
) -> None:
    scores, light = spread("normal", RARE), given.get("weight", np.ones(N)) < 1e3
    found, exact = (
        [part[light] for part in gradient(RARE, scores, metric=metric, **given)]
        for gradient in (gradients, exactly)
    )
    assert_near(found, exact, largest * LARGEST, mean * MEAN)


def test_lists_of_many_classes_that_have_no_tree_are_not_rounded(exactly: Any) -> None:
    """The gains of MAUC do not rise with the label."""
    labels = np.sqrt(np.arange(N) % (rounding.MOST_CLASSES + 1.0) ** 2).round()
    scores = spread("normal", labels)
    given = {"metric": "mauc", "one_group": True}
    assert_array_equal(gradients(labels, scores, **given), exactly(labels, scores, **given))


@pytest.mark.parametrize("kind", KINDS)
def test_no_score_is_rounded_further_than_a_cell(kind: str) -> None:
    """And scores of equal cells are neighbours: rounding keeps the order."""
    scores = spread(kind, RARE)
    rounded = rounding.round_scores(scores, RARE.astype(np.int32), 2, None)
    found, same = np.empty((2, N))
    rounded.write_rows(rounded.entries.score, rounded.entries.score, None, found, same)
    assert_array_equal(found, same)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    part = (scores.max() / 2 - scores.min() / 2) / (cells.COARSE - 1) * 2
    assert np.abs(found - scores).max() <= part
    assert rounded.entries.size.sum() == N
    assert (np.diff(rounded.entries.score) <= 0).all()


@pytest.mark.parametrize(
    "kind", ["normal", "heavy tails", "few distinct", "two leaves", "cluster 5"]
)
@pytest.mark.parametrize("labels", ["as many as documents", "heavy tails", "mostly zero", "forty"])
@pytest.mark.parametrize("metric", ["ndcg(gain=linear)", "concordance equal"])
def test_rounding_hardly_changes_the_gradient_of_many_labels(
    metric: str, labels: str, kind: str, exactly: Any
) -> None:
    """Joined cells have errors of their own: those of equal weights are largest at the ends."""
    y = MANY_LABELS[labels](np.random.default_rng(3), N)
    scores = spread(kind, y / (1 + y))
    given = {**weights_of(metric), "group": [N]}
    found, exact = gradients(y, scores, **given), exactly(y, scores, **given)
    assert_near(found[:1], exact[:1], LARGEST, 1e-3)
    assert_near(found[1:], exact[1:], 2e-2, 1e-3)
