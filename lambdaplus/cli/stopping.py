"""Stopping of commands by Ctrl-C and by SIGTERM, in the same way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
