"""Digests of everything that could change a fit, by which stored fits are found again.

A digest covers values and the code that they refer to: the source of lambdaplus without comments
and docstrings, the versions of other installed packages, and the source of the user's modules and
of the user's modules that they import.  What cannot be pickled (a lambda, a lock), has no source,
or was edited after this process started has a unique digest, so that it is fitted again.
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
from modulefinder import ModuleFinder
from pathlib import Path
from site import getsitepackages, getusersitepackages
from typing import Any

import joblib

PACKAGE = Path(__file__).parents[1]
STARTED = time.time()
_DEPENDENCIES = (
    "lambdaplus", "lightgbm", "xgboost", "catboost", "numpy", "numba", "scipy", "scikit-learn",
)  # fmt: skip


NOT_TRAINING = (
    "cli", "export", "dask.py",
    "evaluation/compare.py", "evaluation/explanation.py", "evaluation/result_tables.py",
    "evaluation/run_comparison.py", "evaluation/significance.py", "evaluation/whole_tables.py",
    "study/assembly.py", "study/config.py", "study/figures.py", "study/outputs.py",
    "study/plots.py", "study/report.py", "study/result_files.py", "study/results.py",
    "study/study_tables.py", "study/summary.py", "study/table_input.py",
)  # fmt: skip
"""Folders and files that neither train nor score: an edit leaves stored fits as they are.

Those that read data are among them, since the key of a fit has the data itself.
"""


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
    every = repr([content, source_of(PACKAGE), versions])
    return hashlib.sha256(every.encode()).hexdigest()[:20]


@functools.cache
def source_of(package: Path) -> str:
    """A digest of the source of lambdaplus without comments, docstrings and `NOT_TRAINING`."""
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if not any(name.is_relative_to(other) for other in NOT_TRAINING):
            # Trees have no comments, and docstrings are removed: neither changes a fit.
            tree = ast.parse(path.read_bytes())
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    del node.body[: ast.get_docstring(node, clean=False) is not None]
            code.update(f"{name.as_posix()} {ast.dump(tree)}".encode())
    return code.hexdigest()


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
    """Text that changes with the code of a module: its package's version, or digests of source."""
    top = module.partition(".")[0]
    if top == "lambdaplus" or top in sys.stdlib_module_names - {"__main__"}:
        return module  # the code of these is part of every digest
    path = Path(str(sys.modules[module].__file__)).resolve()
    if not _installed().isdisjoint(path.parents):
        return f"{top} {importlib.metadata.version(_distributions()[top][0])}"
    own: Any = [folder for folder in sys.path if Path(folder).resolve() not in _installed()]
    finder = ModuleFinder(path=own, excludes=["lambdaplus"])
    if module == "__main__":
        finder.run_script(str(path))
    else:
        finder.import_hook(module)
    loaded: Any = finder.modules.values()
    files = {Path(one.__file__).resolve() for one in loaded if one.__file__}
    if path not in files or any(file.stat().st_mtime > STARTED for file in files):
        raise ValueError(f"the source of {module} was not found, or was edited since it was loaded")
    return str([hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)])


@functools.cache
def _installed() -> frozenset[Path]:
    """Folders of installed packages and of the standard library."""
    standard = Path(ast.__file__).parent
    folders = [standard, standard / "lib-dynload", *getsitepackages(), getusersitepackages()]
    return frozenset(Path(str(name)).resolve() for name in folders)


_distributions = functools.cache(importlib.metadata.packages_distributions)
