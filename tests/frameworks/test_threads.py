"""Threads: the number in use, measured from outside, and unchanged settings of other libraries."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_data import graded

import lambdaplus as lp
from lambdaplus.compute import parallel
from lambdaplus.compute.parallel import limit_threads, n_threads, threads_for
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.frameworks.openmp_team import OpenMPTeam, openmp_functions

# Boosters of both frameworks, and a list of the sizes of the teams that worked for us.
TRAIN = """
import itertools, os, sys, threading, time
import lightgbm, xgboost, numpy as np
import lambdaplus as lp
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.frameworks.openmp_team import OpenMPTeam, openmp_functions
random = np.random.default_rng(0)
features, group = random.normal(size=(60_000, 3)).astype(np.float32), [100] * 600
labels = random.integers(0, 3, 60_000)
common = {"verbosity": 0, "seed": 1}
runs, run = [], OpenMPTeam.run
OpenMPTeam.run = lambda team, work: (runs.append(team.size), run(team, work))[1]

def of_lightgbm(threads, objective="none"):
    given = {**common, "num_threads": threads} if threads else common
    data = lightgbm.Dataset(features, label=labels, group=group, params=given).construct()
    return lightgbm.Booster({**given, "metric": "None", "objective": objective}, data)

def of_xgboost(threads, objective=None):
    given = {**common, "nthread": threads} if threads else common
    data = xgboost.DMatrix(features, label=labels, group=group, nthread=threads or None)
    named = {"objective": objective} if objective else {"base_score": 0.0}
    booster, rounds = xgboost.Booster({**given, **named}, [data]), itertools.count()
    train = booster.update
    booster.update = lambda fobj=None: train(data, next(rounds), fobj=fobj)
    return booster

def predictions(booster):
    rows = features[:99]
    return booster.predict(rows if isinstance(booster, lightgbm.Booster) else xgboost.DMatrix(rows))
"""
USED = """
for make, own in ((of_lightgbm, "lambdarank"), (of_xgboost, "rank:ndcg")):
    for threads in map(int, sys.argv[1:]):
        model = make(threads, own)
        model.update()
        runs.clear()
        model = make(threads)
        model.update(fobj=lp.lambda_map)
        model.update(fobj=lp.lambda_map)
        others = sum(thread.name.startswith("lambdaplus") for thread in threading.enumerate())
        found = repr(float(np.sum(predictions(model), dtype=float)))
        print("\\n", make.__name__, threads, len(runs), max(runs, default=0), others, found)
