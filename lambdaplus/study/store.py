"""Storage of finished fits on disk, so that they are not repeated.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
everything that could change it (see `identity`).  It contains scores but no test metrics, so that a
study can be evaluated with other metrics without fitting again.  Nothing is pickled.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.whole_files import written_whole

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


Fits = Mapping[str, Fit]
"""The rankers of one training, keyed by the early-stopping metric ("" if none)."""


def save_fits(file: Path, fits: Fits, about: dict[str, Any]) -> None:
    """Write the fits of one training, with a description for people who read the file."""
    arrays: dict[str, Any] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for place, (metric, fit) in enumerate(fits.items()):
        numbers[metric] = {k: v for k, v in vars(fit).items() if k not in _ARRAYS}
        arrays |= {f"{place} {kind}": getattr(fit, kind) for kind in _ARRAYS}
    text = json.dumps({**about, "fits": numbers, "key": file.stem}, default=str)
    with written_whole(file) as part, part.open("wb") as stream:
        np.savez(stream, about=np.array(text), **arrays)


def load_fits(file: Path) -> Fits:
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
