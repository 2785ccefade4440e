"""Storage of finished fits on disk, so that they are not repeated.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
everything that could change it (see `identity`).  It contains scores but no test metrics, so that a
study can be evaluated with other metrics without fitting again.  Nothing is pickled.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.data.whole_files import written_whole

_ARRAYS = ("validation", "test", "curve")


@dataclass(frozen=True, eq=False)
class Model:
    """A model of a fit.

    Attributes
    ----------
    valid_scores, test_scores : (n,) float64
        Of the documents; empty if an earlier trial was better.
    rounds : int
    curve : (n_evaluations,) float64
        Validation values, after every ``every`` rounds.
    every : int
    """

    valid_scores: Floats
    test_scores: Floats
    rounds: int
    curve: Floats
    every: int = 1


@dataclass(frozen=True, eq=False)
class Fit:
    """One set of parameters fitted on one fold.

    Attributes
    ----------
    models : dict of str to Model
        By the validation metric that chose the rounds; a ranker without a choice has the name "".
    seconds : float
        Training time, excluding prediction.
    warnings : tuple of str
        Warnings during the fit, each once.
    """

    models: dict[str, Model]
    seconds: float
    warnings: tuple[str, ...] = ()

    def best(self, metric: str) -> float:
        """Best validation value of a metric that chose the rounds; NaN if it never had a value."""
        curve = self.models[metric].curve
        return float("nan") if np.isnan(curve).all() else float(np.nanmax(curve))


class Store:
    """A folder of fits.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from lambdaplus.study.store import Fit, Model, Store
    >>> fit = Fit({"": Model(np.zeros(2), np.ones(2), 3, np.zeros(0))}, 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.save("key", fit, {"seed": 0})
    ...     store.load("key").models[""].test_scores.tolist(), store.load("another")
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
        arrays: dict[str, Any] = {}
        for number, model in enumerate(fit.models.values()):
            kinds = (model.valid_scores, model.test_scores, model.curve)
            arrays |= {f"{number} {k}": v for k, v in zip(_ARRAYS, kinds, strict=True)}
        models = [(name, model.rounds, model.every) for name, model in fit.models.items()]
        told = {**about, "seconds": fit.seconds, "warnings": fit.warnings, "models": models}
        text = json.dumps({**told, "key": key}, default=str)
        with written_whole(self.path(key)) as part, part.open("wb") as file:
            np.savez(file, about=np.array(text), **arrays)

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
                about = json.loads(str(arrays["about"]))
                if about["key"] != key:
                    raise ValueError(f"it is the fit {about['key']}")
                models = {}
                for number, (name, rounds, every) in enumerate(about["models"]):
                    valid, test, curve = (arrays[f"{number} {kind}"] for kind in _ARRAYS)
                    models[name] = Model(valid, test, rounds, curve, every)
                return Fit(models, about["seconds"], tuple(about["warnings"]))
        except Exception as error:  # a damaged zip file can raise many types of errors
            raise ValueError(
                f"{path} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
                "to have it fitted again"
            ) from None
