"""XGBoost on two and three worker processes: gradients and metrics are those of one machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import Small, graded, same_gradient

import lambdaplus as lp
from lambdaplus.objectives.position_bias import PositionBias

pytest.importorskip("xgboost", minversion="2.1")

import worker_processes as workers
from worker_processes import Group, worker_group

pytestmark = pytest.mark.filterwarnings("ignore:.*Empty dataset at worker:UserWarning")

# Of the largest gradient, and of the mean absolute one: what docs/mathematics/sweep.md states.
LARGEST, MEAN = 4e-3, 2e-4
N = 2_000


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    with worker_group() as found:
        yield found


@pytest.fixture
def rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One machine rounds scores of any number of rows, as several do."""
    monkeypatch.setattr("lambdaplus.objectives.lambda_gradient.LONG", 1)


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


LAYOUTS = ("random", "three", "sorted", "skewed", "empty", "two of three empty")


# -- gradients without queries -------------------------------------------------------------------


@pytest.mark.parametrize("layout", [*LAYOUTS, "no positives on one"])
def test_the_gradient_is_that_of_one_machine_bit_for_bit(
    group: Group, layout: str, rounded: None
) -> None:
    rows = Rows()
    for objective in (lp.lambda_map, lp.lambda_auc):
        found = joined(group.run(workers.answers, rows.parts(layout), objective))
        expected = rows.on_one(objective)
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other[rows.order])


@pytest.mark.parametrize("weights", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("layout", ["random", "sorted", "skewed", "empty"])
def test_the_gradient_is_the_exact_one_but_for_rounding(
    group: Group, layout: str, weights: bool
) -> None:
    rows = Rows(weights=weights)
    for objective in (lp.lambda_map, lp.lambda_auc):
        found = joined(group.run(workers.answers, rows.parts(layout), objective))
        for one, other in zip(found, rows.on_one(objective), strict=True):
            error = np.abs(one - other[rows.order])
            assert error.max() < LARGEST * np.abs(other).max()
            assert error.mean() < MEAN * np.abs(other).mean()


def test_weights_are_those_of_one_machine(group: Group, rounded: None) -> None:
    rows = Rows(weights=True)
    for layout in LAYOUTS:
        found = joined(group.run(workers.answers, rows.parts(layout), lp.lambda_map))
        for one, other in zip(found, rows.on_one(lp.lambda_map), strict=True):
            assert_allclose(one, other[rows.order], rtol=1e-6)


@pytest.mark.parametrize("name", ["ndcg@50", "mrr", "mauc", "auc", "err"])
def test_one_group_is_one_query_with_its_hessian(group: Group, name: str, rounded: None) -> None:
    rows = Rows()
    if name in ("ndcg@50", "mauc", "err"):
        rows.labels = np.minimum(np.random.default_rng(2).geometric(0.5, N) - 1.0, 4.0)
    objective = lp.lambda_objective(name, one_group=True, noise=None)
    expected = rows.on_one(objective)
    for layout in ("three", "empty"):
        found = joined(group.run(workers.answers, rows.parts(layout), objective))
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other[rows.order])


def test_a_data_set_without_any_positive_has_no_gradient(group: Group) -> None:
    answers = group.run(workers.answers, Rows(positives=0.0).parts("random"), lp.lambda_map)
    assert not np.any(joined(answers))


def test_the_first_round_has_one_score(group: Group, rounded: None) -> None:
    rows = Rows()
    rows.scores = np.zeros(N, np.float32)
    found = joined(group.run(workers.answers, rows.parts("random"), lp.lambda_map))
    assert same_gradient(found, rows.on_one(lp.lambda_map))


def test_a_metric_of_all_rows_ignores_queries(group: Group, rounded: None) -> None:
    rows = Rows()
    over = lp.lambda_objective("auc(over=dataset)")
    parts = rows.parts("three")
    for part in parts:
        part["qid"] = np.arange(len(part["scores"])) // 10
    found = joined(group.run(workers.answers, parts, over))
    assert same_gradient(found, rows.on_one(over))


