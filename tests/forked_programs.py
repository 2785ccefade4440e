"""Runs programs, each in a fork of this process, which has imported what takes seconds to import.

It reads the path of a program and that of a file for its output, a line each, and prints the exit
code.  Our own package is imported by each program for itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import signal
import sys
import traceback


def run(program: str, output: str) -> int:
    """Exit code of the program, whose output and errors go to a file."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    signal.alarm(300)  # ends a program that hangs
    try:
        with open(output, "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.path[0] = os.path.dirname(program)
        runpy.run_path(program, run_name="__main__")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for name in ("lightgbm", "xgboost"):  # with them scikit-learn, pandas and Dask
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "lambdaplus" not in sys.modules
    for line in sys.stdin:
        print(run(line.strip(), sys.stdin.readline().strip()), flush=True)
