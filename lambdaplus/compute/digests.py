"""Digests of values and of the code that they refer to, which name what was computed from them.

Code is the source of lambdaplus, the versions of installed packages, and the files of the user's
own modules that have the classes and functions, but not of others that these import.  What cannot
be pickled (a lambda, a lock), has no source, or was edited after this process started has a unique
digest.
"""

import ast
import functools
import hashlib
import importlib.metadata
import pickle
import pickletools
import platform
import sys
import time
import uuid
from pathlib import Path
from site import getsitepackages, getusersitepackages
from typing import Any

import joblib

from lambdaplus.compute import package_source
from lambdaplus.compute.versions import installed_versions

STARTED = time.time()


def digest(value: Any) -> str:
    """A digest of a value and of the code that it refers to: 20 hexadecimal digits."""
    try:
        # Protocol 2 contains the module names of classes and functions as plain text.
        codes = pickletools.genops(pickle.dumps(value, protocol=2, fix_imports=False))
        modules = {str(name).partition(" ")[0] for code, name, _ in codes if code.name == "GLOBAL"}
        content = [joblib.hash(value), *map(_code_of, sorted(modules))]
    except Exception:  # classes that cannot be pickled may raise any error
        content = [str(uuid.uuid4())]
    versions = [platform.python_version(), *installed_versions().items()]
    every = repr([content, package_source.source_of(package_source.PACKAGE), versions])
    return hashlib.sha256(every.encode()).hexdigest()[:20]


def _code_of(module: str) -> str:
    """Text that changes with the code of a module: its package's version, or its own file."""
    top = module.partition(".")[0]
    if top == "lambdaplus" or top in sys.stdlib_module_names - {"__main__"}:
        return module  # the code of these is part of every digest
    path = Path(str(sys.modules[module].__file__)).resolve()
    if not _installed().isdisjoint(path.parents):
        return f"{top} {importlib.metadata.version(_distributions()[top][0])}"
    if path.stat().st_mtime > STARTED:
        raise ValueError(f"the source of {module} was edited since it was loaded")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _installed() -> frozenset[Path]:
    """Folders of installed packages and of the standard library."""
    standard = Path(ast.__file__).parent
    folders = [standard, standard / "lib-dynload", *getsitepackages(), getusersitepackages()]
    return frozenset(Path(str(name)).resolve() for name in folders)


_distributions = functools.cache(importlib.metadata.packages_distributions)
