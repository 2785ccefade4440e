"""The OpenMP threads of LightGBM and XGBoost, on which gradients are computed, too.

Between its steps a framework's threads wait busily, and would keep cores from others.  On two
threads of a machine with two cores, whole trainings with queries took longer with a pool of our
own: 4 to 13 % if it was idle, 9 to 35 % if others computed (medians of five pairs in turn).  On
tables, which have many short steps, the pool took -2 to 3 % longer if it was idle, and a quarter of
the time if others computed: they have the pool.
"""

import ctypes
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from lambdaplus.frameworks.data_sets import framework_of
from lambdaplus.frameworks.internals import library_of

ON_EACH_THREAD = ctypes.CFUNCTYPE(None)  # it is passed a pointer, which it does not read


class OpenMPTeam(NamedTuple):
    """The OpenMP threads of the framework that calls, the calling thread among them."""

    size: int
    gomp_parallel: Any  # calls an `ON_EACH_THREAD` on every thread, and waits for all of them

    def run(self, work: Callable[[], None]) -> None:
        """Call work once on each thread, and raise the first error of one of them."""
        errors: list[BaseException] = []

        def part() -> Iterator[None]:
            try:
                yield
                work()
            except BaseException as error:
                errors.append(error)
            yield

        # Ctrl-C may be raised as soon as Python code runs, and ctypes ignores what a function
        # raises. So each thread goes on in a generator, in its `try`: `map` is no Python code.
        parts = [part() for _ in range(self.size)]
        for waiting in parts:
            next(waiting)
        self.gomp_parallel(ON_EACH_THREAD(map(next, parts).__next__), None, self.size, 0)
        if errors:
            raise errors[0]


def team_of(booster: Any, threads: int) -> OpenMPTeam | None:
    """The OpenMP threads of a training; None if they are unknown, or in a call by hand."""
    framework = framework_of(booster)
    functions = None if framework == "arrays" else openmp_functions(framework)
    if functions is None:
        return None
    parallel, most = functions
    return OpenMPTeam(threads or most(), parallel)


@lru_cache(maxsize=2)
def openmp_functions(framework: Literal["lightgbm", "xgboost"]) -> tuple[Any, Any] | None:
    """``GOMP_parallel`` and ``omp_get_max_threads`` of the OpenMP library of an imported framework.

    None if it is built without OpenMP, or with Microsoft's.  Those of GNU, LLVM and Intel have
    these functions.  Two frameworks in one process may have two of them.
    """
    try:
        library = library_of(framework)
        parallel, most = library["GOMP_parallel"], library["omp_get_max_threads"]
    except AttributeError:
        return None
    parallel.restype = None
    parallel.argtypes = [ON_EACH_THREAD, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    return parallel, most
