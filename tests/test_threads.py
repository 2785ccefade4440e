"""Threads: the number in use, measured from outside, and unchanged settings of other libraries."""

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_data import graded

import lambdaplus as lp
from lambdaplus.compute import parallel
from lambdaplus.compute.parallel import limit_threads, n_threads

# Threads of ours, and processor time of other threads, while LightGBM trains with one thread.
TRAIN = """
import os, threading, time, warnings, sys
import lightgbm, numpy as np
import lambdaplus as lp
random = np.random.default_rng(0)
labels, group = random.integers(0, 3, 60_000), [100] * 600
data = lightgbm.Dataset(random.normal(size=(60_000, 3)), label=labels, group=group)
rows = random.normal(size=(9, 3))
for given in sys.argv[1:]:
    params = {"objective": lp.lambda_map, "verbosity": 0, "metric": "None", **eval(given)}
    model = lightgbm.train(params, data, 3)
    ours = [thread.name for thread in threading.enumerate() if thread.name.startswith("lambdaplus")]
    print("\\n", len(ours), repr(float(np.sum(model.predict(rows)))))
"""


def trained(*params: str, **environment: str) -> tuple[list[tuple[int, str]], str]:
    """Threads that there are after each training, the sum of its predictions; all that is said."""
    clean = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, *params], capture_output=True, text=True, check=True,
        env={**clean, **environment},
    )  # fmt: skip
    found = re.findall(r"^ (\d+) (\S+)$", done.stdout, re.MULTILINE)
    return [(int(threads), total) for threads, total in found], done.stdout + done.stderr


@pytest.mark.slow
def test_one_thread_where_one_is_asked_for_and_no_warning() -> None:
    pytest.importorskip("lightgbm", minversion="4")
    one, two = "{'seed': 1, 'num_threads': 1}", "{'seed': 1, 'num_threads': 2}"
    (by_environment, both), said = trained("{'seed': 1}", two, OMP_NUM_THREADS="1")
    [by_parameter], also_said = trained(one)
    assert by_environment[0] == by_parameter[0] == 0  # all is done in the thread that trains
    assert "num_threads" not in said + also_said
    if (os.cpu_count() or 1) > 1:
        assert both[0] == 1  # the training's own setting comes first
    assert by_environment[1] == by_parameter[1]


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


def test_xgboosts_nthread_is_the_limit(monkeypatch: Any) -> None:
    xgb = pytest.importorskip("xgboost")
    data, seen = graded(), []

    def limit(n: int | None) -> Any:
        seen.append(n)
        return limit_threads(n)

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
    monkeypatch.setattr(parallel, "ROWS_PER_THREAD", 10)
    monkeypatch.setattr(parallel, "BATCH", 50)
    with limit_threads(4):
        found = lp.lambda_ndcg(data.labels, data.scores(), None, data.sizes)
    assert_array_equal(found, expected)


def test_threads_at_work_start_no_others() -> None:
    seen: list[int] = []
    with limit_threads(2):
        parallel.over_tasks(lambda _: seen.append(n_threads()), 3)
        assert n_threads() == 2
    assert seen == [1, 1, 1]


def test_a_long_sweep_depends_neither_on_threads_nor_on_other_queries(monkeypatch: Any) -> None:
    monkeypatch.setattr("lambdaplus.objectives.sums.LONG_SWEEP", 300)
    random, sizes = np.random.default_rng(0), [500, 40, 700, 299]
    labels, scores = random.integers(0, 4, sum(sizes)), random.normal(size=sum(sizes))
    cuts = np.cumsum(sizes)[:-1]
    for name in ("map", "ndcg@10", "err"):  # two classes, several, and lists of two of several
        objective = lp.lambda_objective(name)
        with limit_threads(1):
            whole = objective(labels, scores, None, sizes)
        with limit_threads(2):
            assert_array_equal(objective(labels, scores, None, sizes), whole)
        parts = zip(np.split(labels, cuts), np.split(scores, cuts), sizes, strict=True)
        alone = [objective(own, its, None, [size]) for own, its, size in parts]
        assert_array_equal(np.concatenate(alone, axis=1), whole)
