"""Objectives and metrics as Python objects: options, errors, copies, pickles, threads, forks."""

import copy
import gc
import multiprocessing
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal, assert_equal
from small_data import GRADED, TRAINED, Small, graded, gradient_of, queries_read

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics.catalogue import NDCG
from lambdaplus.objectives import gradient_on

EACH_METRIC = pytest.mark.parametrize("metric", TRAINED)
OBJECTIVES = [
    lambda_objective("auc"),
    lambda_objective("mauc", classes="all", share="dataset"),
    lambda_objective("concordance", pairs="swap"),
    lambda_objective("map@10", relevant=2),
    lambda_objective("mrr", sigma=2.5, one_group=True),
    lambda_objective("mrr(relevant=2)@5", sigma=3),
    lambda_objective("ndcg@5", gain="linear", normalize=False),
    lambda_objective("map", relevant=0.1234567, sigma=1 / 3),
    lambda_objective("mrr(relevant=2)@5", surrogate="ndcg"),
]
OTHERS = [  # than one call of `gradients`
    lambda_objective("ndcg(gain=linear)@3 + mrr + 0.25*p@5"),
    lambda_objective("2*logloss(relevant=2) + map"),
    lambda_objective("map", balance=0.9),
    lambda_objective("auc", pairs="equal"),
]
METRICS = [
    eval_metric("auc"),
    eval_metric("map@10", "ndcg", relevant=2, gain="linear"),
    eval_metric("mrr", one_group=True),
    eval_metric("ndcg@10 + 0.5*mrr"),
]


def assert_same_gradient(one: Any, other: Any) -> None:
    assert np.any(one[0] != 0)
    assert_array_equal(one[0], other[0])
    assert_array_equal(one[1], other[1])


# -- what is returned ----------------------------------------------------------------------------


@EACH_METRIC
def test_gradients_are_float32_vectors_that_cost_no_copy(metric: str) -> None:
    gradient, hessian = gradient_of(lambda_objective(metric), GRADED)
    for array in (gradient, hessian):
        assert array.dtype == np.float32
        assert array.shape == (GRADED.n,)
        assert array.flags.c_contiguous
    assert np.all(hessian >= 0)
    assert np.abs(gradient).sum() > 0


@pytest.mark.parametrize(
    "convert", [list, np.float32, lambda x: x[:, None], lambda x: np.repeat(x, 2)[::2]]
)
def test_scores_may_come_in_any_shape_of_vector(convert: Any) -> None:
    objective = lambda_objective("ndcg")  # all read their scores by the same lines
    found = gradient_of(objective, GRADED, convert(GRADED.scores()))
    assert_same_gradient(found, gradient_of(objective, GRADED))


# -- queries and weights as arrays ---------------------------------------------------------------


@pytest.mark.parametrize("metric", ["ndcg", "mrr"])
def test_without_queries_the_error_says_what_to_pass(metric: str) -> None:
    with pytest.raises(ValueError, match="set group=") as error:
        getattr(lp, f"lambda_{metric}")([0, 1, 2], [0.5, 0.1, 0.2])
    shown = str(error.value).partition("train with ")[2]
    made = eval(shown, {"lambda_objective": lambda_objective})
    assert np.abs(made([0, 1, 2], [0.5, 0.1, 0.2])[0]).sum() > 0


# -- which metric weighs the pairs ---------------------------------------------------------------


# -- identity: repr, equality, copies ------------------------------------------------------------


def test_equal_options_make_equal_objects_whatever_their_spelling() -> None:
    same = [
        lambda_objective("map(relevant=2)@5"),
        lambda_objective("AP@5", relevant=2.0),
        lambda_objective(" map@5", relevant="2"),
    ]
    assert same[0] == same[1] == same[2]
    assert len(set(same)) == 1
    assert lambda_objective(NDCG(10)) == lambda_objective("ndcg@10")
    assert lambda_objective(NDCG) == lp.lambda_ndcg
    assert lambda_objective("ndcg", normalize=True) == lp.lambda_ndcg
    assert len({lp.lambda_map, *OTHERS, lambda_objective("map", sigma=2)}) == 6


def own_copies(item: Any) -> list[Any]:
    copies = [copy.copy(item), copy.deepcopy(item), pickle.loads(cloudpickle.dumps(item))]
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    return copies + [pickle.loads(pickle.dumps(item, protocol)) for protocol in protocols]


@pytest.mark.parametrize("made", [*OBJECTIVES, *OTHERS, *METRICS], ids=repr)
def test_copies_pickles_and_what_repr_makes_are_equal_and_work_after_use(made: Any) -> None:
    expected = gradient_of(made, GRADED)
    names = "combine", "eval_metric", "lambda_objective", "LogLoss"
    again = eval(repr(made), {name: getattr(lp, name) for name in names})
    for mine in (again, *own_copies(made)):
        assert mine == made
        assert hash(mine) == hash(made)
        assert repr(mine) == repr(made)
        assert_equal(gradient_of(mine, GRADED), expected)


