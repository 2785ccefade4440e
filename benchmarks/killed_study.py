"""Check that a comparison that was killed loses nothing and repeats nothing.

    python benchmarks/killed_study.py [--kills 20] [--seed 0]

A small `lambdaplus compare --report` starts in an empty folder, is killed (SIGKILL) at a random
moment, and the same command runs again to its end.  No finished fit may be written again, values
and configuration must be the same bytes as without the kill, and no other file may remain in the
folder.  The exit code is 1 if this does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

METHODS = "lightgbm:lambda_map,xgboost:lambda_ndcg,perceptron:pocket,feature:best"
COMMAND = [sys.executable, "-m", "lambdaplus", "compare", "--methods", METHODS]
COMMAND += ["--metrics", "map,ndcg@10,auc", "--folds", "3", "--rounds", "10", "--jobs", "2"]
COMMAND += ["--report", "--out"]
SAME = ("per_query.csv", "summary.csv", "study.toml")  # without times, which may differ


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, str(folder)], stdout=subprocess.DEVNULL)


def fits(folder: Path) -> dict[str, int]:
    """When each finished fit was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def killed(folder: Path, after: float) -> dict[str, int] | None:
    """Start a study and kill it after some seconds: its fits, or None if it had already ended."""
    running = start(folder)
    try:
        running.wait(after)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        time.sleep(1.0)  # its fits see within half a second that it is gone
        return fits(folder)
    return None


def wrong(folder: Path, kept: dict[str, int], whole: Path) -> Iterator[str]:
    """Errors of the second run."""
    if start(folder).wait() != 0:
        yield "the second run failed"
        return
    after = fits(folder)
    if not kept.items() <= after.items():
        yield "a finished fit was lost or written again"
    if after.keys() != fits(whole).keys():
        yield f"{len(after)} fits of {len(fits(whole))}"
    if left := {path.name for path in folder.iterdir()} - {path.name for path in whole.iterdir()}:
        yield f"{', '.join(sorted(left))} was left"
    for name in SAME:
        if (folder / name).read_bytes() != (whole / name).read_bytes():
            yield f"{name} differs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random, failed = np.random.default_rng(given.seed), 0
    with tempfile.TemporaryDirectory() as root:
        whole, began = Path(root) / "whole", time.monotonic()
        assert start(whole).wait() == 0
        seconds = time.monotonic() - began
        print(f"never killed: {len(fits(whole))} fits, {seconds:.1f} s")
        for number in range(1, given.kills + 1):
            folder = Path(root) / str(number)
            after = float(random.uniform(0, seconds))
            while (kept := killed(folder, after)) is None:
                shutil.rmtree(folder)
                seconds = after  # it takes no longer than this
                after = float(random.uniform(0, seconds))
            problems = "; ".join(wrong(folder, kept, whole))
            failed += bool(problems)
            said = problems or "the same"
            print(f"{number:2}: killed after {after:5.2f} s with {len(kept):2} fits: {said}")
    print(f"{given.kills - failed} of {given.kills} ended as if never killed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
