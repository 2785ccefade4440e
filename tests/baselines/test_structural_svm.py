"""The structural SVM's solver: certificate, reference algorithm, path, warnings, combination."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from rankings_by_force import Setting, minimum
from sklearn.exceptions import ConvergenceWarning
from small_data import Small, graded, tiny

from lambdaplus.baselines import StructuralSVM, SVMCombo
from lambdaplus.baselines.oracles import Loss
from lambdaplus.data import RankingData, digits_queries
from papers.algorithm_1 import algorithm_1

MODELS: dict[str, dict[str, Any]] = {
    "auc": {"loss": "auc"},
    "auc-unscaled": {"loss": "auc", "pair_scale": False},
    "map": {"loss": "map"},
    "ndcg": {"loss": "ndcg"},
    "ndcg@10": {"loss": "ndcg@10"},
    "mrr": {"loss": "mrr", "feature_map": "mrr"},
    "mrr-po": {"loss": "mrr"},
    "dorm": {"loss": "ndcg", "feature_map": "dorm"},
    "dorm@10": {"loss": "ndcg@10", "feature_map": "dorm", "decay": 10},
}
MAY_BE_ZERO = pytest.mark.filterwarnings("ignore:w = 0 is optimal")


@cache
def constraints(setting: Setting, data: Small) -> list[tuple[np.ndarray, np.ndarray]]:
    """Loss and feature vector of every ranking of each query."""
    found = []
    for rows in np.split(np.arange(data.n), np.cumsum(data.sizes)[:-1]):
        losses, coefficients = setting.constraints(data.labels[rows])
        found.append((losses, coefficients @ data.features[rows]))
    return found


def objective(blocks: list[Any], price: float, w: np.ndarray) -> float:
    """P(w): the hinges of blocks are the largest values of the losses and features of each."""
    return float(w @ w / 2 + price * sum(np.max(loss + psi @ w) for loss, psi in blocks))


def lowest(blocks: list[Any], price: float, d: int) -> float:
    """The minimum of the objective: cutting planes over all rankings, by SLSQP."""
    w, found, working = np.zeros(d), np.inf, [[(0.0, np.zeros(d))] for _ in blocks]
    while True:
        found = min(found, objective(blocks, price, w))
        added = False
        for (loss, psi), mine in zip(blocks, working, strict=True):
            worst = int((loss + psi @ w).argmax())
            if loss[worst] + psi[worst] @ w > max(b + a @ w for b, a in mine) + 1e-7:
                mine.append((loss[worst], psi[worst]))
                added = True
        if not added:
            return found
        planes = [(np.array([b for b, _ in m]), np.array([a for _, a in m])) for m in working]
        w = minimum(planes, price, w)


def assert_minimises(model: Any, blocks: list[Any], price: float) -> None:
    """Its primal is the objective by enumeration, and the minimum that another solver finds."""
    assert 0 <= model.primal_ - model.dual_ <= 1e-7 * model.primal_
    assert model.primal_ == pytest.approx(objective(blocks, price, model.coef_), rel=1e-9)
    assert model.primal_ == pytest.approx(lowest(blocks, price, model.coef_.size), rel=1e-5)


@MAY_BE_ZERO
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_loss_is_minimised(name: str, C: float) -> None:
    data = tiny()
    options = {**MODELS[name]}
    loss, at, _ = options["loss"].partition("@")
    if at:  # queries are short
        options["loss"] = f"{loss}@2"
    if "decay" in options:
        options["decay"] = 2
    setting = Setting(**options | {"loss": loss, "cutoff": 2 if at else None})
    model = StructuralSVM(**options, C=C, tol=1e-7).fit(*data.ranking)
    assert_minimises(model, constraints(setting, data), C / len(data.sizes))
    assert model.slack_ == pytest.approx((model.primal_ - model.coef_ @ model.coef_ / 2) / C)


@pytest.mark.parametrize("epsilon", [0.01, 0.2])
@pytest.mark.parametrize("in_turn", [False, True])
def test_epsilon_stops_as_the_pseudocode_does(epsilon: float, in_turn: bool) -> None:
    """Yue et al. 2007, algorithm 1: a quadratic program after all queries, or after each one."""
    data, C = tiny(), 20.0
    every = [(loss, psi) for loss, psi in constraints(Setting("map"), data) if len(loss) > 1]
    w, working = np.zeros(3), [[np.zeros(4)] for _ in every]

    def solved() -> np.ndarray:
        planes = [(np.array(mine)[:, 0], np.array(mine)[:, 1:]) for mine in working]
        return minimum(planes, C / len(data.sizes), w)

    while True:
        added = False
        for (loss, psi), mine in zip(every, working, strict=True):
            slack = max(plane[0] + plane[1:] @ w for plane in mine)
            value = loss + psi @ w
            worst = int(value.argmax())
            if value[worst] > slack + epsilon:
                mine.append(np.append(loss[worst], psi[worst]))
                added = True
                w = solved() if in_turn else w
        if not added:
            break
        w = solved()
    if in_turn:
        trained = algorithm_1(RankingData(*data.ranking), C, epsilon, loss="map")
        np.testing.assert_allclose(trained.w, w, atol=1e-3 * np.abs(w).max())
        assert trained.n_constraints == sum(map(len, working)) - len(working)
        return
    model = StructuralSVM("map", C=C, tol=1e-9, epsilon=epsilon).fit(*data.ranking)
    np.testing.assert_allclose(model.coef_, w, atol=1e-4 * np.abs(w).max())
    assert model.primal_ == pytest.approx(objective(every, C / len(data.sizes), w), rel=1e-4)
    assert model.primal_ - model.dual_ <= C * epsilon + 1e-6


def test_zero_may_be_optimal_up_to_the_tolerance_only() -> None:
    """The warning says so, and a smaller tolerance finds what is better."""
    data = graded(30)
    model = StructuralSVM("mrr", "mrr", C=0.05, tol=0.05)
    with pytest.warns(UserWarning, match=r"w = 0 is optimal up to 4.8e-02 .*: try a smaller tol"):
        assert not model.fit(*data.ranking).coef_.any()
    assert model.set_params(tol=1e-6).fit(*data.ranking).coef_.any()


def test_too_few_passes_warn() -> None:
    model = StructuralSVM("auc", C=100.0, max_passes=3)
    with pytest.warns(ConvergenceWarning, match="3 passes.*: increase max_passes"):
        model.fit(*graded().ranking)
    assert model.n_passes_ == 3
    assert model.relative_gap_ > 1e-3


def test_more_features_than_rows() -> None:
    """The bounds hold by enumeration, and a large C does not keep them apart."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 24).astype(float)
    labels[::4], labels[1::4] = 0, 1
    data = Small(random.normal(size=(24, 90)), labels, np.full(6, 4))
    for C in (1.0, 1e4):
        model = StructuralSVM("map", C=C, tol=1e-6).fit(*data.ranking)
        assert model.coef_.shape == (90,)
        assert model.relative_gap_ <= 1e-6
        enumerated = objective(constraints(Setting("map"), data), C / 6, model.coef_)
        assert model.primal_ == pytest.approx(enumerated, rel=1e-9)


