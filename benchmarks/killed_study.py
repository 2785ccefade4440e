"""Is anything lost, or done twice, when a comparison is killed?

    python benchmarks/killed_study.py [--kills 20] [--seed 0]

Each time a small `lambdaplus compare --report` starts in an empty folder, is killed (SIGKILL) at a
random moment, and the same command runs again to its end.  Of the second run it is asked that

- no fit that the first had finished is written again, and every fit of the study is there;
- per_query.csv, summary.csv and study.toml are those of a study that was never killed, byte for
  byte, and so are report.html, its plots and its tables once every fit is said to have taken one
  second: times are all that may differ;
- nothing else is left in the folder: no half-written file that counts as a whole one.

It ends with 1 if one of these does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lambdaplus.study import Config, Store, write_report

METHODS = "lightgbm:lambda_map,xgboost:lambda_ndcg,perceptron:pocket,feature:best"
COMMAND = [sys.executable, "-m", "lambdaplus", "compare", "--methods", METHODS]
COMMAND += ["--metrics", "map,ndcg@10,auc", "--folds", "3", "--rounds", "10", "--jobs", "2"]
COMMAND += ["--report", "--out"]
SAME = ("per_query.csv", "summary.csv", "study.toml")


def start(folder: Path) -> subprocess.Popen[bytes]:
    """The comparison, in a process of its own."""
    return subprocess.Popen([*COMMAND, str(folder)], stdout=subprocess.DEVNULL)


def fits(folder: Path) -> dict[str, int]:
    """When each finished fit was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def outcome(folder: Path) -> dict[str, bytes]:
    """Every file of the report, and the tables of numbers, as if each fit took one second."""
    store = Store(folder)
    for name in fits(folder):
        key = name.removesuffix(".npz")
        fit = store.load(key)
        assert fit is not None
        store.save(key, replace(fit, seconds=1.0), {})
    text = (folder / "study.toml").read_text()
    study = Config.from_toml(text).study(folder)
    list(study.run())
    with tempfile.TemporaryDirectory() as made:
        write_report(study.results, Path(made), config_text=text)
        found = {
            str(path.relative_to(made)): path.read_bytes()
            for path in sorted(Path(made).rglob("*"))
            if path.is_file()
        }
    return found | {name: (folder / name).read_bytes() for name in SAME}


def killed(folder: Path, after: float) -> dict[str, int] | None:
    """The fits of a study that was killed so many seconds after its start; None if it had ended."""
    running = start(folder)
    try:
        running.wait(after)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        time.sleep(1.0)  # its fits see within half a second that it is gone
        return fits(folder)
    return None


def wrong(folder: Path, kept: dict[str, int], expected: dict[str, bytes], n: int) -> Iterator[str]:
    """What the second run has done that it should not have."""
    if start(folder).wait() != 0:
        yield "the second run failed"
        return
    after = fits(folder)
    if not kept.items() <= after.items():
        yield "a finished fit was lost or written again"
    if len(after) != n:
        yield f"{len(after)} fits of {n}"
    left = {path.name for path in folder.iterdir()}
    known = {".lambdaplus", "fits", "plots", "tables", "report.html", "per_query.parquet", *SAME}
    if left - known:
        yield f"{', '.join(sorted(left - known))} was left"
    found = outcome(folder)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"{name} differs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        whole, began = Path(root) / "whole", time.monotonic()
        assert start(whole).wait() == 0
        seconds = time.monotonic() - began
        n, expected = len(fits(whole)), outcome(whole)
        print(f"never killed: {n} fits, {seconds:.1f} s; {len(expected)} files compared")
        for number in range(1, given.kills + 1):
            folder = Path(root) / str(number)
            after = float(random.uniform(0, seconds))
            while (kept := killed(folder, after)) is None:
                shutil.rmtree(folder)
                seconds = after  # it takes no longer than this
                after = float(random.uniform(0, seconds))
            problems = list(wrong(folder, kept, expected, n))
            failed += bool(problems)
            said = "; ".join(problems) or "the same"
            print(f"{number:2}: killed after {after:5.2f} s with {len(kept):2} fits: {said}")
    print(f"{given.kills - failed} of {given.kills} ended as if never killed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
