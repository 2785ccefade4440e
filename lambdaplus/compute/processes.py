"""Parallel calls, each in its own process.

If a call aborts its process, as frameworks sometimes do, the others continue, and a call can be
stopped by killing its process.  In a pool of loky, which joblib uses, or of concurrent.futures, all
calls that are running or waiting fail with it, and the latter pool cannot stop a call.  Processes
are forked from a server that has imported everything and has no threads, so that starting one takes
milliseconds.
"""

import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker, synchronize
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from lambdaplus.compute.memory import give_back
from lambdaplus.compute.messages import printable

GRACE = 0.5  # seconds between checks whether the parent process exists
SHUTDOWN_SECONDS = 2.0  # grace period before a process is killed
NAME = "fit of lambdaplus"  # of a process, which has it when it imports the user's script
UNGUARDED = 79  # exit code of a process in which that script starts processes


def run_in_processes(
    work: Callable[..., None], calls: Iterable[tuple[Any, ...]], processes: int, preloaded: str
) -> Generator[tuple[int, str]]:
    """Call ``work(*arguments)`` for every tuple, and yield its place and error when it ends.

    The error is empty if there was none.  Arguments are read when a process is free.  Closing the
    iterator kills running calls.  Processes are forked with the module ``preloaded`` in memory.

    Raises
    ------
    RuntimeError
        If the script that calls this does so when it is imported, as each of the processes does.
    """
    if multiprocessing.current_process().name == NAME:
        os._exit(UNGUARDED)
    context: Any = multiprocessing.get_context(
        "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    )
    if context.get_start_method() == "forkserver":
        context.set_forkserver_preload([preloaded])
    # Calls are made on demand, when values of earlier trials may be known.
    waiting = enumerate(calls)
    running: dict[Any, tuple[int, Any]] = {}
    try:
        while True:
            for place, arguments in itertools.islice(waiting, processes - len(running)):
                receives, sends = context.Pipe(duplex=False)
                process = context.Process(
                    name=NAME, target=_child, args=(work, arguments, sends), daemon=True
                )
                try:
                    with _without_current_folder(), _without_interrupts():
                        process.start()
                        running[receives] = place, process
                except (pickle.PicklingError, AttributeError, TypeError) as error:
                    yield place, f"it cannot be sent to another process: {first_line(error)}"
                finally:
                    sends.close()
            if not running:
                return
            for receives in wait(list(running)):
                place, process = running.pop(receives)
                yield place, _outcome(process, receives)
    finally:
        _end([process for _, process in running.values()])


def run_here(
    work: Callable[..., None], calls: Iterable[tuple[Any, ...]]
) -> Generator[tuple[int, str]]:
    """Like `run_in_processes`, in this process."""
    for place, arguments in enumerate(calls):
        error = _error_of(work, arguments)
        give_back()
        yield place, error


def _error_of(work: Callable[..., None], arguments: tuple[Any, ...]) -> str:
    """Call work, and return its error, which only ends this call; Ctrl-C ends all."""
    try:
        work(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return first_line(problem)
    return ""


def _outcome(process: Any, receives: Any) -> str:
    """The error that a process sends; its exit code if it ended without, however it ended."""
    with receives:
        try:
            error = str(receives.recv())
            process.join(SHUTDOWN_SECONDS)
            _end([process])  # if threads that the fit left keep it
        except EOFError:
            process.join()
            error = f"its process ended with exit code {process.exitcode}"
    if process.exitcode == UNGUARDED:
        raise RuntimeError(
            "parallel fits run in processes that import your script, which runs the study again: "
            'run it under `if __name__ == "__main__":`, or with jobs=1'
        )
    return error


def _end(processes: Sequence[Any]) -> None:
    """End processes, by force if they do not follow soon."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + SHUTDOWN_SECONDS
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        process.kill()
        process.join()


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep what lies beside the data off the import path of processes that are started.

    multiprocessing runs them, and the servers behind them, by ``python -c``, which would import a
    ``socket.py`` or ``numpy.py`` of the current folder.  Modules of the user are found on the path
    of this process, which they get afterwards.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT in this thread, and in processes that it starts, for good.

    A terminal sends Ctrl-C to all of them.  The parent ends the others; interrupted by themselves,
    they would print tracebacks, and leave semaphores for the resource tracker to complain about.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # if it has to be started, this unblocks SIGINT
    with _interrupts_put_off():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Interrupt this thread only after the block, also if another thread gets the signal.

    Python's handler interrupts the main thread, whichever got it.  A process that is just being
    started would wait for its arguments, and print a traceback.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def _child(work: Callable[..., None], arguments: tuple[Any, ...], sends: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    signal.signal(signal.SIGTERM, _exit)
    threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    error = _error_of(work, arguments)
    # It ends now.  An exit amid what is freed at the end would leave a semaphore half removed.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(OSError):  # the parent has stopped listening
        sends.send(error)


def _exit(_: int, frame: FrameType | None) -> None:
    """End at SIGTERM, as a normal exit, which removes semaphores (numba has one)."""
    while frame is not None:
        if frame.f_code.co_filename == synchronize.__file__:  # half made, it would stay behind
            _exit_soon()
            return
        frame = frame.f_back
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one, at the end: see `_child`
    sys.unraisablehook = _exit_again
    sys.exit(1)


def _exit_again(unraisable: Any) -> None:
    """Repeat the exit for which SIGTERM asked inside a ``__del__``, where Python ignores it."""
    if unraisable.exc_type is SystemExit:
        signal.signal(signal.SIGTERM, _exit)
        _exit_soon()
    else:
        sys.__unraisablehook__(unraisable)


def _exit_soon() -> None:
    main = threading.main_thread().ident
    threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGTERM)).start()


def _leave_with_parent(parent: int) -> None:
    """End with the parent, so that fits of a killed study do not continue."""
    while os.getppid() == parent:
        time.sleep(GRACE)
    os._exit(1)


def first_line(error: BaseException) -> str:
    """The class of an error, and the first line of its message that is not empty."""
    try:
        lines = str(error).split("\n")
    except Exception:  # its __str__ may have an error, too
        lines = []
    message = next((line.strip() for line in lines if line.strip()), "")
    return printable(f"{type(error).__name__}: {message}")


_WATCH = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def working_folder() -> Iterator[Path]:
    """A temporary folder that is removed when the block or this process ends, even if killed.

    It is created in the system's folder for temporary files, or in ``TMPDIR`` if set.  A separate
    process removes it if this one is killed.
    """
    folder = tempfile.mkdtemp(prefix="lambdaplus-")
    watch = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _WATCH, folder],
        stdin=subprocess.PIPE,
        start_new_session=True,  # so that signals of the terminal do not reach it
    )
    try:
        yield Path(folder)
    finally:
        watch.communicate()  # closes its input, for which it waits