"""


def ran(code: str, *arguments: str, **environment: str) -> str:
    """What code after `TRAIN` prints, in a process of its own that must end by itself."""
    pytest.importorskip("lightgbm", minversion="4")
    pytest.importorskip("xgboost")
    clean = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", TRAIN + code, *arguments], capture_output=True, text=True,
        env={**clean, **environment}, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_frameworks_team_does_the_work_without_other_threads() -> None:
    """A pool of our own would have threads with its name.  (OpenMP ends its own when it likes.)"""
    predicted: set[tuple[str, str]] = set()
    for environment in ({}, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "4"}):
        said = ran(USED, "0", "1", "2", "4", **environment)
        assert "num_threads" not in said
        found = [line.split() for line in said.splitlines() if line.startswith(" of_")]
        assert len(found) == 8
        for name, setting, uses, size, others, total in found:
            # Not `n_threads`: other tests may have set variables that the process does not get.
            cores = numba.config.NUMBA_DEFAULT_NUM_THREADS
            threads = int(setting) or int(environment.get("OMP_NUM_THREADS", cores))
            assert int(size) == (threads if threads > 1 else 0)
            assert (int(uses) > 0) == (threads > 1)
            assert int(others) == 0
            predicted.add((name, total))
    assert len(predicted) == 2


def test_threads_that_a_caller_starts_have_its_limit() -> None:
    with limit_threads(3), ThreadPoolExecutor(1) as pool:
        assert pool.submit(n_threads).result() == 3
        with limit_threads(2):
            assert pool.submit(n_threads).result() == 2
        assert pool.submit(n_threads).result() == n_threads() == 3
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(n_threads).result() == n_threads()


def test_the_order_in_which_settings_count(monkeypatch: Any) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 3)
    assert n_threads() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "2,4")
    assert n_threads() == 2
    with limit_threads(5):
        assert n_threads() == 5
        with limit_threads(None):
            assert n_threads() == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert n_threads() == 3


def test_cores_that_the_process_may_not_use_do_not_count() -> None:
    code = "from lambdaplus.compute.parallel import n_threads; print(n_threads())"
    clean = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")}
    on_one_core = f"import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); {code}"
    for limited, environment in ((on_one_core, {}), (code, {"LOKY_MAX_CPU_COUNT": "1"})):
        done = subprocess.run(
            [sys.executable, "-c", limited], capture_output=True, text=True, check=True,
            env={**clean, **environment},
        )  # fmt: skip
        assert done.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("rows", "most", "threads"),
    [(100, 8, 1), (15_999, 8, 1), (16_000, 8, 2), (10**6, 8, 8), (0, 2, 1)],
)
def test_little_data_is_trained_on_one_thread(rows: int, most: int, threads: int) -> None:
    assert threads_for(rows, most) == threads


def test_a_table_is_not_worked_on_by_the_frameworks_team(monkeypatch: Any) -> None:
    """It has many short steps, between which busy cores would keep the team waiting."""
    lgb = pytest.importorskip("lightgbm", minversion="4")
    runs, run = [], OpenMPTeam.run
    monkeypatch.setattr(OpenMPTeam, "run", lambda team, work: (runs.append(1), run(team, work))[1])
    random = np.random.default_rng(0)
    features, labels = random.normal(size=(40_000, 2)), random.integers(0, 2, 40_000)
    used = {}
    for group in (None, [100] * 400):
        params = {"objective": lp.lambda_map, "num_threads": 2, "verbosity": -1}
        lgb.train(params, lgb.Dataset(features, labels, group=group), 2)
        used[group is None] = len(runs)
        runs.clear()
    assert used[True] == 0 < used[False]


def test_xgboosts_nthread_is_the_limit(monkeypatch: Any) -> None:
    xgb = pytest.importorskip("xgboost")
    data, seen = graded(), []

    def limit(n: int | None, team: Any = None) -> Any:
        seen.append(n)
        return limit_threads(n, team)

    monkeypatch.setattr("lambdaplus.frameworks.calls.limit_threads", limit)
    matrix = xgb.DMatrix(data.features, label=data.labels, group=data.sizes)
    xgb.train({"nthread": 1, "base_score": 0.0}, matrix, 2, obj=lp.lambda_map)
    assert seen == [1, 1]


def test_a_call_goes_on_where_no_thread_can_be_started(monkeypatch: Any) -> None:
    """As in a thread that trains on while the interpreter ends."""

    class Ended:
        def submit(self, *_: Any) -> None:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    data = graded()
    expected = lp.lambda_ndcg(data.labels, data.scores(), None, data.sizes)
    monkeypatch.setattr(parallel, "_pool", lambda process: Ended())
    monkeypatch.setattr(THRESHOLDS, "rows_per_thread", 10)
    monkeypatch.setattr(THRESHOLDS, "batch", 50)
    with limit_threads(4):
        found = lp.lambda_ndcg(data.labels, data.scores(), None, data.sizes)
    assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [0, 1_000, 16_000, 24_000, 100_000])
def test_batches_are_equal_shares_of_the_threads(rows: int) -> None:
    """Of queries of 10 rows."""
    boundaries, seen = np.arange(0, rows + 1, 10), []
    with limit_threads(2):
        parallel.over_batches(lambda *some: seen.append(some), boundaries)
    sizes = np.array([10 * (b - a) for a, b in sorted(seen)], np.int64)
    assert [b for _, b in sorted(seen)][:-1] == [a for a, _ in sorted(seen)][1:]
    assert sizes.sum() == rows
    assert sizes.max(initial=0) <= THRESHOLDS.batch
    if rows >= THRESHOLDS.rows_per_thread:
        assert sizes.size % 2 == 0
        assert np.ptp(sizes) <= 10
    else:
        assert sizes.size <= 1


def test_threads_at_work_start_no_others() -> None:
    seen: list[int] = []
    with limit_threads(2):
        parallel.over_tasks(lambda _: seen.append(n_threads()), 3)
        assert n_threads() == 2
    assert seen == [1, 1, 1]


@pytest.fixture(params=["lightgbm", "xgboost"])
def team(request: Any) -> Any:
    """Two threads of the OpenMP library of each framework, in use."""
    pytest.importorskip(request.param)
    functions = openmp_functions(request.param)
    if functions is None:
        pytest.skip("the library has no GOMP_parallel")
    found = OpenMPTeam(2, functions[0])
    with limit_threads(2, found):
        yield found


def test_a_team_works_on_threads_of_its_own(team: OpenMPTeam, monkeypatch: Any) -> None:
    monkeypatch.setattr(parallel, "_run_on_pool", None)
    both, seen, within = threading.Barrier(2), set(), set()

    def work(_: int) -> None:
        both.wait(30)  # until two threads are at work
        seen.add(threading.get_ident())
        parallel.over_tasks(lambda _: within.add((n_threads(), threading.get_ident())), 3)

    for _ in range(20):
        parallel.over_tasks(work, 2)
    assert len(seen) == 2
    assert threading.get_ident() in seen
    assert within == {(1, thread) for thread in seen}  # nested calls start no others


@pytest.mark.parametrize("where", ["here", "there"])
def test_an_error_of_a_thread_of_a_team_is_raised(team: OpenMPTeam, where: str) -> None:
    here = threading.get_ident()

    def fail(task: int) -> None:
        both.wait(30)
        if (threading.get_ident() == here) == (where == "here"):
            raise ZeroDivisionError(task)

    for _ in range(5):
        both = threading.Barrier(2)
        with pytest.raises(ZeroDivisionError):
            parallel.over_tasks(fail, 2)
    done: list[int] = []
    parallel.over_tasks(done.append, 5)
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_after_an_error_the_other_threads_take_no_further_work(team: OpenMPTeam) -> None:
    done: list[int] = []

    def fail_at_once(task: int) -> None:
        time.sleep(0.001)
        if not task:
            raise ZeroDivisionError
        done.append(task)

    for used in (team, None):  # or the pool
        done.clear()
        with limit_threads(2, used), pytest.raises(ZeroDivisionError):
            parallel.over_tasks(fail_at_once, 1000)
        assert len(done) < 500


@pytest.mark.skipif(os.name == "nt", reason="os.kill ends the process")
def test_ctrl_c_ends_a_team_and_the_next_one_works(team: OpenMPTeam) -> None:
    def press(task: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    # A shell starts jobs in the background without it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for tasks in (2, 3, 10):
            with pytest.raises(KeyboardInterrupt):
                parallel.over_tasks(press, tasks)
        parallel.over_tasks(lambda _: None, 3)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_team_is_used_if_at_least_half_of_it_works(monkeypatch: Any) -> None:
    used: list[str] = []
    monkeypatch.setattr(OpenMPTeam, "run", lambda team, work: used.append("team"))
    monkeypatch.setattr(parallel, "_run_on_pool", lambda work, threads: used.append("pool"))
    with limit_threads(6, OpenMPTeam(6, None)):
        for tasks in (1, 2, 3, 6, 7):
            parallel.over_tasks(lambda _: None, tasks)
        assert used == ["pool", "team", "team", "team"]
        with limit_threads(5):  # of the user: not those that the framework keeps
            parallel.over_tasks(lambda _: None, 5)
        assert used.pop() == "pool"


FORK = """
for make in (of_lightgbm, of_xgboost):
    model = make(2)
    model.update(fobj=lp.lambda_map)
    assert runs.pop() == 2
    runs.clear()
    child = os.fork()
    if not child:  # as the framework itself can train there: on one thread
        model = make(1)
        model.update(fobj=lp.lambda_map)
        with limit_threads(2, OpenMPTeam(2, openmp_functions(make.__name__[3:])[0])):
            gradient, _ = lp.lambda_map(labels, features[:, 0], None, group)
        assert np.isfinite(gradient).all() and not runs
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    model.update(fobj=lp.lambda_map)
    assert runs.pop() == 2