def test_a_sum_of_metrics(group: Group, rounded: None) -> None:
    rows, both = Rows(), lp.lambda_objective("map + 0.5*auc")
    found = joined(group.run(workers.answers, rows.parts("three"), both))
    assert same_gradient(found, rows.on_one(both))


def test_calls_on_some_workers_only_are_an_error(group: Group) -> None:
    for error in group.errors(differently, Rows().parts("random")):
        assert "the 2 workers do not compute the same" in error


def differently(part: dict[str, Any]) -> Any:
    from xgboost import collective

    function: Any = (lp.lambda_map, lp.eval_metric("map", "auc"))[collective.get_rank()]
    return function(part["scores"], workers.matrix(part))


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
    for layout in ("random", "empty"):
        given, values, scores = zip(
            *group.run(workers.trained, rows.parts(layout), *arguments), strict=True
        )
        for first, rest in zip(joined([each[0] for each in given]), with_one[0][0], strict=True):
            assert_array_equal(first, rest)
        assert all(one == values[0] for one in values)
        # Bins are found on each worker, so trees differ a little.
        assert np.corrcoef(np.concatenate(scores), with_one[2])[0, 1] > 0.99
        assert_allclose(values[0]["map"], with_one[1]["map"], rtol=0.02)


@pytest.mark.parametrize("name", ["Regressor", "Classifier"])
def test_estimators_of_xgboost(group: Group, name: str, rounded: None) -> None:
    rows = Rows()
    kept = group.run(in_estimator, rows.parts("three"), f"XGB{name}")
    expected = lp.lambda_auc(rows.labels, np.zeros(N))  # scores of the first round
    assert same_gradient(joined([each[0] for each in kept]), expected)
    assert len({each[1] for each in kept}) == 1


def in_estimator(part: dict[str, Any], name: str) -> Any:
    import xgboost

    given = []

    def kept(labels: Any, scores: Any) -> Any:
        given.append(lp.lambda_auc(labels, scores))
        return given[-1]

    model = getattr(xgboost, name)(
        objective=kept, n_estimators=2, n_jobs=1, base_score=0.0, eval_metric=lp.eval_auc
    )
    data = part["features"], part["labels"]
    model.fit(*data, eval_set=[data], verbose=False)
    return given[0], model.evals_result()["validation_0"]["auc"][-1]


def test_noise_and_too_many_classes_are_refused_by_all(group: Group) -> None:
    rows = Rows()
    noisy = lp.lambda_objective("ndcg", noise=1.0, one_group=True)
    for error in group.errors(workers.answers, rows.parts("random"), noisy):
        assert "ndcg over all rows on 2 workers has no noisy rankings: pass noise=None" in error
    rows.labels = np.arange(N) % 20.0
    graded = lp.lambda_objective("ndcg", one_group=True, gain="linear")
    for error in group.errors(workers.answers, rows.parts("random"), graded):
        assert "at most 16 different labels, and there are 20" in error
    metric = lp.eval_metric("ndcg", one_group=True, gain="linear")
    for error in group.errors(workers.answers, rows.parts("random"), metric):
        assert "at most 16 different labels, and there are 20" in error


def test_what_is_sent_does_not_depend_on_the_number_of_rows(group: Group) -> None:
    for weights, most in ((False, 2e6), (True, 4e6)):
        for sent, times in group.run(
            workers.bytes_sent, Rows(weights=weights).parts("random"), lp.lambda_map
        ):
            assert sent < most
            assert times < 30


# -- gradients with queries ----------------------------------------------------------------------


def by_query(data: Small, cuts: list[int], **more: Any) -> list[dict[str, Any]]:
    ends = np.cumsum([0, *data.sizes])
    rows = np.split(np.arange(data.n), ends[cuts])
    return [
        {"scores": data.scores()[part].astype(np.float32), "labels": data.labels[part],
         "qid": data.qid[part] if part.size else None, "features": data.features[part],
         **{name: values[part] for name, values in more.items()}}
        for part in rows
    ]  # fmt: skip


