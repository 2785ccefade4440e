"""Runs `lambdaplus compare` again and again, two at a time into one folder, and kills one of them.

    python killed_runs.py FOLDER RUNS

Everything is imported once; each run is a fork of this process.  It prints, as JSON, how each run
ended and what was wrong.
"""

from __future__ import annotations

import contextlib
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
from lambdaplus.comparison import Store, preload

METHODS = "odd_estimators:Slow,odd_estimators:FirstFeature"
assert preload
assert Slow


def start(folder: pathlib.Path, log: pathlib.Path, seed: int, jobs: int) -> int:
    """The comparison, in a process of its own."""
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
        app([*arguments, "--seeds", str(seed), "--jobs", str(jobs)], standalone_mode=True)
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


def main(folder: pathlib.Path, runs: int) -> dict[str, object]:
    theirs, kept, codes, wrong = contents(folder), dict[str, int](), [], list[str]()
    log = folder.parent / "log"
    log.mkdir()
    began = time.monotonic()
    assert ended(start(folder, log / "first", 0, 2)) == 0, (log / "first").read_text()
    lasts = time.monotonic() - began
    draw = random.Random(0)
    for number in range(1, runs + 1):
        mine = {name: theirs[name] for name in theirs}
        pids = [start(folder, log / f"{number} {k}", number, 1 + number % 2) for k in range(2)]
        time.sleep(draw.uniform(0, lasts if number % 2 else lasts / 2))
        with contextlib.suppress(ProcessLookupError):
            os.kill(draw.choice(pids), draw.choice([signal.SIGKILL, signal.SIGTERM]))
        codes.append([ended(pid) for pid in pids])
        after = contents(folder)
        wrong += [f"{number}: {name} is lost or changed" for name in mine
                  if after.get(name) != mine[name]]  # fmt: skip
        found = fits(folder)
        wrong += [f"{number}: fit {name} is lost or made again" for name in kept
                  if found.get(name) != kept[name]]  # fmt: skip
        kept = found
        for k, code in enumerate(codes[-1]):
            said = (log / f"{number} {k}").read_text()
            fine = {0: True, 2: "another run writes to" in said, 143: "Stopped after" in said}
            if not fine.get(code, code in (-signal.SIGKILL, -signal.SIGTERM)):
                wrong.append(f"{number}: ended with {code}: {said}")
    mended = 0
    for number in range(1, runs + 1):  # the same commands go on from there
        before = fits(folder)
        assert ended(start(folder, log / f"again {number}", number, 1)) == 0
        mended += len(fits(folder)) - len(before)
    wrong += [f"fit {name} can't be read" for name in fits(folder)
              if Store(folder).load(name) is None]  # fmt: skip
    return {
        "codes": codes,
        "wrong": wrong,
        "fits": len(fits(folder)),
        "fits made after the kills": mended,
        "lasts": lasts,
    }


if __name__ == "__main__":
    print(json.dumps(main(pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]))))
