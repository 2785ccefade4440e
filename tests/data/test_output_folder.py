"""Files in the output folder of a comparison belong to the user unless a run wrote them."""

import contextlib
import itertools
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import invoke
from killed_runs import contents
from small_data import letor_folder

from lambdaplus.data.output_folder import OutputFolder
from lambdaplus.study import Study

QUICK = ["--methods", "feature:best", "--metrics", "map"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a data set in ``data``, which is the working directory of the user."""
    (tmp_path / "home").mkdir()
    letor_folder(tmp_path / "home" / "data", folds=2, queries=4)
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def compare(*arguments: str, jobs: int = 1) -> tuple[int, str]:
    """Exit code, and what was said."""
    result = invoke("compare", *QUICK, *arguments, "--jobs", jobs, ends=None)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def without_lock(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: text for name, text in files.items() if ".lambdaplus" not in name}


@pytest.mark.parametrize("jobs", [1, 2])
def test_other_files_stay_and_a_run_repeats_nothing(home: Path, jobs: int) -> None:
    name = "da\N{HERB}ta [red]:bug:"  # neither emoji codes nor styles
    (home / "data").rename(home / name)
    before = contents(home)
    umask = os.umask(0o022)
    try:
        for _ in range(2):  # the second time nothing is left to fit
            assert compare(name, "--out", ".", jobs=jobs)[0] == 0
            assert contents(home).items() >= before.items()
    finally:
        os.umask(umask)
    assert (home / "summary.csv").exists()
    written = [path for path in home.rglob("*.*") if str(path.relative_to(home)) not in before]
    assert {path.stat().st_mode & 0o777 for path in written if path.is_file()} == {0o644}
    after = contents(home)
    assert compare("study.toml", "--out", ".", jobs=jobs)[0] == 0
    assert without_lock(contents(home)) == without_lock(after)


OF_A_MODEL = [f"model/{name}" for name in ("model.txt", "about.json", "predict.pyz", "predict.py")]


@pytest.mark.parametrize(
    "name", ["summary.csv", "per_query.csv", "study.toml", "report.html", *OF_A_MODEL]
)
@pytest.mark.parametrize("link", [False, True])
def test_file_of_the_user_is_not_overwritten(home: Path, name: str, link: bool) -> None:
    (home / "thesis").write_text("mine")
    (home / "model").mkdir()
    (home / name).symlink_to(home / "thesis") if link else (home / name).write_text("mine")
    before = contents(home)
    model = ("--methods", "lightgbm:map", "--save-model", "model") if name in OF_A_MODEL else ()
    code, said = compare("data", "--out", ".", "--report", *model)
    assert code == 2
    assert f"{name} was not written by lambdaplus, or was changed since" in said
    assert without_lock(contents(home)) == before  # it was said before the first fit
    assert (home / name).is_symlink() == link


def test_changed_results_are_not_overwritten(home: Path) -> None:
    assert compare("data", "--out", "out")[0] == 0
    assert compare("data", "--out", "out", "--folds", "1")[0] == 0
    with (home / "out" / "summary.csv").open("a") as file:
        file.write("my notes\n")
    before = without_lock(contents(home / "out"))
    code, said = compare("data", "--out", "out")
    assert code == 2
    assert "out/summary.csv was not written by lambdaplus" in said
    assert contents(home / "out").items() >= before.items()


def test_inputs_are_not_overwritten(home: Path) -> None:
    rows = [f"{d % 2},{q},{d + q}\n" for q in range(10) for d in range(3)]
    texts = {
        "study.toml": '# my study\ndata = "data"\n',
        "summary.csv": "".join(["label,qid,x\n", *rows]),
    }
    for name, text in texts.items():
        (home / name).write_text(text)
        code, said = compare(name, "--out", ".")
        assert code == 2
        assert f"{name} is an input of this run and would be overwritten" in said
        assert (home / name).read_text() == text
        (home / name).unlink()


def test_outdated_files_are_removed_unless_they_were_changed(tmp_path: Path) -> None:
    def publish(text: str, *names: str) -> None:
        with OutputFolder(tmp_path) as folder:
            (folder.made / "plots").mkdir()
            for name in names:
                (folder.made / "plots" / name).write_text(text)
            folder.publish(outdated=["plots/*"])

    publish("first", "a.png", "b.png", "c.png")
    (tmp_path / "plots" / "b.png").write_text("mine")  # as it was written, until I drew into it
    (tmp_path / "plots" / "mine.png").write_text("mine")
    publish("second", "a.png")
    left = {path.name: path.read_text() for path in (tmp_path / "plots").iterdir()}
    assert left == {"a.png": "second", "b.png": "mine", "mine.png": "mine"}


@pytest.mark.parametrize("at", range(1, 7))
def test_a_stop_at_any_write_leaves_whole_files_that_the_last_one_vouches_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """As a saved model replaces another one."""
    names, replace, writes = ("about", "model", "script"), os.replace, itertools.count(1)

    def publish(text: str) -> None:
        with OutputFolder(tmp_path) as folder:
            for name in names:
                (folder.made / name).write_text(text)
            folder.publish(last="about")

    def stopped(*arguments: Any) -> None:
        if next(writes) == at:
            raise KeyboardInterrupt
        replace(*arguments)

    publish("old")
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(os, "replace", stopped)
        publish("new")
    if (tmp_path / "about").exists():
        assert len({(tmp_path / name).read_text() for name in names}) == 1
    assert next(writes) == 1 + min(at, 5)  # a list of files, three files, and the list again
    publish("last")  # which completes what was stopped
    assert {(tmp_path / name).read_text() for name in names} == {"last"}


def test_a_thread_of_a_daemonic_process_can_run_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which gets no signals, and may start no processes."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    with ThreadPoolExecutor(1) as pool:
        code, said = pool.submit(compare, "data", "--out", ".", jobs=2).result()
    assert code == 0, said


def test_ctrl_c_says_in_a_line_what_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Study.run

    def stopped(study: Study) -> Iterator[Any]:
        fits = run(study)
        yield next(fits)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Study, "run", stopped)
        code, said = compare("data", "--out", "out")
    assert code == 130
    assert said.endswith(
        " Stopped after 1 of 2 fits, which are kept in out: the same command continues from there."
    )
    assert said.startswith("Data: data Fold1: ")
    assert not (home / "out" / "summary.csv").exists()
    assert compare("data", "--out", "out")[0] == 0


def test_second_run_into_the_same_folder_is_refused(home: Path) -> None:
    with OutputFolder(home / "out"):
        code, said = compare("data", "--out", "out")
    assert code == 2
    assert "another run writes to out: wait until it ends" in said
    assert compare("data", "--out", "out")[0] == 0


def test_a_full_disk_is_said_and_leaves_the_former_results(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare("data", "--out", "out")[0] == 0
    before = contents(home / "out")

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", no_room)
        code, said = compare("data", "--out", "out", "--scaling", "query")
        assert code == 1
        assert "feature:best failed: Fold1: OSError: [Errno 28] could not write: No space" in said
        code, said = compare("data", "--out", "out", "--folds", "1")  # whose fit is stored
        assert code == 2
        assert "could not write: No space left on device: 'out/" in said
    assert without_lock(contents(home / "out")) == without_lock(before)
    assert compare("data", "--out", "out", "--folds", "1")[0] == 0


def test_folds_whose_files_have_one_name_keep_to_themselves(home: Path) -> None:
    """Fold1/set1.train.txt and Fold2/set1.train.txt."""
    for file in [*(home / "data").rglob("*.txt")]:
        file.rename(file.with_name(f"set1.{file.name}"))
    assert compare("data", "--out", "both")[0] == 0
    assert pl.read_csv(home / "both" / "summary.csv").columns[3:] == ["set1 1", "set1 2"]


def test_missing_folds_are_refused_at_once(home: Path) -> None:
    (home / "data" / "Fold2").rename(home / "data" / "Fold3")
    code, said = compare("data", "--out", "out")
    assert code == 2
    assert "data has Fold1, Fold3, but no Fold2" in said
    assert not (home / "out").exists()