@pytest.mark.parametrize("cuts", [[30], [3, 40], [0], [0, 60]], ids=str)
def test_with_queries_each_worker_has_its_part(group: Group, cuts: list[int]) -> None:
    data = graded()
    (whole,) = by_query(data, [])
    for name in ("ndcg", "ndcg@10", "map", "auc"):
        objective = (
            lp.lambda_objective(name, relevant=2) if name == "map" else lp.lambda_objective(name)
        )
        found = joined(group.run(workers.answers, by_query(data, cuts), objective))
        assert same_gradient(found, workers.answers(whole, objective))


def test_position_bias_is_that_of_all_queries(group: Group) -> None:
    data = graded()
    (whole,) = by_query(data, [])
    expected = bias_of(whole, PositionBias(lp.lambda_ndcg))
    for found in group.run(bias_of, by_query(data, [20, 60]), PositionBias(lp.lambda_ndcg)):
        assert_allclose(found, expected, rtol=1e-9)


def bias_of(part: dict[str, Any], objective: Any) -> Any:
    data = workers.matrix(part)
    for k in range(3):
        objective(k * part["scores"], data)
    return objective.bias_


# -- metrics -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[30], [3, 40], [0]], ids=str)
def test_values_over_queries_are_those_of_one_machine(group: Group, cuts: list[int]) -> None:
    data = graded()
    metric = lp.eval_metric("ndcg@10", "map", "err", "auc", "0.5*mrr + rprec")
    (whole,) = by_query(data, [])
    for found in group.run(workers.answers, by_query(data, cuts), metric):
        expected = workers.answers(whole, metric)
        assert dict(found) == pytest.approx(dict(expected), abs=1e-12)


def test_values_are_weighted_by_query(group: Group) -> None:
    data = graded()
    parts, weights = by_query(data, [20]), np.random.default_rng(0).random(60)
    parts[0]["weight"], parts[1]["weight"] = weights[:20], weights[20:]
    (whole,) = by_query(data, [])
    expected = workers.answers(whole | {"weight": weights}, lp.eval_ndcg)
    for name, value in group.run(workers.answers, parts, lp.eval_ndcg):
        assert (name, value) == (expected[0], pytest.approx(expected[1], abs=1e-6))


