"""numba, without the settings of a file beside the data.

When it is imported, and when it compiles, numba reads a ``.numba_config.yaml`` of the current
folder, which may say where compiled code is loaded from, which modules are imported, and which
files are written.  If the user's program has imported numba before, its settings stay, but code of
lambdaplus is cached where the environment says.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from typing import Any
from unittest.mock import patch

_FILE = ".numba_config.yaml"


@contextmanager
def _without_yaml() -> Iterator[None]:
    """Without a parser of YAML, numba reads no file, but warns."""
    before = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]
    try:  # patch.dict would forget what is imported in the meantime
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A Numba config file is found")
            yield
    finally:
        del sys.modules["yaml"]
        if before is not None:
            sys.modules["yaml"] = before


def _imported() -> Any:
    is_first = "numba" not in sys.modules
    with _without_yaml() if is_first and os.path.lexists(_FILE) else nullcontext():
        found = import_module("numba")
    for name in ("numba.core.config", "numba.core.event", "numba.extending"):
        import_module(name)
    if is_first:
        found.core.config._config_fname = ""  # nor is a file read when it compiles
    return found


numba = _imported()


@contextmanager
def cached_as_environment_says() -> Iterator[None]:
    """Ignore the places of caches in a file, for kernels that are made within the context."""
    config = numba.core.config
    with ExitStack() as stack:
        for name in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES"):
            if os.path.lexists(_FILE) and hasattr(config, name):
                value = os.environ.get(f"NUMBA_{name}", "")
                stack.enter_context(patch.object(config, name, value))
        yield
