"""The commands evaluate, explain, export and cite with unusual and invalid input."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import read_table

typer_testing = pytest.importorskip("typer.testing")

CSV = "qid,label,score\n1,0,0.5\n1,1,0.25\n2,1,0.5\n2,0,0.1\n"
SPELLINGS: dict[str, Callable[[Path], Path]] = {
    "the same": lambda file: file,
    "by way of another folder": lambda file: file.parent / "sub" / ".." / file.name,
    "a symbolic link": lambda file: linked(file, os.symlink),
    "a hard link": lambda file: linked(file, os.link),
}


def invoke(*arguments: Any) -> Any:
    from lambdaplus.cli import app

    runner = typer_testing.CliRunner(env={"COLUMNS": "200"})
    return runner.invoke(app, [str(argument) for argument in arguments])


def linked(file: Path, link: Callable[[Path, Path], None]) -> Path:
    other = file.with_name("another-name" + file.suffix)
    link(file, other)
    return other


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    written(tmp_path / "a.csv", CSV)
    written(tmp_path / "test.txt", "2 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    written(tmp_path / "qrels", "q 0 d1 1\nq 0 d2 0\n")
    written(tmp_path / "run", "q Q0 d1 1 2.5 t\n")
    written(tmp_path / "scores", "1\n2\n")
    return tmp_path


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("arguments", "overwritten"),
    [
        (["a.csv"], "a.csv"),
        (["scores", "--data", "test.txt"], "scores"),
        (["scores", "--data", "test.txt"], "test.txt"),
        (["run", "--qrels", "qrels"], "qrels"),
    ],
)
def test_evaluate_does_not_write_over_what_it_reads(
    folder: Path,
    arguments: list[str],
    overwritten: str,
    spelling: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    file = folder / overwritten
    before = file.read_bytes()
    found = invoke("evaluate", *arguments, "--per-query", SPELLINGS[spelling](file))
    assert found.exit_code == 2
    assert "is an input of this command and would be overwritten" in found.output
    assert file.read_bytes() == before


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    lightgbm = pytest.importorskip("lightgbm")
    rows = np.arange(200)
    data = lightgbm.Dataset(np.column_stack([rows % 7, rows % 3]), rows % 7 > 3)
    booster = lightgbm.train({"verbose": -1, "objective": "regression"}, data, 3)
    text: str = booster.model_to_string()
    return text


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_export_does_not_write_over_the_model(folder: Path, model: str, spelling: str) -> None:
    file = written(folder / "m.txt", model)
    arguments = ["export", file, "--format", "solr", "--out"]
    found = invoke(*arguments, SPELLINGS[spelling](file))
    assert found.exit_code == 2
    assert "would be overwritten" in found.output
    assert file.read_text() == model
    assert invoke(*arguments, folder / "solr.json").exit_code == 0
    assert (folder / "solr.json").read_text().startswith("{")


def test_results_are_written_through_a_link_and_keep_their_permissions(folder: Path) -> None:
    (folder / "old.csv").write_text("old")
    (folder / "old.csv").chmod(0o640)
    (folder / "link.csv").symlink_to("old.csv")
    assert invoke("evaluate", folder / "a.csv", "--per-query", folder / "link.csv").exit_code == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "old.csv").read_text().startswith("run,qid,metric,value")
    assert (folder / "old.csv").stat().st_mode & 0o777 == 0o640
    assert not [*folder.glob(".new-*")]


def test_a_spreadsheet_finds_no_formula_in_the_results(folder: Path) -> None:
    rows = ["=HYPERLINK(1)", "@a", "+x", "-1", "-1-1"]
    text = "".join(f"{qid},1,0.5\n" for qid in rows)
    written(folder / "=a.csv", f"qid,label,score\n{text}")
    invoke("evaluate", folder / "=a.csv", "--metrics", "mrr", "--per-query", folder / "out.csv")
    lines = (folder / "out.csv").read_text().splitlines()[1:]
    found = [line.split(",")[:2] for line in lines]
    assert found == [["'=a", q] for q in ("'=HYPERLINK(1)", "'@a", "'+x", "-1", "'-1-1")]


has_dev_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="a device that is always full"
)


@has_dev_full
def test_a_full_disk_is_said_in_a_line(folder: Path) -> None:
    found = invoke("evaluate", folder / "a.csv", "--per-query", "/dev/full")
    assert found.exit_code == 2
    assert found.stderr.count("\n") == 1, found.stderr
    assert "No space left on device" in found.stderr


@pytest.mark.slow
@has_dev_full
@pytest.mark.parametrize("command", [["evaluate", "a.csv"], ["cite"]])
def test_so_is_one_that_the_output_goes_to(folder: Path, command: list[str]) -> None:
    with open("/dev/full", "w") as stream:
        found = subprocess.run(
            [sys.executable, "-m", "lambdaplus", *command],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            check=False,
        )
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1, found.stderr
    assert "No space left on device" in found.stderr


@pytest.mark.slow
def test_odd_terminals_lose_no_output(folder: Path) -> None:
    """A width of 0 printed nothing, a closed output a traceback; and results may go to a pipe."""
    command = f"{sys.executable} -m lambdaplus evaluate a.csv"
    for line, words in (
        (f"COLUMNS=0 {command}", "Convention lambdaplus"),
        (f"({command} >&-) 2>&1; echo ended with $?", "ended with 0"),
        (f"{command} --per-query /dev/stdout | cat", "a,1,map,"),
    ):
        found = subprocess.run(
            line, shell=True, capture_output=True, text=True, cwd=folder, check=False
        )
        assert words in found.stdout, line
        assert "Error" not in found.stdout + found.stderr


def test_a_long_name_of_a_file_is_a_name(folder: Path) -> None:
    out = folder / ("x" * 251 + ".csv")
    assert invoke("evaluate", folder / "a.csv", "--per-query", out).exit_code == 0
    assert out.exists()


def test_a_disk_that_fills_up_leaves_the_old_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lambdaplus.cli import command_files

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    old = written(folder / "old.csv", "old")
    monkeypatch.setattr(command_files.os, "replace", full)
    found = invoke("evaluate", folder / "a.csv", "--per-query", old)
    assert found.exit_code == 2
    assert "No space left" in found.output
    assert old.read_text() == "old"
    assert not [*folder.glob(".new-*")]


@pytest.mark.parametrize("name", ["[red]a.csv", "📈 [bold].csv", "[red][.csv", ":smile:.csv"])
def test_brackets_and_emoji_in_names_are_printed_as_they_are(folder: Path, name: str) -> None:
    one, other = written(folder / name, CSV), folder / "a.csv"
    found = invoke("evaluate", one, other, "--per-query", folder / f"out {name}")
    assert found.exit_code == 0, found.output
    assert name.removesuffix(".csv").split(".")[0] in found.output
    assert (folder / f"out {name}").exists()
    assert invoke("explain", "map", one).exit_code == 0
    missing = folder / f"missing{name}"
    for command in (["evaluate", missing], ["explain", "map", missing]):
        found = invoke(*command)
        assert found.exit_code == 2
        assert str(missing) in found.output


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.xz"])
def test_a_cut_file_is_named_and_nothing_is_aborted(folder: Path, name: str) -> None:
    (folder / name).write_bytes(gzip.compress(b"1 qid:1 1:1\n")[:-3])
    found = invoke("evaluate", folder / "scores", "--data", folder / name)
    assert found.exit_code == 2
    assert f"{name} is cut short or damaged" in found.output
    assert "Abort" not in found.output


@pytest.mark.parametrize("start", ["tree", "junk", ""])
def test_a_broken_model_is_named(folder: Path, start: str) -> None:
    file = written(folder / "[red]model.txt", start + "\nversion=v4\nnothing")
    found = invoke("export", file, "--format", "solr")
    assert found.exit_code == 2
    assert str(file) in found.output
    assert found.output.count("\n") == 1, found.output


def test_names_that_are_no_text_and_folders_that_are_not_there(folder: Path) -> None:
    odd = os.fsencode(folder) + b"/odd\xff.csv"
    try:
        with open(odd, "w") as stream:
            stream.write(CSV)
    except OSError:
        pytest.skip("this file system has no such names")
    assert read_table(os.fsdecode(odd)).qid.tolist() == [1, 1, 2, 2]
    found = invoke("evaluate", folder / "a.csv", "--per-query", folder / "no" / "x.csv")
    assert found.exit_code == 2
    assert f"could not write {folder / 'no' / 'x.csv'}: No such file or directory" in found.output


def test_a_run_that_is_named_twice_is_not_compared_with_itself(folder: Path) -> None:
    found = invoke("evaluate", folder / "a.csv", folder / "a.csv")
    assert found.exit_code == 2
    assert "a run is given twice" in found.output


def test_what_cannot_be_used_is_not_left_aside(folder: Path) -> None:
    for arguments, message in (
        (["evaluate", "a.csv", "--columns", "qid,label,label"], "three different columns"),
        (["evaluate", "a.csv", "--ties", "wrost"], "ties='wrost' is not one of"),
        (["evaluate", "a.csv", "--test", "x"], "test='x' is not one of"),
        (["evaluate", "a.csv", "--baseline", "b"], "need at least two runs"),
        (["explain", "map", "a.csv", "--labels", "1,0"], "not both"),
    ):
        found = invoke(*(folder / part if part == "a.csv" else part for part in arguments))
        assert found.exit_code == 2
        assert message in found.output
