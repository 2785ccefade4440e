"""The command evaluate with unusual and invalid input."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import invoke

CSV = "qid,label,score\n1,0,0.5\n1,1,0.25\n2,1,0.5\n2,0,0.1\n"
SPELLINGS: dict[str, Callable[[Path], Path]] = {
    "the same": lambda file: file,
    "by way of another folder": lambda file: file.parent / "sub" / ".." / file.name,
    "a symbolic link": lambda file: linked(file, os.symlink),
    "a hard link": lambda file: linked(file, os.link),
}


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
    ("command", "overwritten"),
    [
        ("evaluate a.csv --per-query", "a.csv"),
        ("evaluate scores --data test.txt --per-query", "scores"),
        ("evaluate scores --data test.txt --per-query", "test.txt"),
        ("evaluate run --qrels qrels --per-query", "qrels"),
    ],
)
def test_inputs_are_not_overwritten(
    folder: Path, command: str, overwritten: str, spelling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    file = folder / overwritten
    before = file.read_bytes()
    found = invoke(*command.split(), SPELLINGS[spelling](file), ends=2)
    assert "is an input of this command and would be overwritten" in found.output
    assert file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("({} evaluate a.csv >&-) 2>&1; echo ended with $?", "ended with 0"),
        ("{} evaluate a.csv --per-query /dev/stdout | cat", "a,1,map,"),
        ("{} evaluate a.csv --per-query /dev/full 2>&1; echo $?", "No space left on device"),
        ("{} evaluate a.csv 2>&1 >/dev/full; echo $?", "No space left on device\n2"),
        ("{} metrics 2>&1 >/dev/full; echo $?", "No space left on device\n2"),
    ],
)
def test_odd_outputs_lose_nothing_and_give_no_traceback(
    folder: Path, line: str, words: str
) -> None:
    line = line.format(f"{sys.executable} -m lambdaplus")
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=folder, check=False)
    assert words in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["[red]a.csv", "📈 [bold].csv", "[red][.csv", ":smile:.csv"])
def test_brackets_and_emoji_in_names_are_printed_as_they_are(folder: Path, name: str) -> None:
    one, other = written(folder / name, CSV), folder / "a.csv"
    found = invoke("evaluate", one, other, "--per-query", folder / f"out {name}")
    assert name.removesuffix(".csv").split(".")[0] in found.output
    assert (folder / f"out {name}").exists()
    missing = folder / f"missing{name}"
    assert str(missing) in invoke("evaluate", missing, ends=2).output


def test_control_characters_of_a_file_are_printed_as_escapes(folder: Path) -> None:
    """In a terminal, they would clear the screen, or change its title or what was printed."""
    evil = "sc\x1b[2Jore\x9b31m"
    file = written(folder / "b.csv", CSV.replace("score", evil))
    for command in (["evaluate", file], ["compare", file, "--label", "x", "--out", folder / "o"]):
        found = invoke(*command, ends=2).output
        assert r"sc\x1b[2Jore\x9b31m" in found
        assert not {"\x1b", "\x9b"} & {*found}
