"""Run kernels over queries or rows on several threads.

Their number is that of the training (LightGBM's ``num_threads``, XGBoost's ``nthread``, ``n_jobs``
of an estimator), or else the environment variable ``OMP_NUM_THREADS``, or else
``NUMBA_NUM_THREADS``, or else the number of cores that the process may use.

In a training with queries, these are the threads of the framework's OpenMP team, which wait busily
between its steps and would keep the cores from others.  Elsewhere they are a pool of our own.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray

from lambdaplus.compute.numba_import import numba
from lambdaplus.compute.thresholds import THRESHOLDS


class Team(Protocol):
    """Threads that wait for work while a training runs, the calling thread among them."""

    @property
    def size(self) -> int: ...

    def run(self, work: Callable[[], None]) -> None:
        """Call work once on each thread, and raise the first error of one of them."""


class _Allowed(NamedTuple):
    """The threads that calls from one thread may use."""

    number: int = 0  # 0 if there is no limit
    team: Team | None = None


_NO_LIMIT = _Allowed()
# Not an argument, which every function between a training and the kernels of a list would pass on.
_allowed: ContextVar[_Allowed] = ContextVar("allowed", default=_NO_LIMIT)
_limits: list[int] = []  # of all threads
_process = os.getpid()


@contextmanager
def limit_threads(n: int | None, team: Team | None = None) -> Iterator[None]:
    """Limit calls from this thread to n threads within the context, those of a team if possible.

    None and 0 are no limit of their own.  Calls from other threads, which this one may have
    started, have the smallest limit of all.
    """
    n, outer = max(n or 0, 0), _allowed.get()
    allowed = _Allowed(n, team) if n else _Allowed(outer.number, team or outer.team)
    token = _allowed.set(allowed)
    if n:
        _limits.append(n)
    try:
        yield
    finally:
        _allowed.reset(token)
        if n:
            _limits.remove(n)


def n_threads() -> int:
    """Number of threads that a call may use."""
    return _allowed.get().number or min(_limits, default=0) or usable_threads()


def usable_threads() -> int:
    """Number of threads that the process may use.

    That of the environment, or else the cores by its affinity and the limit of its container.
    """
    for_openmp = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if for_openmp.isdecimal() and int(for_openmp):
        return int(for_openmp)
    config = numba.config
    if config.NUMBA_NUM_THREADS != config.NUMBA_DEFAULT_NUM_THREADS:  # set by the user
        return int(config.NUMBA_NUM_THREADS)
    return int(joblib.cpu_count())


def usable_cores() -> int:
    """Number of cores that the process may use: more threads than cores make no more of them."""
    return min(usable_threads(), int(joblib.cpu_count()))


def threads_for(rows: int, most: int) -> int:
    """Number of threads, of so many at most, for a training on so many rows."""
    # Threads of OpenMP wait busily for each other: on a busy machine, a training on little data
    # takes many times as long on two of them as on one.
    return max(1, min(most, 1 + rows // THRESHOLDS.rows_per_thread))


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads beside the calling one, of one process: a forked child needs its own."""
    others = max(int(joblib.cpu_count()) - 1, 1)
    return ThreadPoolExecutor(others, thread_name_prefix="lambdaplus")


def over_queries(
    kernel: Callable[..., None], boundaries: NDArray[np.int64], *arguments: Any
) -> None:
    """Call ``kernel(first, last, boundaries, *arguments)`` on batches that cover all queries."""
    over_batches(lambda first, last: kernel(first, last, boundaries, *arguments), boundaries)


def over_batches(work: Callable[[int, int], None], boundaries: NDArray[np.int64]) -> None:
    """Call ``work(first_query, last_query)`` on batches of queries that cover all of them.

    Batches have about the same number of documents, and as many of them on each thread.  They are
    small enough that their arrays stay in the cache between kernels.
    """
    first, n = int(boundaries[0]), int(boundaries[-1] - boundaries[0])
    threads = max(1, min(1 + n // THRESHOLDS.rows_per_thread, boundaries.size - 1))
    threads = threads if threads == 1 else min(threads, n_threads())
    batches = threads * -(-n // (threads * THRESHOLDS.batch))
    inner = ()
    if batches > 1:
        inner = np.searchsorted(boundaries, first + n * np.arange(1, batches) // batches).tolist()
    _run(work, [0, *inner, boundaries.size - 1], threads)


def over_tasks(work: Callable[[int], None], n: int) -> None:
    """Call ``work(task)`` for the numbers of n tasks, each of which is worth a thread."""
    _run(lambda a, _: work(a), list(range(n + 1)), min(n, n_threads()))


def extremes(values: NDArray[Any]) -> tuple[float, float]:
    """The smallest and the largest of these values, or NaN if one is NaN; inf, -inf without any."""
    rows = piece_slices(values.size)
    if len(rows) == 1:
        return float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    low, high = np.empty(len(rows)), np.empty(len(rows))

    def look(i: int) -> None:
        low[i] = values[rows[i]].min(initial=np.inf)
        high[i] = values[rows[i]].max(initial=-np.inf)

    over_tasks(look, len(rows))
    return float(low.min()), float(high.max())


def piece_slices(n: int) -> list[slice]:
    """The rows of each of several pieces of n rows, one for each thread."""
    pieces = 1 + n // THRESHOLDS.rows_per_thread
    pieces = pieces if pieces == 1 else min(pieces, n_threads())
    return [slice(n * i // pieces, n * (i + 1) // pieces) for i in range(pieces)]


def in_pieces(lists: NDArray[np.int64], size: NDArray[np.int64], most: int) -> list[Any]:
    """Consecutive lists of about ``most`` elements in all, a thread's work; longer ones alone."""
    upto = np.cumsum(size[lists])
    cuts = np.searchsorted(upto, np.arange(most, upto[-1], most))
    return [piece for piece in np.split(lists, cuts) if piece.size]


def _run(work: Callable[[int, int], None], edges: list[int], threads: int) -> None:
    """Call work on the ranges between these edges, on this thread and others."""
    some = [(a, b) for a, b in itertools.pairwise(edges) if b > a]
    # One range is for this thread, on which Ctrl-C ends it, and may use other threads itself.
    threads, ranges = min(threads, len(some)), iter(some)

    def work_on_ranges() -> None:
        before = _allowed.set(_Allowed(1))  # threads at work start no others
        try:
            for a, b in ranges:  # all threads share this iterator
                work(a, b)
        except BaseException:
            for _ in ranges:  # nothing is left for the others
                pass
            raise
        finally:
            _allowed.reset(before)

    team = _allowed.get().team
    if threads <= 1:
        for a, b in ranges:
            work(a, b)
    elif team is not None and _is_used(team, threads):
        team.run(work_on_ranges)
    else:
        _run_on_pool(work_on_ranges, threads)


def _is_used(team: Team, threads: int) -> bool:
    """Whether so many threads of a training are those of its team."""
    # GNU OpenMP would end threads that a smaller team does not need, and start them again. Each
    # thread of the team takes the interpreter lock, so most of them should have something to do.
    # After a fork, the team's threads are missing, and a call of it would wait for them for ever.
    return team.size == n_threads() <= 2 * threads and os.getpid() == _process


def _run_on_pool(work: Callable[[], None], threads: int) -> None:
    tasks = []
    with suppress(RuntimeError):  # the interpreter shuts down while a training runs in a thread
        tasks = [_pool(os.getpid()).submit(work) for _ in range(threads - 1)]
    work()
    for task in tasks:
        if not task.cancel():  # it has begun: on a busy machine, others were faster
            task.result()
