"""Kernels in machine code, kept on disk wherever there is a place for them.

numba keeps what it compiled beside the source or in the user's cache folder, and refuses to
compile at all where it may write to neither, as in a package installed for all users and run
without a home.  Such kernels are compiled anew in each process instead.

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

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that needs no Python objects; it releases the interpreter's lock.

    Parameters
    ----------
    function : callable
    **options
        Of `numba.njit`.
    """
    if function is None:
        return lambda found: compiled(found, **options)
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder for the cache
        return numba.njit(nogil=True, **options)(function)
