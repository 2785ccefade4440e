"""``about.json``: what a saved model is, and what its scores are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boosters import MODELS
from .columns import Column

ABOUT = "about.json"
SCORES = "scores for ranking: a higher one is first, and they have no unit"
PROBABILITIES = "--probabilities"
MOST_WORDS = 1000  # characters of a sentence


class About(NamedTuple):
    """What ``about.json`` says of a model.

    Attributes
    ----------
    scores : str
        What its raw scores are.
    logistic : (float, float), optional
        Numbers a and b: the probability of a label is 1 / (1 + exp(-(a s + b))) for the score s.
    pos_label : str
        This label.
    why_not : str
        Why there are no probabilities.
    """

    framework: str
    columns: list[Column]
    scores: str = SCORES
    logistic: tuple[float, float] | None = None
    pos_label: str = ""
    why_not: str = ""

    def in_words(self, probabilities: bool) -> str:
        """What the numbers are that scoring prints."""
        of_label = f"probabilities of the label {self.pos_label}"
        if probabilities:
            return of_label
        return self.scores + (f"; {PROBABILITIES} prints {of_label}" if self.logistic else "")

    def probability(self, folder: Path) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """The probabilities of scores; a ValueError if there are none."""
        if self.logistic is None:
            raise ValueError(
                f"the model in {folder} has no probabilities: {self.why_not or 'none were saved'}. "
                f"Leave out {PROBABILITIES}: its numbers are {self.scores}"
            )
        a, b = self.logistic
        return lambda s: np.asarray(np.exp(-np.logaddexp(0.0, -(a * s + b))))  # without overflow


def read_about(folder: Path) -> About:
    """What a folder says of its model."""
    file = folder / ABOUT
    if not file.is_file():
        raise ValueError(
            f"{folder} has no {ABOUT}: it is no saved model, or the run that saved it was stopped, "
            "and can be repeated"
        )
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        columns = [Column(**column) for column in about["columns"]]
        names = {column.name for column in columns if _is_sound(column)}
        if not isinstance(about["columns"], list) or not 0 < len(columns) == len(names):
            raise ValueError
        framework = str({name: name for name in MODELS}[about["framework"]])
        logistic = None
        if about.get("a") is not None:
            logistic = float(about["a"]), float(about["b"])
            if not np.isfinite(logistic).all():
                raise ValueError
        words = {"scores": SCORES, "pos_label": "", "no_probabilities": ""}
        said = (str(about.get(name, known))[:MOST_WORDS] for name, known in words.items())
        scores, pos_label, why_not = said
        return About(framework, columns, scores, logistic, pos_label, why_not)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{file} is damaged, or was written by another program") from None


def _is_sound(column: Column) -> bool:
    """Whether a column is one that lambdaplus has written."""
    words = [column.name, column.kind, *column.levels]
    listed = isinstance(column.levels, list | tuple) and all(isinstance(w, str) for w in words)
    return listed and len({*column.levels}) == len(column.levels)