@pytest.mark.parametrize("weights", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("layout", [*LAYOUTS, "no positives on one"])
def test_values_over_all_rows(group: Group, layout: str, weights: bool) -> None:
    rows = Rows(weights=weights)
    metric = lp.eval_metric("auc", "map")
    expected = dict(rows.on_one(metric))
    for found in group.run(workers.answers, rows.parts(layout), metric):
        assert dict(found) == pytest.approx(expected, abs=1e-4)


def test_values_of_one_group(group: Group) -> None:
    rows = Rows()
    metric = lp.eval_metric("ndcg@10", "mrr", "err", "ndcg", "rprec", one_group=True)
    expected = dict(rows.on_one(metric))
    for found in group.run(workers.answers, rows.parts("three"), metric):
        assert dict(found) == pytest.approx(expected, abs=1e-3)


def test_early_stopping_ends_all_at_once(group: Group) -> None:
    parts = Rows().parts("sorted")
    for part in parts:
        part["features"] = np.random.default_rng(1).normal(size=(len(part["scores"]), 1))
        part["train"] = {"early_stopping_rounds": 3, "maximize": True}
    trained = group.run(
        workers.trained, parts, lp.lambda_auc, lp.eval_metric("auc"), {"max_depth": 1}, 30
    )
    assert trained[0][1] == trained[1][1]


def test_external_memory(group: Group, rounded: None) -> None:
    rows = Rows()
    found = joined(group.run(in_batches, rows.parts("sorted"), lp.lambda_map))
    for one, other in zip(found, rows.on_one(lp.lambda_map), strict=True):
        assert_array_equal(one, other[rows.order])


def in_batches(part: dict[str, Any], objective: Any) -> Any:
    import tempfile

    import xgboost

    class Batches(xgboost.DataIter):
        def __init__(self, folder: str) -> None:
            super().__init__(cache_prefix=f"{folder}/cache")
            self.at = 0

        def next(self, input_data: Any) -> bool:
            at = slice(self.at, self.at + 300)
            if self.at >= len(part["labels"]):
                return False
            input_data(data=part["features"][at], label=part["labels"][at])
            self.at += 300
            return True

        def reset(self) -> None:
            self.at = 0

    with tempfile.TemporaryDirectory() as folder:
        return objective(part["scores"], xgboost.DMatrix(Batches(folder)))


def test_columns_on_several_workers_are_not_rows(group: Group) -> None:
    rows = Rows()
    whole = rows.parts("empty")[1]
    for found in group.run(by_column, [whole, whole]):
        assert same_gradient(found, lp.lambda_map(whole["labels"], whole["scores"]))


def by_column(part: dict[str, Any]) -> Any:
    from xgboost import DMatrix
    from xgboost.core import DataSplitMode

    split = DataSplitMode.COL
    data = DMatrix(part["features"], part["labels"], data_split_mode=split)
    return lp.lambda_map(part["scores"], data)


# -- errors --------------------------------------------------------------------------------------


def errors_of(group: Group, parts: list[dict[str, Any]], function: Any) -> list[str]:
    started = time.monotonic()
    found = group.errors(workers.answers, parts, function)
    assert time.monotonic() - started < 30
    return found


@pytest.mark.parametrize("function", [lp.lambda_map, lp.eval_map], ids=["objective", "metric"])
def test_an_error_on_one_is_raised_by_all(group: Group, function: Any) -> None:
    parts = Rows().parts("three")
    parts[1]["scores"] = np.full_like(parts[1]["scores"], np.nan)
    first, second, third = errors_of(group, parts, function)
    message = "scores must be finite: 700 of 700 are not, the first is nan in row 0"
    assert second == f"ValueError: {message}"
    assert (
        first
        == third
        == f"FailedWorkerError: rank 1 of 3 workers stopped with ValueError: {message}"
    )


def test_an_error_in_the_queries_of_one_is_raised_by_all(group: Group) -> None:
    parts = by_query(graded(), [20, 40])
    parts[2]["labels"] = parts[2]["labels"] - 1
    first, _, third = errors_of(group, parts, lp.lambda_ndcg)
    assert third.startswith("ValueError")
    assert third in first


def test_queries_on_some_workers_only_are_an_error(group: Group) -> None:
    parts = by_query(graded(), [30])
    parts[1]["qid"] = None
    for error in errors_of(group, parts, lp.lambda_ndcg):
        assert "some workers have query groups and others have rows without" in error


def test_no_rows_at_all_are_an_error(group: Group) -> None:
    nothing = {"scores": np.zeros(0, np.float32), "labels": np.zeros(0)}
    for error in errors_of(group, [nothing, nothing], lp.lambda_map):
        assert "labels is empty" in error


def test_a_metric_without_a_value_is_an_error_on_all(group: Group) -> None:
    for error in errors_of(group, Rows(positives=0.0).parts("random"), lp.eval_map):
        assert "map has no value on any query" in error


WAITS = pytest.mark.xfail(
    strict=False, reason="of three workers, XGBoost's allreduce sometimes leaves one waiting"
)


@pytest.mark.parametrize("n", [2, pytest.param(3, marks=WAITS)])
@pytest.mark.parametrize("queries", [False, True])
def test_a_killed_worker_is_an_error_for_the_others(queries: bool, n: int) -> None:
    """See docs/how-to/many-machines.md on three."""
    if queries:
        parts = by_query(graded(), [30] if n == 2 else [20, 40])
    else:
        parts = Rows().parts("sorted" if n == 2 else "three")
    parts[1]["dies"] = True
    objective = lp.lambda_ndcg if queries else lp.lambda_map
    started = time.monotonic()
    with workers.processes(workers.trained, parts, objective, None, {}, 50) as processes:
        for process in processes:
            process.join(30)
            assert process.exitcode not in (None, 0)
    assert time.monotonic() - started < 60
