"""Digests of values and of the code that they refer to, which name what was computed from them.

Code is the source of lambdaplus, the versions of installed packages, and the files of the user's
own modules that have the classes and functions, but not of others that these import.  What cannot
be pickled (a lambda, a lock), has no source, or was edited after this process started has a unique
digest.
"""

import ast
import contextlib
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

STARTED = time.time()
_DEPENDENCIES = (
    "lambdaplus", "lightgbm", "xgboost", "numpy", "numba", "scipy", "scikit-learn",
)  # fmt: skip


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


@functools.cache  # called for every training of a study
def installed_versions() -> dict[str, str]:
    """Versions of lambdaplus and of its installed dependencies.

    Examples
    --------
    >>> from lambdaplus.study import installed_versions
    >>> sorted({"lambdaplus", "numpy"} & {*installed_versions()})
    ['lambdaplus', 'numpy']
    """
    versions = {}
    for name in _DEPENDENCIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def versions_in_words() -> str:
    """`installed_versions` as text, such as "lambdaplus 0.2.0, numpy 2.4.0".

    Examples
    --------
    >>> from lambdaplus.study import versions_in_words
    >>> versions_in_words().split()[0]
    'lambdaplus'
    """
    return ", ".join(f"{name} {version}" for name, version in installed_versions().items())


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
