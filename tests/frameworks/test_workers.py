"""XGBoost on two and three worker processes: gradients and metrics are those of one machine."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import GRADED, Small, same_gradient

import lambdaplus as lp
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.objectives.position_bias import PositionBias

pytest.importorskip("xgboost", minversion="2.1")

import worker_processes as workers
from worker_processes import Group, worker_group

pytestmark = [
    pytest.mark.slow,  # they start processes
    pytest.mark.filterwarnings("ignore:.*Empty dataset at worker:UserWarning"),
]

N = 2_000


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    with worker_group() as found:
        yield found


@pytest.fixture
def rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One machine rounds scores of any number of rows, as several do."""
    monkeypatch.setattr(THRESHOLDS, "long_list", 1)


class Rows:
    """Rows without queries, and how they are distributed to workers."""

    def __init__(self, positives: float = 0.1, weights: bool = False) -> None:
        random = np.random.default_rng(0)
        self.labels = (random.random(N) < positives).astype(float)
        self.scores = (random.normal(size=N) + self.labels).astype(np.float32)
        self.weights = random.gamma(1.0, size=N).astype(np.float32) if weights else None

    def parts(self, layout: str) -> list[dict[str, Any]]:
        order = np.arange(N)
        if layout == "sorted":
            order = np.argsort(self.scores, kind="stable")
        elif layout == "no positives on one":
            order = np.argsort(self.labels, kind="stable")
        cuts = {"three": [500, 1200], "skewed": [5], "empty": [0], "two of three empty": [0, N]}
        pieces = np.split(order, cuts.get(layout, [N // 2]))
        self.order = order
        return [
            {
                "scores": self.scores[rows], "labels": self.labels[rows],
                "weight": None if self.weights is None or not rows.size else self.weights[rows],
                "features": self.scores[rows, None],
            }
            for rows in pieces
        ]  # fmt: skip

    def on_one(self, function: Any) -> Any:
        return function(self.scores, workers.matrix(vars(self) | {"weight": self.weights}))


def joined(answers: list[Any]) -> Any:
    return tuple(np.concatenate(part) for part in zip(*answers, strict=True))


LAYOUTS = ("three", "sorted", "skewed", "empty", "two of three empty", "no positives on one")


# -- gradients without queries -------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_gradient_is_that_of_one_machine(group: Group, layout: str, rounded: None) -> None:
    for weights in (False, True):
        rows = Rows(weights=weights)
        found = joined(group.run(workers.answers, rows.parts(layout), lp.lambda_map))
        for one, other in zip(found, rows.on_one(lp.lambda_map), strict=True):
            if weights:
                assert_allclose(one, other[rows.order], rtol=1e-6)
            else:
                assert_array_equal(one, other[rows.order])


KINDS = (
    "ndcg@50", "mrr", "mauc", "concordance", "spearman", "err", "map + 0.5*auc",
    "logloss + auc, swap", "cindex",
)  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_objective_is_that_of_one_machine(
    group: Group, name: str, rounded: None
) -> None:
    rows = Rows()
    if name in ("ndcg@50", "mauc", "concordance", "spearman", "err"):
        rows.labels = np.minimum(np.random.default_rng(2).geometric(0.5, N) - 1.0, 4.0)
    elif name == "cindex":  # other times on each worker
        event = np.random.default_rng(2).random(N) < 0.5
        rows.labels = (1.0 + np.arange(N) // 400) * np.where(event, 1, -1)
    name, *pairs = name.split(", ")
    options = {"pairs": pairs[0]} if pairs else {}
    objective = lp.lambda_objective(name, one_group=True, **options)
    for scores in (rows.scores, np.zeros(N, np.float32)):  # as in the first round
        rows.scores = scores
        found = joined(group.run(workers.answers, rows.parts("three"), objective))
        assert same_gradient(found, rows.on_one(objective))


def test_a_metric_of_all_rows_ignores_queries(group: Group, rounded: None) -> None:
    rows = Rows()
    over = lp.lambda_objective("auc(over=dataset)")
    parts = rows.parts("three")
    for part in parts:
        part["qid"] = np.arange(len(part["scores"])) // 10
    found = joined(group.run(workers.answers, parts, over))
    assert same_gradient(found, rows.on_one(over))


def test_labels_may_change_on_one_worker(group: Group, rounded: None) -> None:
    rows = Rows()
    found = joined(group.run(with_other_labels, rows.parts("three")))
    rows.labels[500:1200] = 1 - rows.labels[500:1200]
    assert same_gradient(found, rows.on_one(lp.lambda_map))


def with_other_labels(part: dict[str, Any]) -> Any:
    from xgboost import collective

    data = workers.matrix(part)
    lp.lambda_map(part["scores"], data)
    if collective.get_rank() == 1:
        data.set_label(1 - part["labels"])
    return lp.lambda_map(part["scores"], data)


def test_trainings_of_one_and_of_several_agree(group: Group, rounded: None) -> None:
    rows = Rows()
    arguments = (lp.lambda_map, lp.eval_metric("map", "auc"), {"max_depth": 3})
    with_one = workers.trained(vars(rows) | {"features": rows.scores[:, None]}, *arguments)
    parts = rows.parts("empty")
    given, values, scores = zip(*group.run(workers.trained, parts, *arguments), strict=True)
    for first, rest in zip(joined([each[0] for each in given]), with_one[0][0], strict=True):
        assert_array_equal(first, rest)
    assert all(one == values[0] for one in values)
    # Bins are found on each worker, so trees differ a little.
    assert np.corrcoef(np.concatenate(scores), with_one[2])[0, 1] > 0.99
    assert_allclose(values[0]["map"], with_one[1]["map"], rtol=0.02)


def test_estimators_of_xgboost(group: Group, rounded: None) -> None:
    rows = Rows()
    kept = group.run(in_estimator, rows.parts("three"))
    expected = lp.lambda_auc(rows.labels, np.zeros(N))  # scores of the first round
    assert same_gradient(joined([each[0] for each in kept]), expected)
    assert len({each[1] for each in kept}) == 1


def in_estimator(part: dict[str, Any]) -> Any:
    import xgboost

    given = []

    def kept(labels: Any, scores: Any) -> Any:
        given.append(lp.lambda_auc(labels, scores))
        return given[-1]

    model = xgboost.XGBRegressor(
        objective=kept, n_estimators=2, n_jobs=1, base_score=0.0, eval_metric=lp.eval_auc
    )
    data = part["features"], part["labels"]
    model.fit(*data, eval_set=[data], verbose=False)
    return given[0], model.evals_result()["validation_0"]["auc"][-1]


# -- gradients with queries ----------------------------------------------------------------------


def by_query(data: Small, cuts: list[int]) -> list[dict[str, Any]]:
    ends = np.cumsum([0, *data.sizes])
    rows = np.split(np.arange(data.n), ends[cuts])
    return [
        {"scores": data.scores()[part].astype(np.float32), "labels": data.labels[part],
         "qid": data.qid[part] if part.size else None, "features": data.features[part]}
        for part in rows
    ]  # fmt: skip


@pytest.mark.parametrize("cuts", [[30], [3, 40], [0], [0, 60]], ids=str)
def test_with_queries_each_worker_has_its_part(group: Group, cuts: list[int]) -> None:
    (whole,) = by_query(GRADED, [])
    objective = lp.lambda_objective("ndcg@10 + map")
    found = joined(group.run(workers.answers, by_query(GRADED, cuts), objective))
    assert same_gradient(found, workers.answers(whole, objective))
    metric = lp.eval_metric("ndcg@10", "map", "err", "auc", "0.5*mrr + rprec")
    expected = dict(workers.answers(whole, metric))
    for values in group.run(workers.answers, by_query(GRADED, cuts), metric):
        assert dict(values) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cuts", [[3, 40], [0]], ids=str)
def test_log_loss_has_the_base_rate_of_all_workers(group: Group, cuts: list[int]) -> None:
    (whole,) = by_query(GRADED, [])
    objective = lp.lambda_objective("map + 3*logloss")
    found = joined(group.run(workers.answers, by_query(GRADED, cuts), objective))
    for one, other in zip(found, workers.answers(whole, objective), strict=True):
        assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_position_bias_is_that_of_all_queries(group: Group) -> None:
    (whole,) = by_query(GRADED, [])
    expected = bias_of(whole, PositionBias(lp.lambda_ndcg))
    for found in group.run(bias_of, by_query(GRADED, [20, 60]), PositionBias(lp.lambda_ndcg)):
        assert_allclose(found, expected, rtol=1e-9)


def bias_of(part: dict[str, Any], objective: Any) -> Any:
    data = workers.matrix(part)
    for k in range(3):
        objective(k * part["scores"], data)
    return objective.bias_


# -- metrics -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [0.0, 1.0, 1e-20], ids=["", "weights", "tiny weights"])
@pytest.mark.parametrize("layout", ["three", "empty", "no positives on one"])
def test_values_over_all_rows(group: Group, layout: str, weights: float) -> None:
    rows = Rows(weights=weights > 0)
    if rows.weights is not None:
        rows.weights *= np.float32(weights)
    metric = lp.eval_metric("auc", "map")
    if not weights:
        metric = lp.eval_metric("auc", "map", "ndcg@10", "mrr", "err", one_group=True)
    expected = dict(rows.on_one(metric))
    for found in group.run(workers.answers, rows.parts(layout), metric):
        assert dict(found) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", ["cindex", "spearman"])
def test_values_of_several_labels(group: Group, name: str) -> None:
    """Of scores of few values, which are not rounded: other times on each worker."""
    rows = Rows()
    rows.scores = np.round(rows.scores)
    rows.labels = (1.0 + np.arange(N) // 400) * np.where(rows.labels > 0, -1, 1)
    metric = lp.eval_metric(name, one_group=True)
    _, expected = rows.on_one(metric)
    for _, found in group.run(workers.answers, rows.parts("three"), metric):
        assert found == pytest.approx(expected, rel=1e-9)


def test_early_stopping_ends_all_at_once(group: Group) -> None:
    parts = Rows().parts("sorted")
    for part in parts:
        part["features"] = np.random.default_rng(1).normal(size=(len(part["scores"]), 1))
        part["train"] = {"early_stopping_rounds": 3, "maximize": True}
    trained = group.run(
        workers.trained, parts, lp.lambda_auc, lp.eval_metric("auc"), {"max_depth": 1}, 30
    )
    assert trained[0][1] == trained[1][1]


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [lp.lambda_map, lp.eval_map], ids=["objective", "metric"])
def test_an_error_on_one_is_raised_by_all(group: Group, function: Any) -> None:
    parts = Rows().parts("three")
    parts[1]["scores"] = np.full_like(parts[1]["scores"], np.nan)
    first, second, third = group.errors(workers.answers, parts, function)
    message = "scores must be finite: 700 of 700 are not, the first is nan in row 0"
    assert second == f"ValueError: {message}"
    assert (
        first
        == third
        == f"FailedWorkerError: rank 1 of 3 workers stopped with ValueError: {message}"
    )


def graded_rows(n_labels: int) -> list[dict[str, Any]]:
    rows = Rows()
    rows.labels = np.arange(N) % float(n_labels)
    return rows.parts("random")


def queries_on_one() -> list[dict[str, Any]]:
    parts = by_query(GRADED, [30])
    parts[1]["qid"] = None
    return parts


NOTHING = {"scores": np.zeros(0, np.float32), "labels": np.zeros(0)}
NDCG: dict[str, Any] = {"one_group": True, "gain": "linear"}


@pytest.mark.parametrize(
    ("parts", "function", "message"),
    [
        (graded_rows(20), lp.lambda_objective("ndcg", **NDCG),
         "there are 20: group them into grades, or train on one machine"),
        (graded_rows(20), lp.eval_metric("ndcg", **NDCG),
         "at most 16 different labels, and there are 20"),
        (queries_on_one(), lp.lambda_ndcg,
         "some workers have query groups and others have rows without"),
        ([NOTHING, NOTHING], lp.lambda_map, "labels is empty"),
        (Rows(positives=0.0).parts("random"), lp.eval_map, "map has no value on any query"),
    ],
)  # fmt: skip
def test_unusable_data_are_an_error_on_all(
    group: Group, parts: list[dict[str, Any]], function: Any, message: str
) -> None:
    started = time.monotonic()
    for error in group.errors(workers.answers, parts, function):
        assert message in error
    assert time.monotonic() - started < 30


def test_calls_on_some_workers_only_are_an_error(group: Group) -> None:
    for error in group.errors(differently, Rows().parts("random")):
        assert "the 2 workers do not compute the same" in error


def differently(part: dict[str, Any]) -> Any:
    from xgboost import collective

    function: Any = (lp.lambda_map, lp.eval_metric("map", "auc"))[collective.get_rank()]
    return function(part["scores"], workers.matrix(part))


@pytest.mark.filterwarnings("ignore:.*RabitTracker:pytest.PytestUnraisableExceptionWarning")
def test_a_killed_worker_is_an_error_for_the_other() -> None:
    """Of three, XGBoost's allreduce may leave one waiting: see docs/large-data.md."""
    parts = Rows().parts("sorted")
    parts[1]["dies"] = True
    with worker_group() as group:
        assert all(group.errors(workers.trained, parts, lp.lambda_map, None, {}, 50))