COMBINED = [Setting("map"), Setting("mrr", "mrr"), Setting("ndcg", cutoff=2), Setting("auc")]


def combination(data: Small, chosen: list[Setting], scaled: bool) -> list[list[Any]]:
    """Of each query and loss: losses and feature vectors of all rankings, maps of one size."""

    def size(setting: Setting) -> float:
        """Absolute coefficients of the worst rankings, of equals those nearest to the right one."""
        total = 0.0
        for labels in np.split(data.labels, np.cumsum(data.sizes)[:-1]):
            losses, features = setting.constraints(labels)
            total += np.abs(features[losses > losses.max() - 1e-12]).sum(axis=1).min()
        return total

    scales = [size(chosen[0]) / size(setting) if scaled else 1.0 for setting in chosen]
    return [
        [(loss, scale * psi) for (loss, psi), scale in zip(query, scales, strict=True)]
        for query in zip(*(constraints(setting, data) for setting in chosen), strict=True)
    ]


@MAY_BE_ZERO
@pytest.mark.parametrize("slack", ["shared", "separate"])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_combination_minimises_the_greatest_or_the_sum(slack: str, scaled: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    data, C = tiny(seed), float(random.choice([0.3, 5.0, 100.0]))
    names = ["map", "mrr", "ndcg@2", "auc"]
    mine = random.permutation(4)[: 2 + seed % 2].tolist()
    model = SVMCombo([names[i] for i in mine], slack=slack, C=C, tol=1e-7, scale_maps=scaled)
    model.fit(*data.ranking)
    queries = combination(data, [COMBINED[i] for i in mine], scaled)
    if slack == "separate":
        blocks = [block for query in queries for block in query]
    else:
        blocks = [tuple(np.concatenate(each) for each in zip(*q, strict=True)) for q in queries]
    assert_minimises(model, blocks, C / len(data.sizes))


PAIRS = [["map", "mrr"], ["mrr", "ndcg@10"], ["map", "mrr", "ndcg"], ["auc", "mrr"]]


@pytest.mark.filterwarnings("ignore:w = 0 is optimal|the duality gap is still|training did not end")
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_no_lower_bound_is_above_its_objective(seed: int) -> None:
    """For every structural SVM, in every pass and however it stops."""
    data = graded(12, seed)
    size = 10.0 ** np.random.default_rng(seed).integers(-2, 2)
    arguments = size * data.features, data.binary, data.qid
    models: list[Any] = [StructuralSVM(**options) for options in MODELS.values()]
    for losses, slack in zip(PAIRS, ("shared", "separate") * 2, strict=True):
        models += [SVMCombo(losses, slack, scale_maps=scaled) for scaled in (True, False)]
    for model, C, epsilon in itertools.product(models, (0.1, 10.0, 1e4), (None, 0.1)):
        model.set_params(C=C, epsilon=epsilon, max_passes=40).fit(*arguments)
        assert model.primal_ - model.dual_ >= -1e-12 * model.primal_, (model, size)
        bounds = [step.dual for step in model.history_]
        assert max(bounds) <= model.dual_ <= model.primal_ * (1 + 1e-12)


def test_a_bound_above_the_objective_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle that looks for the worst ranking at other scores than those of the constraint."""

    def wrong(loss: Loss, ranking: Any) -> Any:
        worst = loss.oracle(ranking)
        return worst._replace(coefficient=loss.scale * worst.coefficient)

    train = digits_queries()[0].train
    model = SVMCombo(C=1000.0).fit(train.features, train.labels, train.qid)
    assert 0 <= model.relative_gap_ <= 1e-3
    monkeypatch.setattr(Loss, "worst", wrong)
    with pytest.warns(ConvergenceWarning, match="the lower bound is above the objective"):
        model.fit(train.features, train.labels, train.qid)
