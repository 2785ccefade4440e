"""Finished fits on disk, so that they are not repeated.

A fit is one file of arrays, which is written completely or not at all.  Its name is a digest of
what trains it, by `~lambdaplus.compute.digests`; what has no digest is fitted again.

The file contains scores but no test metrics, so that a study can be evaluated with other metrics
without fitting again.  Nothing is pickled.
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
