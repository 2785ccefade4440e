"""DORM with correct rankings sorted by score: rounds of the concave-convex procedure."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rankings_by_force import Setting, minimum, permutations
from sklearn.exceptions import ConvergenceWarning
from small_data import Small, graded, tiny

from lambdaplus.baselines.cutting_planes import Solution, solve
from lambdaplus.baselines.oracles import make_loss
from lambdaplus.baselines.oracles.dorm import DORMOracle
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from papers.chakrabarti_2008 import sorted_dorm
from papers.chakrabarti_2008.sorted_dorm import SortedDORM, sorted_by

Floats = NDArray[np.float64]


def decay(n: int) -> Floats:
    return 1 / np.log2(2.0 + np.arange(n))


@cache
def queries(data: Small) -> list[tuple[Floats, Floats, Floats, Floats]]:
    """Of queries of two classes: features, labels, and for each ranking the loss and Psi."""
    found = []
    for rows in np.split(np.arange(data.n), np.cumsum(data.sizes)[:-1]):
        if len(set(data.labels[rows])) == 1:
            continue
        X, y, order = data.features[rows], data.labels[rows], permutations(rows.size)
        psi = np.einsum("r,prf->pf", decay(rows.size), X[order])
        found.append((X, y, Setting("ndcg").losses(y, order), psi))
    return found


def correct(X: Floats, y: Floats, w: Floats) -> Floats:
    """Psi of the ranking by label, then by score."""
    return decay(y.size) @ X[np.lexsort([-X @ w, -y])]


def rounds(data: Small, C: float, n: int) -> Floats:
    """Pseudocode of the concave-convex procedure, each convex problem by SLSQP."""
    w = np.zeros(data.features.shape[1])
    for X, y, _, _ in queries(data):
        same = [decay(y.size)[np.sort(-y) == -label].mean() for label in y]
        w += (np.array(same) - decay(y.size).mean()) @ X
    for _ in range(n):
        planes = [(loss, psi - correct(X, y, w)) for X, y, loss, psi in queries(data)]
        w = minimum(planes, C / len(data.sizes), w)
    return w


def objective(data: Small, w: Floats, C: float) -> float:
    """Convex less convex, over all rankings."""
    hinges = [np.max(loss + psi @ w) - correct(X, y, w) @ w for X, y, loss, psi in queries(data)]
    return float(w @ w / 2 + C * np.sum(hinges) / len(data.sizes))


@pytest.mark.parametrize("C", [10.0, 300.0])
def test_rounds_are_those_of_the_procedure(C: float) -> None:
    data = tiny()
    model = SortedDORM(C=C, tol=1e-7).fit(*data.ranking)
    expected = rounds(data, C, 12)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(model.coef_, expected, atol=2e-3 * np.abs(expected).max())
    value = objective(data, model.coef_, C)
    assert value <= model.primal_ + 1e-9
    assert value == pytest.approx(model.primal_, rel=1e-5)
    assert value == pytest.approx(objective(data, expected, C), rel=1e-5)
    assert model.relative_gap_ <= 1e-7


def test_correct_rankings_of_grades_follow_the_scores_and_share_ties() -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        n = int(random.integers(2, 6))
        y, scores = random.integers(0, 3, n).astype(float), random.integers(0, 2, n).astype(float)
        order = permutations(n)
        keys = [list(zip(-y[o], -scores[o], strict=True)) for o in order]
        right = order[[key == sorted(key) for key in keys]]
        mean = np.mean([decay(n)[np.argsort(o)] for o in right], axis=0)
        oracle = make_loss(parse_metric("ndcg"), Queries(y, group=[n]), "dorm").oracle
        assert isinstance(oracle, DORMOracle)
        np.testing.assert_allclose(sorted_by(scores, oracle).ideal, mean, atol=1e-12)


def test_the_best_round_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped by epsilon, the last round may raise the objective, and does in some of these."""
    rounds_w: list[Floats] = []

    def noted(*arguments: Any) -> Solution:
        solution = solve(*arguments)
        rounds_w.append(solution.w)
        return solution

    monkeypatch.setattr(sorted_dorm, "solve", noted)
    raised = 0
    for seed in range(4):
        data = tiny(seed)
        for C in (3.0, 30.0, 300.0):
            model = SortedDORM(C=C, epsilon=0.1)
            rounds_w.clear()
            model.fit(*data.ranking)
            values = [objective(data, w, C) for w in rounds_w]
            assert objective(data, model.coef_, C) == pytest.approx(min(values), rel=1e-9)
            raised += values[-1] > min(values) * (1 + 1e-6)
    assert raised


def test_too_few_passes_warn() -> None:
    model = SortedDORM(C=100.0, max_passes=3)
    with pytest.warns(ConvergenceWarning, match="3 passes.*: increase max_passes"):
        model.fit(*graded().ranking)
    assert model.n_passes_ == 3
    assert model.relative_gap_ > 1e-3


@pytest.mark.filterwarnings("ignore:w = 0 is optimal|the duality gap is still|training did not end")
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_no_lower_bound_is_above_its_objective(seed: int) -> None:
    data = graded(12, seed)
    size = 10.0 ** np.random.default_rng(seed).integers(-2, 2)
    for C, epsilon in itertools.product((0.1, 10.0, 1e4), (None, 0.1)):
        model = SortedDORM(C=C, epsilon=epsilon, max_passes=40)
        model.fit(size * data.features, data.binary, data.qid)
        assert model.primal_ - model.dual_ >= -1e-12 * model.primal_, (model, size)
