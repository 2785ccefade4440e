"""Compilation of kernels, and their cache on disk.

numba recompiles a cached kernel if its own file has changed, but not if a kernel or a number that
the file imports has changed.  The key of a cached kernel therefore includes these.
"""

import hashlib
import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.extending import intrinsic as _intrinsic

intrinsic: Any = _intrinsic  # numba's type does not describe its result


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with `numba.njit` and its options, without the global interpreter lock."""
    if function is None:
        return lambda given: compiled(given, **options)
    # C wrappers take time to compile, and no kernel is passed to C.
    options = {"no_cfunc_wrapper": True, "nogil": True, **options}
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no cache folder can be written to
        return numba.njit(**options)(function)
    # numba compares this stamp, by default time and size of the file, with that in the cache.
    kept = kernel._cache._cache_file
    kept._source_stamp = (kept._source_stamp, imported_source(function.__globals__))
    kept._load_index = partial(_load_index, kept._load_index)
    return kernel


def _load_index(load: Callable[[], Any]) -> Any:
    """The cached kernels; none if one takes a class that another version had elsewhere."""
    try:
        return load()
    except (ImportError, AttributeError):
        return {}


def imported_source(names: dict[str, Any]) -> str:
    """A digest of the kernels and numbers among these global names of a file."""
    digest = hashlib.blake2b(digest_size=16)
    for name, value in sorted(names.items()):
        if isinstance(value, (int, float)):
            digest.update(f"{name}={value!r};".encode())
        elif isinstance(value, (Dispatcher, _Intrinsic)):
            definition = value.py_func if isinstance(value, Dispatcher) else value._defn
            path = inspect.getsourcefile(definition)
            if path and path != names.get("__file__"):
                digest.update(_source(path))
                digest.update(imported_source(definition.__globals__).encode())
    return digest.hexdigest()


@lru_cache(maxsize=64)
def _source(path: str) -> bytes:
    return Path(path).read_bytes()
