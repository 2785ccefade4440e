"""Finished fits are stored: stopped, killed or crashed studies continue with the same results."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Method, Settings, Store, Study, Summary, find_methods, write_report
from lambdaplus.study.estimator_trainer import train_estimator
from lambdaplus.study.study_tables import results_table, write_csv

TESTS = pathlib.Path(__file__).parent


def part(seed: int) -> RankingData:
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3))
    labels = np.clip(np.round(X[:, 0] + random.normal(size=60)), 0, 2)
    labels[::10] = 1
    return RankingData(X, labels, np.repeat(np.arange(6), 10) + 100 * seed)


def folds(n: int = 3) -> list[Fold]:
    return [Fold(f"Fold{i}", *(part(3 * i + j) for j in range(3))) for i in range(n)]


def study(folder: pathlib.Path | None, names: str, jobs: int = 1, **given_: Any) -> Study:
    return Study(
        folds(), find_methods(names), [parse_metric("map"), parse_metric("ndcg@5")],
        Settings(rounds=3), folder=folder, jobs=jobs, **given_,
    )  # fmt: skip


def odd(*names: str) -> str:
    return ",".join(f"odd_estimators:{name}" for name in names)


def states(folder: pathlib.Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def outcome(of: Study, folder: pathlib.Path) -> tuple[str, bytes, bytes]:
    """The table without times, and the files."""
    write_csv(of.results, folder)
    table = "\n".join(
        line.rpartition("  ")[0] for line in str(results_table(Summary(of.results))).splitlines()
    )
    return table, (folder / "per_query.csv").read_bytes(), (folder / "summary.csv").read_bytes()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_run_fits_nothing_again(tmp_path: pathlib.Path, jobs: int) -> None:
    names = "lightgbm:lambda_map," + odd("FirstFeature")
    first = study(tmp_path, names, jobs)
    assert len(list(first.run())) == len(first) == 6
    kept = states(tmp_path)
    second = study(tmp_path, names, jobs)
    list(second.run())
    assert states(tmp_path) == kept
    assert outcome(first, tmp_path / "a") == outcome(second, tmp_path / "b")
    wider = study(tmp_path, names + ",lightgbm:lambda_auc", jobs)
    list(wider.run())
    assert states(tmp_path).items() > kept.items()
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_processes_fit_what_this_one_does(tmp_path: pathlib.Path) -> None:
    names = "lightgbm:lambda_ndcg,xgboost:lambda_map,svm:map,pairs:rankboost"
    results = []
    for jobs in (1, 2):
        found = study(tmp_path / str(jobs), names, jobs)
        list(found.run())
        assert found.errors == {}
        results.append(outcome(found, tmp_path / f"out{jobs}")[1:])
    assert results[0] == results[1]


def test_whatever_could_change_a_fit_makes_it_another(tmp_path: pathlib.Path) -> None:
    plain = study(tmp_path, "lightgbm:lambda_map")
    keys = {task.key for task in plain.tasks}
    for other in (
        study(tmp_path, "lightgbm:lambda_map", seeds=(1,)),
        study(tmp_path, "lightgbm:lambda_map@5"),
        study(tmp_path, "xgboost:lambda_map"),
        Study(folds(), plain.methods, plain.metrics, Settings(rounds=4)),
        Study([Fold("Fold0", part(0), part(1), part(7))], plain.methods, plain.metrics,
              Settings(rounds=3)),
    ):  # fmt: skip
        assert keys.isdisjoint(task.key for task in other.tasks)
    threads = Study(folds(), plain.methods, plain.metrics, Settings(rounds=3, threads=2))
    assert keys == {task.key for task in threads.tasks}


def test_a_process_that_aborts_takes_no_other_with_it(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, odd("Aborting", "FirstFeature", "NotANumber"), jobs=2)
    assert len(list(found.run())) == 9
    assert found.errors == {
        "odd_estimators:Aborting": "Fold0: its process ended with exit code 3",
        "odd_estimators:NotANumber": "Fold0: ValueError: it scored validation documents with NaN "
        "or infinity",
    }
    assert len(found.finished) == 3
    assert not np.isnan(found.mean(found.methods[1], found.metrics[0]))


def test_warnings_are_kept_and_told_once(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, odd("Warns"))
    list(found.run())
    assert found.results["odd_estimators:Warns"][0].fit.warnings == ("it did not converge",)
    assert "it did not converge: odd_estimators:Warns (3 fits)." in str(
        results_table(Summary(found.results))
    )


def test_an_estimator_is_passed_what_it_asks_for(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, odd("Guided"), seeds=(5,))
    list(found.run())
    assert found.errors == {}


def test_parameters_are_chosen_on_validation_data(tmp_path: pathlib.Path) -> None:
    method = Method(
        "test:guided", train_estimator, "odd_estimators:Guided", "ndcg@10",
        grid={"column": (2, 1, 0)},
    )  # fmt: skip
    found = Study(folds(), [method], [parse_metric("map")], seeds=(5,), folder=tmp_path)
    assert len(list(found.run())) == 9
    for choice in found.results["test:guided"]:
        valid, test = choice.fold.valid, choice.fold.test
        values = [
            evaluate(valid.labels, valid.features[:, c], qid=valid.qid, metrics="ndcg@10")[
                "ndcg@10"
            ]
            for c in (2, 1, 0)
        ]
        assert choice.parameters == {"column": (2, 1, 0)[int(np.argmax(values))]}
        column = test.features[:, choice.parameters["column"]]
        expected = evaluate(test.labels, column, qid=test.qid, metrics="map")["map"]
        assert choice.evaluation["map"] == expected


def test_seeds_are_averaged_query_by_query(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, "perceptron:pocket,feature:best", seeds=(0, 1))
    list(found.run())
    assert len(found) == 3 * 2 + 3  # the best feature draws nothing
    method = found.methods[0]
    whole = found.evaluation(method)
    assert whole is not None
    assert whole.n_queries == 18
    by_seed = [
        np.concatenate([c.evaluation.per_query["map"] for c in found.choices(method)
                        if c.seed == seed])
        for seed in (0, 1)
    ]  # fmt: skip
    np.testing.assert_allclose(whole.per_query["map"], np.mean(by_seed, axis=0))
    assert found.mean(method, found.metrics[0]) == pytest.approx(np.mean(by_seed))


RUN = """
import pathlib, sys
sys.path.insert(0, {tests!r})
from test_store import odd, study
if __name__ == "__main__":
    for task in study(pathlib.Path({folder!r}), odd("Slow", "FirstFeature"), jobs=2).run():
        pass
