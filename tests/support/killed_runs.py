"""Runs `lambdaplus compare` repeatedly, two at a time with one folder, and kills one of them.

    python killed_runs.py FOLDER TIMES

Everything is imported once; each run is a fork of this process.  It prints, as JSON, how each run
ended and what was wrong.
"""

import importlib
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from odd_estimators import Slow

from lambdaplus.cli import app
from lambdaplus.compute.digests import digest
from lambdaplus.study.fits import load_fits

METHODS = "odd_estimators:Slow,odd_estimators:FirstFeature"


def start(folder: Path, log: Path, seeds: str, jobs: int) -> Any:
    """The comparison, in a separate process."""
    process = multiprocessing.get_context("fork").Process(
        target=compare, args=(folder, log, f"{seeds},", str(jobs))
    )
    process.start()
    return process


def compare(folder: Path, log: Path, seeds: str, jobs: str) -> None:
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    arguments = ["compare", "data", "--out", ".", "--methods", METHODS, "--metrics", "map"]
    app([*arguments, "--seeds", seeds, "--jobs", jobs])


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder; ``fits`` too."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def fits(folder: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def ended(process: Any) -> int:
    """Exit code; minus the signal that killed it."""
    process.join()
    return int(process.exitcode)


def main(folder: Path, n: int) -> dict[str, object]:
    theirs, kept, codes, wrong = contents(folder), dict[str, int](), [], list[str]()
    log = folder.parent / "log"
    log.mkdir()
    lasts = {}
    for jobs in (1, 2):
        began = time.monotonic()
        assert ended(start(folder, log / "whole", f"{n + jobs}", jobs)) == 0
        lasts[jobs] = time.monotonic() - began
    draw = random.Random(0)
    for number in range(n):
        jobs = 2 if number % 6 == 0 else 1
        both = [start(folder, log / f"{number} {k}", f"{number}", jobs) for k in range(2)]
        time.sleep(draw.uniform(0, 0.9 * lasts[jobs]))
        if at_work := [process for process in both if process.is_alive()]:
            os.kill(draw.choice(at_work).pid, draw.choice([signal.SIGKILL, signal.SIGTERM]))
        codes.append([ended(process) for process in both])
        after, found = contents(folder), fits(folder)
        wrong += [f"{number}: {name} is lost or changed" for name in theirs
                  if after.get(name) != theirs[name]]  # fmt: skip
        wrong += [f"{number}: fit {name} is lost or made again" for name in kept
                  if found.get(name) != kept[name]]  # fmt: skip
        kept = found
        for k, code in enumerate(codes[-1]):
            said = (log / f"{number} {k}").read_text()
            fine = {0: True, 2: "another run writes to" in said, 143: "Stopped after" in said}
            if not fine.get(code, code in (-signal.SIGKILL, -signal.SIGTERM)):
                wrong.append(f"{number}: ended with {code}: {said}")
    # The same studies go on from there.
    assert ended(start(folder, log / "rest", ",".join(map(str, range(n))), 1)) == 0
    whole = fits(folder)
    wrong += [f"fit {name} was made again" for name in kept if whole[name] != kept[name]]
    for name in whole:
        load_fits(folder / "fits" / f"{name}.npz")
    return {"codes": codes, "wrong": wrong, "fits": len(whole), "before": len(kept)}


if __name__ == "__main__":
    importlib.import_module("lambdaplus.study.preload")  # with its kernels, for all forks
    digest(Slow)  # which reads all source once
    print(json.dumps(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]))))
