"""Finished fits are stored: stopped, killed or crashed studies continue with the same results."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import SUPPORT, TESTS

from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import evaluate
from lambdaplus.study import Config, Fitted, Method, Study, Summary, Task, find_methods
from lambdaplus.study.estimator_trainer import train_estimator
from lambdaplus.study.result_files import write_tables
from lambdaplus.study.summary_tables import results_table
from lambdaplus.study.validation import values_of


def part(seed: int) -> RankingData:
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3))
    labels = np.clip(np.round(X[:, 0] + random.normal(size=60)), 0, 2)
    labels[::10] = 1
    return RankingData(X, labels, np.repeat(np.arange(6), 10) + 100 * seed)


def folds(n: int = 3) -> list[Fold]:
    return [Fold(f"Fold{i}", *(part(3 * i + j) for j in range(3))) for i in range(n)]


def study(folder: Path | None, names: str, jobs: int = 1, **config: Any) -> Study:
    asked = Config(**{"rounds": 3, "patience": 3, **config})
    return Study(folds(), find_methods(names), ["map", "ndcg@5"], asked, folder, jobs)


def finished(folder: Path | None, names: str, jobs: int = 1, **config: Any) -> Study:
    found = study(folder, names, jobs, **config)
    found.finish()
    return found


def odd(*names: str) -> str:
    return ",".join(f"odd_estimators:{name}" for name in names)


def states(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def written(of: Study, folder: Path) -> list[bytes]:
    write_tables(of.results, folder)
    return [(folder / f"{name}.csv").read_bytes() for name in ("per_query", "summary")]


def test_second_runs_fit_nothing_and_processes_fit_the_same(tmp_path: Path) -> None:
    names = "lightgbm:lambda_ndcg,xgboost:lambda_map,perceptron:average," + odd("FirstFeature")
    results = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        first = study(folder, names, jobs)
        assert len(list(first.run())) == len(first)
        stored = states(folder)
        second = finished(folder, names, jobs)
        assert (first.kept, second.kept) == (0, len(first))
        assert states(folder) == stored
        results += [written(first, folder / "a"), written(second, folder / "b")]
        wider = finished(folder, names + ",lightgbm:lambda_auc", jobs, convention="letor4")
        assert wider.kept == len(first)
        assert states(folder).items() > stored.items()
        assert not (folder / "data").exists()
    assert all(result == results[0] for result in results)


def test_whatever_could_change_a_fit_gives_it_another_key(tmp_path: Path) -> None:
    plain = study(tmp_path, "lightgbm:lambda_map")
    keys = {task.key for task in plain.tasks}
    other_fold = [Fold("Fold0", part(0), part(1), part(7))]
    for other in (
        study(tmp_path, "lightgbm:lambda_map", seeds=(1,)),
        study(tmp_path, "lightgbm:lambda_map@5"),
        study(tmp_path, "xgboost:lambda_map"),
        study(tmp_path, "lightgbm:lambda_map", rounds=4),
        Study(other_fold, plain.methods, plain.metrics, plain.config),
    ):
        assert keys.isdisjoint(task.key for task in other.tasks)
    threads = Study(plain.folds, plain.methods, plain.metrics, plain.config, threads=2)
    assert keys == {task.key for task in threads.tasks}


WRONG = {
    "Aborting": "its process ended with exit code 3",
    "Leaving": "its process ended with exit code 0",
    "NotANumber": "ValueError: it scored validation documents with NaN or infinity",
    "TooFew": r"ValueError: it gave scores of shape \(59,\) for 60 validation documents",
    "Column": r"ValueError: it gave scores of shape \(60, 1\) for 60 validation documents",
    "Exits": "SystemExit: no licence",
    "Unspeakable": "Error: ",
    "Verbose": r"ValueError: \\x1b\[2Jwrong",
    "Complex": "ValueError: scores must be numbers, not complex128",
    "Masked": "ValueError: scores is a masked array with .*",
}


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_fit_that_fails_takes_another_with_it(tmp_path: Path, jobs: int) -> None:
    wrong = {odd(name): error for name, error in WRONG.items()}
    if jobs == 1:  # these would end this process
        del wrong[odd("Aborting")], wrong[odd("Leaving")]
    found = study(tmp_path, ",".join([*wrong, odd("FirstFeature")]), jobs)
    if jobs > 1:
        local = Method("local", lambda task: Fitted(lambda part: part.features[:, 0]))
        found.methods = [*found.methods, local]
        wrong["local"] = "it cannot be sent to another process: .*"
    assert len(list(found.run())) == 3 * len(found.methods)
    assert found.errors.keys() == wrong.keys()
    for name, error in found.errors.items():  # of the fold that ended first
        assert re.fullmatch(rf"Fold\d: {wrong[name]}", error)
    failed = [fit for fit in found.fits if fit.error]
    assert len(failed) == 3 * len(wrong)
    assert all(re.fullmatch(wrong[fit.method], fit.error) for fit in failed)
    assert len(found.finished) == len(states(tmp_path)) == 3
    assert not np.isnan(found.results.mean(odd("FirstFeature"), "map"))
    assert np.isnan(found.results.mean(odd("Column"), "map"))
    with pytest.raises(RuntimeError, match="failed; the finished ones are stored: odd_est"):
        found.finish()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_estimator_that_changes_its_arguments_changes_no_other(jobs: int) -> None:
    found = finished(None, odd("InPlace", "FirstFeature"), jobs)
    alone = finished(None, odd("FirstFeature"))
    for metric in ("map", "ndcg@5"):
        one, other = (each.results.mean(odd("FirstFeature"), metric) for each in (found, alone))
        assert one == other
    for fold, before in zip(found.folds, folds(), strict=True):
        for after, expected in zip(fold.parts, before.parts, strict=True):
            np.testing.assert_array_equal(after.features, expected.features)
            np.testing.assert_array_equal(after.labels, expected.labels)


def test_a_thread_that_a_fit_leaves_does_not_stop_the_study() -> None:
    found = Study(folds(2), find_methods(odd("LeavesAThread")), ["map"], jobs=2)
    found.finish()
    assert len(found.finished) == 2


def test_warnings_are_kept_and_told_once(tmp_path: Path) -> None:
    found = finished(tmp_path, odd("Warns"))
    assert set(found.results.fits["warnings"]) == {"it did not converge"}
    table = str(results_table(Summary(found.results)))
    assert table.count("Warning of odd_estimators:Warns: it did not converge.") == 1


def test_an_estimator_gets_what_its_signatures_take(tmp_path: Path) -> None:
    """By one that checks what is passed to it."""
    method = Method("guided", train_estimator, "odd_estimators:Guided", fixed={"column": 1})
    found = Study(folds(1), [method], ["map"], Config(seeds=(5,)), folder=tmp_path)
    found.finish()
    [fold], [fit] = found.folds, found.fits
    assert fit.test.tolist() == fold.test.features[:, 1].tolist()


def test_seeds_are_averaged_query_by_query(tmp_path: Path) -> None:
    found = finished(tmp_path, "perceptron:pocket,feature:best", seeds=(0, 1))
    assert len(found) == 3 * 2 + 3  # the best feature draws nothing
    method = found.methods[0]
    by_query = found.results.by_query(method.name, "map")
    assert by_query.size == 18
    tests = {fold.name: fold.test for fold in found.folds}
    by_seed: list[list[Any]] = [[], []]
    for fit in found.chosen(method.name, "map"):
        test = tests[fit.fold]
        run = evaluate(test.labels, fit.test, qid=test.qid, metrics="map")
        by_seed[fit.seed].append(run.per_query["map"])
    expected = np.mean([np.concatenate(values) for values in by_seed], axis=0)
    np.testing.assert_allclose(by_query, expected)
    assert found.results.mean(method.name, "map") == pytest.approx(np.mean(by_seed))


def test_folds_of_the_same_data_share_their_fits_and_keep_their_names(tmp_path: Path) -> None:
    parts = folds(1)[0].parts
    alike = [Fold(name, *parts) for name in ("one", "other")]
    found = Study(alike, find_methods("feature:best"), ["map"], folder=tmp_path)
    found.finish()
    assert len(states(tmp_path)) == 1
    assert [fit.fold for fit in found.fits] == ["one", "other"]
    assert [*found.results.fold_means("feature:best", "map")] == ["one", "other"]


def test_a_ranker_without_a_learning_curve_has_the_value_of_its_scores() -> None:
    found = finished(None, "feature:best")
    assert len(found.fits) == 3 * 2  # folds, metrics
    for fit in found.fits:
        task = found.task_of(fit)
        [metric] = [metric for metric in task.metrics if str(metric) == fit.metric]
        assert fit.curve.size == 0
        assert fit.value == values_of([metric], task.valid, fit.validation)[metric]
    values = found.results.chosen_fits()["value"].to_list()
    assert sorted(values) == sorted(fit.value for fit in found.fits)


def test_a_failed_fit_is_made_again(tmp_path: Path) -> None:
    broken = [True]

    def train(task: Task) -> Fitted:
        if broken:
            raise ValueError("not yet")
        return Fitted(lambda data: data.features[:, 0])

    found = Study(folds(1), [Method("mine", train)], ["map"], folder=tmp_path)
    with pytest.raises(RuntimeError, match="mine: Fold0: ValueError: not yet"):
        found.finish()
    broken.clear()
    found.finish()
    assert found.errors == {}
    assert [fit.error for fit in found.fits] == [""]


RUN = """
import pathlib, sys
sys.path[:0] = {tests!r}
from test_store import odd, study
if __name__ == "__main__":
    for task in study(pathlib.Path({folder!r}), odd("Slow", "FirstFeature"), jobs=2).run():
        pass
"""


@pytest.mark.slow
def test_a_script_that_is_imported_by_its_own_fits_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    text = RUN.format(tests=[str(TESTS / "study"), str(SUPPORT)], folder=str(tmp_path / "study"))
    script.write_text(text.replace('if __name__ == "__main__"', "if True"))
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert ended.stderr.count("Traceback") == 1
    assert "import your script" in ended.stderr.splitlines()[-1]


def test_closing_the_run_kills_what_still_runs(tmp_path: Path) -> None:
    found = study(tmp_path, odd("FirstFeature", "Endless"), jobs=2)
    running = found.run()
    next(running)
    start = time.monotonic()
    running.close()
    assert time.monotonic() - start < 60  # which an endless fit takes ten times
    assert len(found.finished) == 1 <= len(states(tmp_path)) <= 3