"""


@pytest.mark.slow
def test_a_killed_study_goes_on_where_it_was(tmp_path: pathlib.Path) -> None:
    """SIGKILL at several moments; each time nothing finished is lost or done again."""
    script, folder = tmp_path / "run.py", tmp_path / "study"
    script.write_text(RUN.format(tests=str(TESTS), folder=str(folder)))
    random, before = np.random.default_rng(0), {}
    for _ in range(2):  # a new study and one that goes on; test_killed_runs.py kills more often
        running = subprocess.Popen([sys.executable, script], start_new_session=True)
        deadline = time.monotonic() + 300  # the first run may have kernels to compile
        # A random moment after something new was finished, or at once if all is.
        while len(states(folder)) in (len(before), 0) and running.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.4))
        running.send_signal(signal.SIGKILL)
        running.wait()
        time.sleep(1.0)  # its fits notice within half a second that it is gone
        after = states(folder)
        assert after.items() >= before.items()
        before = after
        if len(after) == 6:
            break
    found = study(folder, odd("Slow", "FirstFeature"))
    list(found.run())
    assert states(folder).items() >= before.items()
    plain = study(None, odd("Slow", "FirstFeature"))
    list(plain.run())
    pages = []
    for one, out in ((found, tmp_path / "a"), (plain, tmp_path / "b")):
        # Times are all that may differ: each fit is said to have taken a second.
        for task in one.tasks:
            fit = one.store.load(task.key)
            assert fit is not None
            one.store.save(task.key, replace(fit, seconds=1.0), {})
        again = study(one.store.folder, odd("Slow", "FirstFeature"))
        list(again.run())
        write_report(again.results, out)
        pages.append({path.name: path.read_bytes() for path in out.rglob("*.*")})
        pages[-1] |= dict(enumerate(outcome(again, out)))
    assert pages[0].keys() == pages[1].keys()
    assert [name for name in pages[0] if pages[0][name] != pages[1][name]] == []


def test_nothing_is_unpickled_from_a_store(tmp_path: pathlib.Path) -> None:
    import pickle

    path = Store(tmp_path).path("bad")
    path.parent.mkdir()
    for content in (pickle.dumps({"a": 1}), b"not a fit"):
        path.write_bytes(content)
        with pytest.raises((ValueError, OSError)):
            Store(tmp_path).load("bad")
    np.savez(path, valid_scores=np.array([{}], dtype=object), test_scores=np.zeros(1))
    with pytest.raises((ValueError, KeyError)):
        Store(tmp_path).load("bad")


def test_closing_the_run_kills_what_still_runs(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, odd("Slow"), jobs=2)
    running = found.run()
    next(running)
    start = time.monotonic()
    running.close()
    assert time.monotonic() - start < 5
    assert len(found.finished) == 1
    assert os.path.exists(found.store.path(next(iter(found.finished))))
