"""The memory that this process may use, and what it no longer uses."""

import contextlib
import ctypes
import math
import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def memory_limit(cgroups: Path = _CGROUPS, own: Path = Path("/proc/self/cgroup")) -> float:
    """Bytes of the machine, or of the smallest limit on a group of processes that has this one.

    Infinity if the system does not say.
    """
    limits = [math.inf]
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file in _limit_files(cgroups, own):
        # A group without a limit has "max"; in a container, the file may be elsewhere.
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(file.read_text()))
    return min(limits)


def give_back() -> None:
    """Return memory that was freed to the system, since the C library may keep most of it."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not that of GNU
        ctypes.CDLL(None).malloc_trim(0)


def _limit_files(cgroups: Path, own: Path) -> list[Path]:
    """The files with limits of the groups of this process, and of those around them."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return []
    files = []
    for _, controllers, group in lines:
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = cgroups, "memory.max"
        if controllers:  # of the first version
            root, name = cgroups / "memory", "memory.limit_in_bytes"
        folder = root / group.strip("/")
        around = [place for place in folder.parents if place.is_relative_to(root)]
        files += [place / name for place in (folder, *around)]
    return files
