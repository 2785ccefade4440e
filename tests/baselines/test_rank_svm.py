"""RankSVM against all pairs written out, and against an exact solver."""

from typing import Any

import numpy as np
import pytest
from baseline_data import all_pairs, rankings
from hypothesis import given
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from small_data import Small, graded

from lambdaplus.baselines import RankSVM
from lambdaplus.baselines.preference_pairs import preference_pairs
from lambdaplus.baselines.rank_svm import PrimalObjective
from lambdaplus.lists.queries import Queries

Array = NDArray[Any]


def explicit(data: Small) -> tuple[Array, Array]:
    """Differences of all pairs, and their weights."""
    pairs = all_pairs(data.labels, data.qid)
    return data.features[pairs.high] - data.features[pairs.low], pairs.rate


def exact_minimiser(differences: Array, weight: Array) -> Array:
    """By Newton steps with the Hessian of all pairs, to the last digits."""

    def active(w: Array) -> Array:
        return weight * (differences @ w < 1.0)

    return minimize(
        lambda w: objective_of(w, differences, weight),
        np.zeros(differences.shape[1]),
        jac=lambda w: w - 2.0 * (active(w) * (1.0 - differences @ w)) @ differences,
        hess=lambda w: np.eye(w.size) + 2.0 * (active(w) * differences.T) @ differences,
        method="trust-exact",
        options={"gtol": 1e-11},
    ).x


def objective_of(w: Array, differences: Array, weight: Array) -> float:
    return 0.5 * w @ w + weight @ np.maximum(0.0, 1.0 - differences @ w) ** 2


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("labels", ["grades", "all different"])
def test_minimiser_is_the_exact_one(C: float, labels: str) -> None:
    data, random = graded(6), np.random.default_rng(0)
    if labels == "all different":
        data = Small(random.normal(size=(40, 3)), random.normal(size=40), np.array([25, 15]))
    differences, weight = explicit(data)
    model = RankSVM(C, tol=1e-14).fit(*data.ranking)
    exact = exact_minimiser(differences, C * weight)
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())
    assert model.objective_ == pytest.approx(objective_of(exact, differences, C * weight), rel=1e-6)
    # What it says of itself: the minimiser is within the gradient's norm, the minimum the gap.
    rounding = 1e-9
    assert np.linalg.norm(model.coef_ - exact) <= model.gradient_norm_ + rounding
    assert model.gap_ <= 1e-14 * model.objective_


@given(rankings(integers=True))
def test_value_gradient_hessian_and_duality_gap_are_those_of_all_pairs(data: Small) -> None:
    queries = Queries(data.labels, group=data.sizes)
    differences, weight = explicit(data)
    found = PrimalObjective(data.features, queries, 3.0 * preference_pairs(queries).rate)
    near = {"rtol": 1e-10, "atol": 1e-10}
    random = np.random.default_rng(0)
    direction = random.normal(size=3)
    # Quarters make margins of exactly 1 likely, where the Hessian jumps and only it may differ.
    for w in (random.integers(-8, 9, 3) / 4.0, random.normal(size=3)):
        point = found.at(w)
        slack = np.maximum(0.0, 1.0 - differences @ w)
        assert point.value == pytest.approx(objective_of(w, differences, 3.0 * weight), rel=1e-10)
        np.testing.assert_allclose(point.gradient, w - 6.0 * (weight * slack) @ differences, **near)
        alpha = 6.0 * weight * slack
        dual = alpha.sum() - alpha @ slack / 2 - np.sum((alpha @ differences) ** 2) / 2
        assert point.gap == pytest.approx(point.value - dual, rel=1e-9, abs=1e-9)
    active = 3.0 * weight * (slack > 0)
    np.testing.assert_allclose(
        found.hessian_times(point, direction),
        direction + 2 * (active * (differences @ direction)) @ differences,
        **near,
    )


def test_what_all_documents_of_a_query_share_does_not_count() -> None:
    """Nor may it cost digits: 1e9 swallows the tenth digit of what is added to it."""
    data = graded(20)
    offset = 2.0**30 * np.random.default_rng(0).integers(-2, 3, (20, 5))[data.qid]
    features = np.round(data.features * 2**20) / 2**20  # so that adding the offset is exact
    plain = RankSVM(tol=1e-13).fit(features, data.labels, qid=data.qid)
    moved = RankSVM(tol=1e-13).fit(features + offset, data.labels, qid=data.qid)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-6)


def test_says_so_when_it_stops_early() -> None:
    data = graded(20)
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps"):
        model = RankSVM(1e4, max_iter=1).fit(*data.ranking)
    assert model.gap_ > 1e-8 * model.objective_