"""
IN_THREADS = """
def train(make, found):
    model = make(2)
    for _ in range(10):
        model.update(fobj=lp.lambda_map)
    found.append(predictions(model))

both = of_lightgbm, of_xgboost
alone = [[], []]
for make, found in zip(both, alone):
    train(make, found)
assert set(runs) == {2}
for makes in (both, (of_lightgbm,), (of_lightgbm, of_lightgbm), (of_xgboost, of_xgboost)):
    runs.clear()
    found = [[] for _ in makes]
    threads = [threading.Thread(target=train, args=each) for each in zip(makes, found)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert set(runs) == {2}
    for make, its in zip(makes, found):
        np.testing.assert_array_equal(its[0], alone[both.index(make)][0])
assert not any(thread.name.startswith("lambdaplus") for thread in threading.enumerate())
"""
AT_THE_END = """
make, daemon = (of_lightgbm, of_xgboost)[int(sys.argv[1])], sys.argv[2] == "daemon"
model = make(2)
model.update(fobj=lp.lambda_map)

def train():
    while daemon or threading.main_thread().is_alive():
        model.update(fobj=lp.lambda_map)
    for _ in range(5):
        runs.clear()
        model.update(fobj=lp.lambda_map)
        assert runs
    print("trained on")

threading.Thread(target=train, daemon=daemon).start()
time.sleep(float(sys.argv[3]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [FORK, IN_THREADS], ids=["child after a training", "two at once"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_processes_and_threads_wait_for_no_threads_that_they_lack(code: str) -> None:
    ran(code)


@pytest.mark.slow
@pytest.mark.parametrize("framework", [0, 1])
def test_the_interpreter_ends_while_a_training_runs(framework: int) -> None:
    assert "trained on" in ran(AT_THE_END, str(framework), "waited for", "0.1")
    for moment in np.random.default_rng(framework).uniform(0.1, 0.2, 4):
        ran(AT_THE_END, str(framework), "daemon", str(moment))


INTERRUPTED = """
make = (of_lightgbm, of_xgboost)[int(sys.argv[1])]
model = make(2)
model.update(fobj=lp.lambda_map)
import _thread, random, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
for _ in range(100):
    timer = threading.Timer(random.uniform(0.0, 0.05), _thread.interrupt_main)
    try:
        timer.start()
        while True:
            model.update(fobj=lp.lambda_map)
    except KeyboardInterrupt:
        timer.join()
runs.clear()
model.update(fobj=lp.lambda_map)
assert runs
"""


@pytest.mark.slow
@pytest.mark.parametrize("framework", [0, 1])
def test_ctrl_c_at_any_moment_of_a_training(framework: int) -> None:
    assert "ignored" not in ran(INTERRUPTED, str(framework))
