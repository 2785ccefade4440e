"""Check that data fits into memory, before the system kills the process."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

_LIMITS_OF_CONTAINERS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def memory_in_bytes() -> float:
    """Memory available to this process: that of the machine, or the limit of its container."""
    limits = [math.inf]
    with suppress(AttributeError, ValueError, OSError):  # Windows raises errors by itself
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in _LIMITS_OF_CONTAINERS:
        with suppress(OSError, ValueError):  # not there, or "max"
            limits.append(int(file.read_text()))
    return min(limits)


def refuse_beyond_memory(n_bytes: float, what: str) -> None:
    """Raise a MemoryError if this needs more than the available memory."""
    available = memory_in_bytes()
    if n_bytes > available:
        raise MemoryError(
            f"{what} takes {n_bytes / 1e9:,.1f} GB, and this machine has {available / 1e9:,.1f} GB"
        )
