"""Runs `lambdaplus compare` repeatedly, two at a time with one folder, and kills one of them.

    python killed_runs.py FOLDER TIMES

Everything is imported once; each run is a fork of this process.  It prints, as JSON, how each run
ended and what was wrong.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import random
import signal
import sys
import time
import traceback

from odd_estimators import Slow

from lambdaplus.cli import app
from lambdaplus.study.identity import digest
from lambdaplus.study.store import load_fits

METHODS = "odd_estimators:Slow,odd_estimators:FirstFeature"


def start(folder: pathlib.Path, log: pathlib.Path, seeds: str, jobs: int) -> int:
    """The comparison, in a separate process."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        with log.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(folder)
        arguments = ["compare", "data", "--out", ".", "--methods", METHODS, "--metrics", "map"]
        app([*arguments, "--seeds", f"{seeds},", "--jobs", str(jobs)], standalone_mode=True)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All that is in a folder; ``fits`` too."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def fits(folder: pathlib.Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.npz")}


def ended(pid: int) -> int:
    """Exit code; minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def runs(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def main(folder: pathlib.Path, n: int) -> dict[str, object]:
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
        pids = [start(folder, log / f"{number} {k}", f"{number}", jobs) for k in range(2)]
        time.sleep(draw.uniform(0, 0.9 * lasts[jobs]))
        if at_work := [pid for pid in pids if runs(pid)]:
            os.kill(draw.choice(at_work), draw.choice([signal.SIGKILL, signal.SIGTERM]))
        codes.append([ended(pid) for pid in pids])
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
    print(json.dumps(main(pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]))))
