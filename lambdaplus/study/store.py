"""Storage of finished fits on disk, so that they are not repeated.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
everything that could change it: data, method, parameters, settings, seed, source, versions.  It
contains scores but no metrics, so that a study can be evaluated with other metrics without fitting
again.  Nothing is pickled.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.data.whole_files import written_whole
from lambdaplus.study.identity import digest, source_of_lambdaplus

_NAMES = (
    "lambdaplus",
    "lightgbm",
    "xgboost",
    "catboost",
    "numpy",
    "numba",
    "scipy",
    "scikit-learn",
)
MORE = "more/"  # prefix of the names of the arrays of `Fit.more`


@dataclass(frozen=True, eq=False)
class Fit:
    """One set of parameters fitted on one fold.

    Attributes
    ----------
    valid_scores, test_scores : (n,) float64
    seconds : float
        Training time, excluding prediction.
    rounds : int
    curve : (rounds,) float64
        Validation metric by round; empty if it was not evaluated during training.
    warnings : tuple of str
        Warnings during the fit, each once.
    more : dict of str to ndarray
        Additional arrays: see `~lambdaplus.study.trials.Trial`.
    """

    valid_scores: Floats
    test_scores: Floats
    seconds: float
    rounds: int
    curve: Floats
    warnings: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


class Store:
    """A folder of fits.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from lambdaplus.study.store import Fit, Store, key_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     key = key_of(method="svm:map", seed=0)
    ...     store.save(key, Fit(np.zeros(2), np.ones(2), 0.5, 3, np.zeros(0)), {"seed": 0})
    ...     store.load(key).test_scores.tolist(), store.load("another")
    ([1.0, 1.0], None)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        return self.folder / "fits" / f"{key}.npz"

    def save(self, key: str, fit: Fit, about: dict[str, Any]) -> None:
        """Write a fit, with a description for readers of the file.

        Raises
        ------
        OSError
            If it cannot be written; the message names the file.
        """
        told = {**about, "warnings": fit.warnings, "key": key}
        with written_whole(self.path(key)) as part, part.open("wb") as file:
            np.savez(
                file,
                valid_scores=fit.valid_scores,
                test_scores=fit.test_scores,
                numbers=np.array([fit.seconds, fit.rounds]),
                curve=fit.curve,
                **{f"{MORE}{name}": array for name, array in fit.more.items()},
                about=np.array(json.dumps(told, default=str)),
            )

    def load(self, key: str) -> Fit | None:
        """Load a finished fit, or None if there is none.

        Raises
        ------
        ValueError
            If the file is damaged or contains another fit; the message names it.
        """
        path = self.path(key)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                seconds, rounds = arrays["numbers"]
                about = json.loads(str(arrays["about"]))
                if about["key"] != key:
                    raise ValueError(f"it is the fit {about['key']}")
                return Fit(
                    arrays["valid_scores"],
                    arrays["test_scores"],
                    float(seconds),
                    int(rounds),
                    arrays["curve"],
                    tuple(about["warnings"]),
                    {
                        name.removeprefix(MORE): arrays[name]
                        for name in arrays.files
                        if name.startswith(MORE)
                    },
                )
        except Exception as error:  # a damaged zip file can raise many types of errors
            raise ValueError(
                f"{path} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
                "to have it fitted again"
            ) from None


def key_of(**parts: Any) -> str:
    """A digest of everything that could change a fit: 20 hexadecimal digits.

    The source of lambdaplus and the versions of its dependencies are part of every key.
    """
    return digest([parts, source_of_lambdaplus(), installed_versions()])


@functools.cache  # called for every training of a study
def installed_versions() -> dict[str, str]:
    """Versions of lambdaplus and of its installed dependencies."""
    found = {}
    for name in _NAMES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def versions_in_words() -> str:
    """`installed_versions` as a report has them: ``lambdaplus 0.1.0, numpy 2.1.0``."""
    return ", ".join(f"{name} {version}" for name, version in installed_versions().items())
