"""Finished fits on disk, so that they are not repeated: what they are called, and what is kept.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
what trains it: values, and the code that they refer to.  This is the source of lambdaplus, the
versions of installed packages, and the source of the user's modules and of the user's modules that
they import.  What cannot be pickled (a lambda, a lock), has no
source, or was edited after this process started has a unique digest, so that it is fitted again.

The file contains scores but no test metrics, so that a study can be evaluated with other metrics
without fitting again.  Nothing is pickled.
"""

import ast
import contextlib
import copy
import functools
import hashlib
import importlib.metadata
import json
import pickle
import pickletools
import platform
import sys
import time
import uuid
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from modulefinder import ModuleFinder
from pathlib import Path
from site import getsitepackages, getusersitepackages
from typing import Any

import joblib
import numpy as np
from numba.core.event import install_timer

from lambdaplus.compute.arguments import numbers
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.data.cache import read_binary
from lambdaplus.data.whole_files import written_whole
from lambdaplus.study.methods import Fitted, Task

PACKAGE = Path(__file__).parents[1]
STARTED = time.time()
_DEPENDENCIES = (
    "lambdaplus", "lightgbm", "xgboost", "catboost", "numpy", "numba", "scipy", "scikit-learn",
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
    every = repr([content, source_of(PACKAGE), versions])
    return hashlib.sha256(every.encode()).hexdigest()[:20]


@functools.cache
def source_of(package: Path) -> str:
    """A digest of the source of a package."""
    code = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        code.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
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


_ARRAYS = ("validation", "test", "curve")


@dataclass(frozen=True, eq=False)
class Fit:
    """What is kept of a ranker: one set of parameters fitted on one fold."""

    rounds: int  # as in `Fitted`, like the next two
    every: int
    curve: Floats
    validation: Floats  # scores of validation and test documents; empty if an earlier trial was
    test: Floats  # better
    seconds: float  # of training, without prediction
    warnings: Sequence[str] = ()  # each once

    @property
    def best(self) -> float:
        """Best value of the metric that chose the rounds; NaN if it never had a value."""
        return float("nan") if np.isnan(self.curve).all() else float(np.nanmax(self.curve))


def save_fits(file: Path, fits: Mapping[str, Fit]) -> None:
    """Write the fits of one training by the metric that chose rounds, "" if none."""
    arrays: dict[str, Any] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for place, (metric, fit) in enumerate(fits.items()):
        numbers[metric] = {k: v for k, v in vars(fit).items() if k not in _ARRAYS}
        arrays |= {f"{place} {kind}": getattr(fit, kind) for kind in _ARRAYS}
    text = json.dumps({"fits": numbers, "key": file.stem})
    with written_whole(file) as part, part.open("wb") as stream:
        np.savez(stream, about=np.array(text), **arrays)


def load_fits(file: Path) -> Mapping[str, Fit]:
    """Load a finished training; a FileNotFoundError if it is gone, a ValueError if damaged."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            if about["key"] != file.stem:
                raise ValueError(f"it is the fit {about['key']}")
            return {
                metric: Fit(**numbers, **{kind: arrays[f"{place} {kind}"] for kind in _ARRAYS})
                for place, (metric, numbers) in enumerate(about["fits"].items())
            }
    except FileNotFoundError:
        raise FileNotFoundError(f"{file} was removed during the run") from None
    except Exception as error:  # a damaged zip file can raise many types of errors
        raise ValueError(
            f"{file} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
            "to have it fitted again"
        ) from None


def fit_and_save(
    file: Path,
    task: Task,
    beaten: Mapping[str, float],
    parts: Sequence[RankingData] | Sequence[Path],
) -> None:
    """Train, score validation and test documents, and store the scores.

    Scores are omitted for trials that are not better than ``beaten``, the best earlier values.
    Training and each prediction get arrays of their own, which they may change in place.
    """
    train, valid, test = parts
    parameters = {**task.method.fixed, **task.parameters}
    whole = replace(task, parameters=parameters, train=_own(train), valid=_own(valid))
    # The time in which numba compiles kernels, or loads compiled ones, is not training time.
    compiling: list[float] = []
    timer = install_timer("numba:compiler_lock", compiling.append)
    with warnings.catch_warnings(record=True) as caught, timer:
        warnings.simplefilter("always")
        start = time.perf_counter()
        fitted = task.method.trainer(whole)
        seconds = time.perf_counter() - start
    seconds = max(0.0, seconds - sum(compiling))
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    models = {"": fitted} if isinstance(fitted, Fitted) else {str(m): f for m, f in fitted.items()}
    lacking = {*map(str, task.metrics)} - models.keys()
    if lacking and "" not in models:
        raise ValueError(f"the trainer returned no ranker for {', '.join(sorted(lacking))}")
    fits = {}
    for metric, model in models.items():
        curve = np.asarray(model.curve, dtype=np.float64)
        scores: tuple[Any, Any] = np.zeros(0), np.zeros(0)
        # The first of equal trials is chosen, so that a later one has to be better.
        if metric not in beaten or np.nanmax([*curve, -np.inf]) > beaten[metric]:
            scores = _scores(model, valid, "validation"), _scores(model, test, "test")
        fits[metric] = Fit(model.rounds, model.every, curve, *scores, seconds, notes)
    save_fits(file, fits)


def _own(part: RankingData | Path) -> RankingData:
    """A copy of the data; those on disk are copied where they are changed."""
    return copy.deepcopy(part) if isinstance(part, RankingData) else read_binary(part)


def _scores(model: Fitted, data: RankingData | Path, name: str) -> Any:
    part = _own(data)
    scores = numbers(model.predict(part), f"the scores of {name} documents")
    if scores.shape != part.labels.shape:
        raise ValueError(
            f"it gave scores of shape {scores.shape} for {part.labels.size} {name} documents"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"it scored {name} documents with NaN or infinity")
    return scores
