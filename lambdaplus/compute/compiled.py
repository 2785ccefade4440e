"""Compilation of kernels, and their cache on disk.

numba recompiles a cached kernel if its own file has changed, but not if a kernel, a number or a
class that the file imports has changed.  So any change of the folders that kernels may be made of
recompiles all of them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from lambdaplus.compute import package_source
from lambdaplus.compute.numba_import import cached_as_environment_says, numba

intrinsic = numba.extending.intrinsic


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with `numba.njit` and its options, without the global interpreter lock."""
    if function is None:
        return lambda given: compiled(given, **options)
    # C wrappers take time to compile, and no kernel is passed to C.
    options = {"no_cfunc_wrapper": True, "nogil": True, **options}
    try:
        with cached_as_environment_says():
            kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no cache folder can be written to
        return numba.njit(**options)(function)
    # numba compares this stamp, by default time and size of the file, with that in the cache.
    kept = kernel._cache._cache_file
    kept._source_stamp = (kept._source_stamp, package_source.source_of_kernels())
    kept._load_index = partial(_load_index, kept._load_index)
    return kernel


def _load_index(load: Callable[[], Any]) -> Any:
    """The cached kernels; none if one takes a class that another version had elsewhere."""
    try:
        return load()
    except (ImportError, AttributeError):
        return {}
