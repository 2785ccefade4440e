"""``predict.pyz``, the program beside a saved model."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scored_files import HEAD, PLAN, ROWS, trained

from lambdaplus import saved_model
from lambdaplus.data.model_folder import model_folder
from lambdaplus.data.model_program import write_program
from lambdaplus.saved_model import boosters, command
from lambdaplus.saved_model.about import SCORES
from lambdaplus.saved_model.scores import score_file

PROGRAM = "predict.pyz"


def run(*arguments: Any, **options: Any) -> Any:
    """A process of Python; its folder is not kept from the import path from outside."""
    environment = {**os.environ, "PYTHONSAFEPATH": "", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=120, env=environment, **options,
    )  # fmt: skip


# The file -----------------------------------------------------------------------------------------


def test_the_same_modules_are_packed_as_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the clock, its zone, and the permissions of new files."""
    write_program(tmp_path / "one")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    umask = os.umask(0o077)
    try:
        write_program(tmp_path / "other")
    finally:
        os.umask(umask)
        monkeypatch.undo()
        time.tzset()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_the_file_holds_all_modules_as_text(tmp_path: Path) -> None:
    write_program(tmp_path / PROGRAM)
    folder = Path(str(saved_model.__file__)).parent
    with zipfile.ZipFile(tmp_path / PROGRAM) as archive:
        entries = archive.infolist()
        held = {one.filename: archive.read(one) for one in entries}
    assert len(held) == len(entries)  # none twice
    assert held.pop("__main__.py")
    modules = {f"saved_model/{path.name}": path.read_bytes() for path in folder.glob("*.py")}
    assert held == modules
    packed = (tmp_path / PROGRAM).read_bytes()
    assert all(source in packed for source in modules.values())  # not compressed
    assert {one.date_time for one in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {one.external_attr >> 16 for one in entries} == {0o644}  # of unpacked files


def test_the_program_that_an_earlier_version_wrote_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with model_folder(folder) as made:
        (made / "predict.py").write_text("print(1)")
        (made / "about.json").write_text("{}")
    trained(folder, "lightgbm", PLAN, 3)
    assert PROGRAM in (folder / "predict.py").read_text()
    assert (folder / PROGRAM).exists()
    (folder / "predict.py").write_text("print(2)")  # of the user
    with pytest.raises(FileExistsError, match=r"predict\.py"):
        trained(folder, "lightgbm", PLAN, 3)
    assert (folder / "predict.py").read_text() == "print(2)"


@pytest.mark.parametrize("options", [(), ("-I",), ("-P",)])
def test_its_earlier_name_runs_it(options: tuple[str, ...], scored: Any) -> None:
    folder, file, scores = scored
    for name in ("runpy", "numpy", "saved_model"):
        (folder / "model" / f"{name}.py").write_text("raise SystemExit('imported')")
    done = run(*options, "model/predict.py", str(file), cwd=folder)
    assert (done.returncode, [*map(float, done.stdout.split())]) == (0, scores)
    wrong = run(*options, "model/predict.py", cwd=folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert f"{PROGRAM} [--probabilities] FILE" in wrong.stderr


# The command --------------------------------------------------------------------------------------


@pytest.fixture
def scored(models: dict[str, Path], tmp_path: Path) -> tuple[Path, Path, list[float]]:
    """A folder with a model, a file, and its scores."""
    shutil.copytree(models["lightgbm"], tmp_path / "model")
    pl.DataFrame(ROWS)[:4].write_csv(tmp_path / "new.csv")
    scores = score_file(tmp_path / "model", tmp_path / "new.csv").tolist()
    return tmp_path, tmp_path / "new.csv", scores


@pytest.mark.parametrize("option", ["-I", "-P", "-E"])
def test_it_finds_its_modules_in_any_mode_of_python(option: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    write_program(tmp_path / "model" / PROGRAM)
    for place, program in ((tmp_path, f"model/{PROGRAM}"), (tmp_path / "model", PROGRAM)):
        done = run(option, program, "new.csv", cwd=place)
        assert done.stderr.startswith(f"{PROGRAM}: {Path(program).parent} has no about.json")
        assert (done.returncode, done.stdout) == (2, "")


def test_what_is_unpacked_to_be_read_runs_as_well(scored: Any) -> None:
    folder, file, scores = scored
    said = json.loads((folder / "model" / "about.json").read_text())["program"]
    command = said.partition(": ")[2].replace("FOLDER", "source").split()
    assert command[0] == "python"
    assert run(*command[1:], cwd=folder / "model").returncode == 0
    done = run("model/source", file, cwd=folder)
    assert [*map(float, done.stdout.split())] == scores, done.stderr
    assert done.stderr == f"source: {SCORES}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("a.csv", "b.csv"), ("--other", "a.csv")])
def test_its_usage_names_the_program_as_it_was_called(scored: Any, arguments: Any) -> None:
    folder, _, _ = scored
    for place, program in ((folder, f"model/{PROGRAM}"), (folder / "model", PROGRAM)):
        done = run(program, *arguments, cwd=place)
        assert (done.returncode, done.stdout) == (2, "")
        assert f": python {program} [--probabilities] FILE\n" in done.stderr
        assert f"python -m zipfile -e {program} FOLDER\n" in done.stderr


def test_a_traceback_names_files_of_the_program(scored: Any) -> None:
    folder, file, _ = scored
    (folder / "broken").mkdir()
    (folder / "broken" / "numpy.py").write_text("raise RuntimeError('this numpy is broken')\n")
    done = run(f"model/{PROGRAM}", file, cwd=folder, env={"PYTHONPATH": str(folder / "broken")})
    assert done.returncode == 1
    assert f"{PROGRAM}{os.sep}saved_model{os.sep}command.py" in done.stderr
    assert done.stderr.endswith("RuntimeError: this numpy is broken\n")


# What lambdaplus, the current folder and the model's folder have ----------------------------------

BESIDE = ("numpy", "json", "csv", "typing", "__future__", "saved_model", "__main__", "lightgbm")


def test_code_beside_a_model_or_a_file_does_not_run(scored: Any) -> None:
    folder, file, scores = scored
    for place in (folder, folder / "model"):
        for module in BESIDE:
            (place / f"{module}.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()")
    done = run(f"model/{PROGRAM}", file, cwd=folder)
    assert [*map(float, done.stdout.split())] == scores, done.stderr
    assert not (folder / "ran").exists()


def test_names_are_printed_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.csv").write_text("caf\u00e9\x1b[2J\x9b31m\u202e\n1\n")
    about = {"framework": "lightgbm", "columns": [{"name": "x"}]}
    (tmp_path / "about.json").write_text(json.dumps(about))
    monkeypatch.setitem(boosters.SCORERS, "lightgbm", lambda model: None)
    (tmp_path / "model.txt").touch()
    assert command.main(str(tmp_path / PROGRAM), [str(tmp_path / "new.csv")]) == 2
    assert r"it has: café\x1b[2J\x9b31m\u202e." in capsys.readouterr().err.replace("é", r"é")


# Terminals and pipes ------------------------------------------------------------------------------


def test_progress_is_shown_in_a_terminal(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (file := tmp_path / "a.csv").write_text(HEAD + "1,east,1\n" * 1200)
    score_file(models["lightgbm"], file, 4000)
    assert not capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    score_file(models["lightgbm"], file, 4000)
    assert "1,200 rows" in capsys.readouterr().err


def test_a_reader_of_scores_may_stop(models: dict[str, Path], tmp_path: Path) -> None:
    rows = 30_000  # more than a pipe holds
    pl.DataFrame({name: [cells[0]] * rows for name, cells in ROWS.items()}).write_csv(
        tmp_path / "new.csv"
    )
    program = [sys.executable, str(models["lightgbm"] / PROGRAM), str(tmp_path / "new.csv")]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        float(running.stdout.readline())
        running.stdout.close()
        assert running.stderr.read().decode() == f"{PROGRAM}: {SCORES}\n"
    assert running.returncode == 0
