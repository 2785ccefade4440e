"""Every example runs from a fresh clone, in a separate process, and prints the claimed output."""

import multiprocessing
import os
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from places import ROOT

EXAMPLES = ROOT / "examples"
FILES = sorted(EXAMPLES.glob("*.py"))

# What the output must contain besides numbers: a pattern, and required packages.
SAYS = {
    "comparison_report": r"lightgbm.*\nper_query.csv: \d+ rows of ",
    "custom_metric": r"trained for revenue .*trained for auc .*\ndifference \+0\.\d+",
    "imbalanced_classification": r"log-loss .*lambda_map .*standard error 0\.\d+: ",
    "real_valued_labels": r"SciPy: True.*to day 9, from day 15.*gini.*Gini 0\.2.*cindex .*0\.7",
    "recommender": r"recall@20 binary .*map@12 +map@12 .*in \d+ rounds\n.*item numbers: 0\.\d",
    "ray_train": r"ndcg@10 of the model from 2 workers: 0\.[89].*map of the model .*: 0\.[89]",
    "refit_and_bagging": r"trained +test MAP 0\.[67]\d+.*bagged +test .*refitted +test ",
    "spark_ranking": r"reported by the tasks (0\.[89]\d+), of the model \1",
    "position_bias": r"ignoring the bias.*learning the bias.*bias of the positions: 0\.00 -",
}
NEEDS = {
    "ray_train": ("ray", "tensorboardX", "xgboost"),  # ray[train]
    "spark_ranking": ("pyspark", "xgboost"),
}
# Newer than what the package needs: LightGBM's own position=, and queries routed to a pipeline.
SINCE = {"position_bias": ("lightgbm", "4.1"), "scikit_learn_search": ("sklearn", "1.8")}


def run(program: Path, output: Path) -> None:
    """Run a program, with all that it prints in a file."""
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.path.insert(0, str(program.parent))
    runpy.run_path(str(program), run_name="__main__")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process with the frameworks")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_runs_and_prints_what_it_shows(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("lightgbm", *NEEDS.get(file.stem, ())):
        pytest.importorskip(package, reason=f"{file.name} needs {package}")
    if file.stem in SINCE:
        package, version = SINCE[file.stem]
        pytest.importorskip(package, version, reason=f"{file.name} needs {package} {version}")
    if file.stem == "spark_ranking" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    output = tmp_path / "output"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # on little data threads only wait for each other
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lightgbm", "xgboost"])  # which take seconds to import
    process = context.Process(target=run, args=(file, output))
    process.start()
    process.join(300)
    process.kill()
    printed = output.read_text()
    assert process.exitcode == 0, printed[-2000:]
    assert re.search(SAYS.get(file.stem, r"\S.*\d"), printed, re.DOTALL), printed[-2000:]
