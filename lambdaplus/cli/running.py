"""How long commands show their progress, and are stopped by Ctrl-C and SIGTERM in the same way."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def progress_on(console: Console) -> Progress:
    """A context manager to add tasks to; its bars are removed at the end."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # The time left follows from all steps, since fits of different methods take different times.
    return Progress(*columns, console=console, transient=True, speed_estimate_period=math.inf)


class Terminated(KeyboardInterrupt):
    """SIGTERM was received."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM raise an exception in the block, as Ctrl-C does, to release resources."""
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code that a shell expects after a signal: 128 plus its number."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)
