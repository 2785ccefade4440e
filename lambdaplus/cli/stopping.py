"""Commands that are stopped end as they should: Ctrl-C and SIGTERM alike."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM was received."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM raise in the block, as Ctrl-C does, so that what it holds is let go."""

    def stop(*_: Any) -> None:
        raise Terminated

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def exit_code(stop: KeyboardInterrupt) -> int:
    """What a shell expects of a process that was stopped so: 128 and the signal's number."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)
