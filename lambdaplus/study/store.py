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

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.data.whole_files import written_whole
from lambdaplus.study.methods import Fitted

_ARRAYS = ("validation", "test", "curve")


@dataclass(frozen=True, eq=False)
class Fit:
    """One set of parameters fitted on one fold.

    Rankers and scores are by the name of the metric that chose the rounds, or "" if none did.
    """

    models: dict[str, Fitted]
    scores: dict[str, tuple[Floats, Floats]]  # of validation and test documents; empty arrays if
    # an earlier trial was better
    seconds: float  # of training, without prediction
    warnings: tuple[str, ...] = ()  # each once

    def best(self, metric: str) -> float:
        """Best validation value of a metric that chose the rounds; NaN if it never had a value."""
        curve = np.asarray(self.models[metric].curve)
        return float("nan") if np.isnan(curve).all() else float(np.nanmax(curve))


def _forgotten(data: RankingData) -> Floats:
    raise TypeError("a stored fit has the scores of its rankers, which cannot predict any more")


class Store:
    """A folder of fits."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        return self.folder / "fits" / f"{key}.npz"

    def save(self, key: str, fit: Fit, about: dict[str, Any]) -> None:
        """Write a fit, with a description for people who read the file."""
        arrays: dict[str, Any] = {}
        for number, (name, model) in enumerate(fit.models.items()):
            kinds = (*fit.scores[name], np.asarray(model.curve, dtype=np.float64))
            arrays |= {f"{number} {k}": v for k, v in zip(_ARRAYS, kinds, strict=True)}
        models = [(name, model.rounds, model.every) for name, model in fit.models.items()]
        told = {**about, "seconds": fit.seconds, "warnings": fit.warnings, "models": models}
        text = json.dumps({**told, "key": key}, default=str)
        with written_whole(self.path(key)) as part, part.open("wb") as file:
            np.savez(file, about=np.array(text), **arrays)

    def load(self, key: str) -> Fit | None:
        """Load a finished fit; None if there is none, a ValueError if the file is damaged."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                if about["key"] != key:
                    raise ValueError(f"it is the fit {about['key']}")
                models, scores = {}, {}
                for number, (name, rounds, every) in enumerate(about["models"]):
                    valid, test, curve = (arrays[f"{number} {kind}"] for kind in _ARRAYS)
                    models[name] = Fitted(_forgotten, rounds, curve, every)
                    scores[name] = valid, test
                return Fit(models, scores, about["seconds"], tuple(about["warnings"]))
        except Exception as error:  # a damaged zip file can raise many types of errors
            raise ValueError(
                f"{path} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
                "to have it fitted again"
            ) from None
