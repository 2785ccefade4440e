"""A command imports what it needs, and no other command."""

import subprocess
import sys

import pytest

pytest.importorskip("typer")

PACKAGES = {
    "numpy", "numba", "scipy", "sklearn", "joblib", "polars", "lightgbm", "xgboost", "matplotlib",
}  # fmt: skip
HEAVY = PACKAGES | {f"lambdaplus.{room}" for room in ("data", "metrics", "evaluation", "study")}
STUDY = {"lambdaplus.study", "lightgbm", "xgboost"}
RUNS = """import sys
from lambdaplus.cli import app
try:
    app(sys.argv[1:])
finally:
    print("imported", *sorted(sys.modules))
"""


@pytest.mark.parametrize(
    ("command", "words", "unused"),
    [
        ("--version", "lambdaplus 0", HEAVY),
        ("--help", "Score the rows of a file", HEAVY),
        ("--bogus", "No such option", HEAVY),
        ("bogus", "No such command", HEAVY),
        ("compare --help", "Number of parallel fits", PACKAGES),
        ("compare --bogus", "No such option", PACKAGES),
        ("predict --help", "Folder that compare --save-model", HEAVY),
        ("predict none a.csv", "lambdaplus predict: ", STUDY),
        ("evaluate --help", "Rules of the metrics: lambdaplus, ", PACKAGES | STUDY),
        ("evaluate --bogus", "No such option", PACKAGES | STUDY),
        ("metrics --help", "List the metrics", HEAVY),
        ("evaluate none", "lambdaplus evaluate: ", STUDY),
    ],
)
def test_a_command_imports_no_other(command: str, words: str, unused: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUNS, *command.split()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    *_, imported = done.stdout.splitlines()
    assert imported.startswith("imported ")
    assert unused & {*imported.split()} == set()
    assert words in done.stdout + done.stderr
