"""Compilation of kernels, which are cached on disk if possible.

numba caches compiled kernels next to the source or in the user's cache folder, and raises an error
if it can write to neither, for example if a package is installed for all users and the user has no
home folder.  In that case kernels are compiled again in each process.

numba recompiles a kernel if its own file has changed, but not if a kernel that it calls has
changed.  Cached kernels are therefore keyed by the source of all kernels of the package.

Examples
--------
>>> from lambdaplus.compiled import compiled
>>> @compiled
... def double(x):
...     return 2 * x
>>> double(21)
42
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic as _intrinsic


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that uses no Python objects; it releases the global interpreter lock.

    Parameters
    ----------
    function : callable
    **options
        Options of `numba.njit`.
    """
    if function is None:
        return lambda given: compiled(given, **options)
    # No kernel is passed to C as a callback, and wrappers for that take time to compile.
    options = {"no_cfunc_wrapper": True, **options}
    try:
        kernel = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # there is no writable folder for the cache
        return numba.njit(nogil=True, **options)(function)
    # numba compares this stamp (by default, time and size of the file) with that of the cached one.
    kept = kernel._cache._cache_file
    kept._source_stamp = (kept._source_stamp, source_of_kernels())
    return kernel


@lru_cache(maxsize=1)
def source_of_kernels(package: Path = Path(__file__).parent) -> str:
    """A digest of all files that contain kernels, or the records that are passed to kernels."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"lambdaplus.compiled" in text or b"numba" in text or b"NamedTuple" in text:
            digest.update(path.relative_to(package).as_posix().encode() + text)
    return digest.hexdigest()


def _without_owner(kind: Any, builder: Any, value: Any) -> Any:
    """The same value, in which no array knows who owns its memory."""
    if isinstance(kind, types.Array):
        for owner in (0, 1):  # the fields of an array's record for numba's owner and for Python's
            nobody = ir.Constant(value.type.elements[owner], None)
            value = builder.insert_value(value, nobody, owner)
    elif isinstance(kind, types.BaseTuple):
        members: list[Any] = [*kind]  # type: ignore[misc]
        for i, member in enumerate(members):
            part = _without_owner(member, builder, builder.extract_value(value, i))
            value = builder.insert_value(value, part, i)
    return value


intrinsic: Any = _intrinsic  # typed as what it makes of a function: anything callable


@intrinsic
def borrowed(_typing: Any, value: Any) -> Any:
    """The same array or record of arrays, with references to them no longer counted.

    numba counts references with atomic operations, at each call and at each use of an array in a
    record, which adds up where queries are short.  Use it only on the arguments of a kernel, which
    the caller holds until the kernel returns, or on an array that is passed to `hold` at the end of
    the kernel, and never return the result.
    """

    def code(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return _without_owner(value, builder, values[0])

    return value(value), code


@intrinsic
def hold(_typing: Any, value: Any) -> Any:
    """Do nothing with a value, which numba would otherwise release after its last use."""

    def code(context: Any, _builder: Any, _signature: Any, _values: Any) -> Any:
        return context.get_dummy_value()

    return types.void(value), code