def test_a_used_objective_pickles_small(tmp_path: Any) -> None:
    # It does not store data: neither the labels nor anything derived from them.
    gradient_of(lp.lambda_ndcg, GRADED)
    assert len(pickle.dumps(lp.lambda_ndcg)) < 2_000
    joblib.dump([lp.lambda_ndcg, lp.eval_ndcg], tmp_path / "two")
    assert joblib.load(tmp_path / "two") == [lp.lambda_ndcg, lp.eval_ndcg]


# -- what is kept between calls ------------------------------------------------------------------


def test_options_of_several_objectives_do_not_mix_on_the_same_data() -> None:
    data = graded(60, seed=1)
    for objective in OBJECTIVES + OBJECTIVES[::-1]:
        expected = lp.gradients(
            data.labels, data.scores(), metric=objective.surrogate, group=data.sizes,
            sigma=objective.sigma, normalize=objective.normalize,
        )  # fmt: skip
        found = gradient_of(objective, data)
        assert_array_equal(found[0], expected[0].astype(np.float32))
        assert_array_equal(found[1], expected[1].astype(np.float32))


@pytest.mark.parametrize(
    ("objective", "group"),
    [
        (lp.lambda_ndcg, [3]), (lp.lambda_auc, None), (lambda_objective("cindex"), None),
        (lambda_objective("ndcg", one_group=True), None), (lp.lambda_map.on([0, 1, 1]), [3]),
        (lambda_objective("auc + logloss"), [3]),
    ],
)  # fmt: skip
def test_a_gradient_is_set_up_once_and_freed_with_the_data(
    objective: Any, group: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, refuse = [], gradient_on.refuse_large_gains
    counted = lambda *args: made.append(refuse(*args))  # noqa: E731
    monkeypatch.setattr(gradient_on, "refuse_large_gains", counted)
    queries = Queries([0.0, 1.0, 2.0], group=group)
    for scores in ([0.0, 0.0, 0.0], [1.0, 0.5, 2.0]):
        objective.derivatives(queries, scores)
        objective.compares_within_queries(queries)
    assert len(made) == 1
    data = weakref.ref(queries)
    gc.disable()  # a cycle would keep it
    try:
        del queries
        assert data() is None
    finally:
        gc.enable()


def test_arrays_of_a_call_by_hand_are_not_kept() -> None:
    data = graded(5)
    kept = weakref.ref(queries_read(data.labels, data.scores(), None, data.sizes))
    gc.collect()
    assert kept() is None


# -- threads and processes -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def large() -> Small:
    """More documents than one thread gets, so that the library uses several."""
    return graded(1_700, seed=3)


def test_threads_at_once_get_what_they_get_one_after_the_other(large: Small) -> None:
    work = [(objective, seed) for seed in (1, 2) for objective in OBJECTIVES for _ in range(2)]

    def one(job: tuple[Any, int]) -> Any:
        return gradient_of(job[0], large, large.scores(job[1]))

    expected = [one(job) for job in work]
    with ThreadPoolExecutor(3) as pool:
        for found, alone in zip(pool.map(one, work, timeout=120), expected, strict=True):
            assert_same_gradient(found, alone)


def in_child(connection: Any, objectives: list[Any], data: Small) -> None:
    connection.send([gradient_of(objective, data) for objective in objectives])
    connection.close()


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork"
)
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_process_works_after_its_parent_has_worked(large: Small) -> None:
    expected = [gradient_of(objective, large) for objective in OBJECTIVES]  # threads are running
    context = multiprocessing.get_context("fork")
    for _ in range(2):
        mine, theirs = context.Pipe(duplex=False)
        child = context.Process(target=in_child, args=(theirs, OBJECTIVES, large), daemon=True)
        child.start()
        theirs.close()
        try:
            assert mine.poll(60), "the forked process hangs"
            found = mine.recv()
            child.join(30)
            assert child.exitcode == 0
        finally:
            child.kill()
        for one, other in zip(found, expected, strict=True):
            assert_same_gradient(one, other)
    assert_same_gradient(gradient_of(OBJECTIVES[0], large), expected[0])


@pytest.mark.parametrize("sigma", [1e-15, 1e15])
@pytest.mark.parametrize("metric", ["ndcg", "map", "auc"])
def test_extreme_options_give_finite_numbers(metric: str, sigma: float) -> None:
    """Of tied scores, whose Hessians are proportional to the square of sigma."""
    objective = lambda_objective(metric, sigma=sigma, normalize=False)
    for group in [[2, 2]] if metric == "ndcg" else [[2, 2], None]:
        found = objective([0, 1, 0, 1], np.zeros(4), np.full(4, 1e5), group)
        assert np.isfinite(found).all()
        assert np.abs(found[0]).min() > 0
