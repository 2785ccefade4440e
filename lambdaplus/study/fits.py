"""A fit is the record of a training; those of a task are a file, so that none is trained twice.

A file of arrays is written completely or not at all.  It contains scores but no test metrics, so
that a study can be evaluated with other metrics without training again.  Nothing is pickled.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.data.atomic_files import atomic_write
from lambdaplus.study.tasks import Group

_ARRAYS = ("curve", "validation", "test")


@dataclass(frozen=True, eq=False)
class Fit:
    """A training with the round that one metric selected: what was asked, and what came out.

    Attributes
    ----------
    method, fold : str
        Names.
    seed, trial : int
        The trial is the number of the parameters among those tried on this fold with this seed.
    metric : str
        Name of the metric, or sum of metrics, whose validation value selects.
    parameters : dict
        All of them: those of trees, of the objective, fixed ones, and those tried.
    rounds, every : int
        As in `Fitted`, like the curve.
    curve : (n,) float64
    value : float
        The validation value that selects; NaN if there is none.
    validation, test : (n,) float64
        Scores of validation and test documents; empty if an earlier trial of a search is as good.
    seconds : float
        Time of training, without prediction; the same for all metrics of a training.
    warnings : sequence of str
        Each once.
    error : str
        Why the training failed; such a record is not stored, and has none of the above.

    Examples
    --------
    >>> from lambdaplus.study import Config, study_of
    >>> config = Config(methods=("lightgbm:lambda_map",), metrics=("map",), folds="1", rounds=3)
    >>> study = study_of(config)
    >>> study.finish()
    >>> [fit] = study.fits
    >>> fit.method, fit.fold, fit.metric, fit.curve.size
    ('lightgbm:lambda_map', 'Fold1', 'map', 3)
    """

    method: str
    fold: str
    seed: int
    trial: int
    metric: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rounds: int = 0
    every: int = 1
    curve: Floats = field(default_factory=lambda: np.zeros(0))
    value: float = math.nan
    validation: Floats = field(default_factory=lambda: np.zeros(0))
    test: Floats = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0
    warnings: Sequence[str] = ()
    error: str = ""

    @property
    def group(self) -> Group:
        return self.method, self.fold, self.seed


def save_fits(file: Path, fits: Sequence[Fit]) -> None:
    """Write the records of one training; arrays that several of them share are written once."""
    arrays = {id(array): array for fit in fits for array in (getattr(fit, a) for a in _ARRAYS)}
    places = {key: str(place) for place, key in enumerate(arrays)}
    records = [
        {name: places[id(value)] if name in _ARRAYS else value for name, value in vars(fit).items()}
        for fit in fits
    ]
    text = json.dumps({"key": file.stem, "fits": records}, default=str)
    with atomic_write(file) as temporary, temporary.open("wb") as stream:
        np.savez(stream, about=np.array(text), **{places[key]: arrays[key] for key in arrays})


def load_fits(file: Path) -> list[Fit]:
    """Read a finished training; a FileNotFoundError if it is gone, a ValueError if damaged."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        about = json.loads(str(arrays["about"]))
        if about["key"] != file.stem:
            raise ValueError(f"it is the fit {about['key']}")
        fits = [
            Fit(**{**record, **{name: arrays[record[name]] for name in _ARRAYS}})
            for record in about["fits"]
        ]
        if not fits or not all(map(_is_sound, fits)):
            raise ValueError("it has other values than lambdaplus writes")
        return fits
    except FileNotFoundError:
        raise FileNotFoundError(f"{file} was removed during the run") from None
    except Exception as error:  # a damaged zip file can raise many types of errors
        raise ValueError(
            f"{file} is damaged or not this fit ({type(error).__name__}: {error}): remove it "
            "to have it fitted again"
        ) from None


def _is_sound(fit: Fit) -> bool:
    """Whether the record is one that lambdaplus has written, whoever wrote the file."""
    arrays = [getattr(fit, name) for name in _ARRAYS]
    numbers = all(type(n) is int and 0 <= n < 2**31 for n in (fit.rounds, fit.every, fit.trial))
    numbers &= type(fit.seed) is int and type(fit.value) is type(fit.seconds) is float
    words = all(isinstance(text, str) for text in (fit.method, fit.fold, fit.metric, fit.error))
    words &= isinstance(fit.warnings, list) and all(isinstance(text, str) for text in fit.warnings)
    listed = all(array.ndim == 1 and array.dtype == np.float64 for array in arrays)
    finite = listed and np.isfinite(fit.validation).all() and np.isfinite(fit.test).all()
    return bool(numbers and words and finite and isinstance(fit.parameters, dict))
