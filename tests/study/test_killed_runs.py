"""No files of the user and no finished fits are lost if runs are killed or run in parallel."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from places import SUPPORT
from small_data import letor_folder

RUNS = 12


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="forks, and sends signals")
def test_runs_killed_in_a_folder_full_of_other_files_lose_none_of_them(
    tmp_path: Path,
) -> None:
    # Not in tmp_path: sockets of multiprocessing do not fit into a long name.
    home, temporary = tmp_path / "home", Path(tempfile.mkdtemp(prefix="kr"))
    letor_folder(home / "data", folds=2, queries=4)
    for name in ("data/notes.txt", "fits/mine.npz", "fits/abc.part", "plots/map.png", "summary.txt",
                 "tables/results.md", ".hidden", "train.txt.bak", ".folds-x/a"):  # fmt: skip
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(name.encode() * 100)
    (home / "fits" / "mine.npz").rename(home / "mine.npz")
    done = subprocess.run(
        [sys.executable, SUPPORT / "killed_runs.py", home, str(RUNS)],
        capture_output=True, text=True, timeout=600,
        env={**os.environ, "TMPDIR": str(temporary), "LAMBDAPLUS_CACHE": "off"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert len(found["codes"]) == RUNS
    # It was a trial: runs were killed at work, and the second was refused beside the first.
    codes = [code for pair in found["codes"] for code in pair]
    assert sum(code not in (0, 2) for code in codes) >= RUNS // 4
    assert 2 in codes
    assert found["before"] < found["fits"] == (RUNS + 2) * 2 * 2  # seeds, methods, folds
    # Working files are gone, those of killed runs too.
    deadline = time.monotonic() + 10
    while [*temporary.glob("lambdaplus-*")] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [*temporary.glob("lambdaplus-*")] == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="a terminal's Ctrl-C, to a group")
def test_ctrl_c_leaves_nothing_but_the_message(tmp_path: Path) -> None:
    """No traceback of a process that is starting, and no semaphores that are left behind."""
    command = [sys.executable, "-m", "lambdaplus", "compare", "--jobs", "2", "--out", "out"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    while not [*tmp_path.rglob("fits/*")]:
        assert running.poll() is None, running.communicate()
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)
    printed, errors = running.communicate(timeout=180)
    assert running.returncode == 128 + signal.SIGINT
    assert errors == ""
    assert "which are kept in out: the same command continues" in printed


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize(("during", "order"), [("register", "call(); end()"),
                                               ("unregister", "end(); call()")])  # fmt: skip
def test_a_fit_that_is_told_to_end_amid_a_semaphore_leaves_no_half_of_it(
    during: str, order: str
) -> None:
    """It is made and registered, but not yet freed at the end; or removed, but still registered."""
    code = f"""if True:
        import multiprocessing, os, signal, time
        from multiprocessing import resource_tracker
        from lambdaplus.compute.processes import _child

        wrapped = resource_tracker.{during}

        def interrupted(*arguments):
            call = lambda: wrapped(*arguments)
            end = lambda: os.kill(os.getpid(), signal.SIGTERM)
            {order}

        resource_tracker.{during} = interrupted
        locks = []

        def work():
            locks.append(multiprocessing.get_context("spawn").RLock())
            if "{during}" == "register":
                time.sleep(60)

        receives, sends = multiprocessing.Pipe(duplex=False)
        _child(work, (), sends)
        print(receives.recv())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stderr == ""
    assert done.stdout == ("SystemExit: 1\n" if during == "register" else "\n")
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_a_fit_that_is_told_to_end_while_it_deletes_an_object_ends_without_a_word() -> None:
    """Python prints and ignores an exit inside ``__del__``, where frameworks free their models."""
    code = """if True:
        import multiprocessing, time
        from lambdaplus.compute.processes import _child

        class Model:
            def __del__(self):
                print("deleting", flush=True)
                time.sleep(60)

        def work():
            Model()
            time.sleep(60)

        receives, sends = multiprocessing.Pipe(duplex=False)
        _child(work, (), sends)
        print(receives.recv())
    """
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "deleting\n"
    running.terminate()
    printed, errors = running.communicate(timeout=30)
    assert errors == ""
    assert printed == "SystemExit: 1\n"
