"""Scores of the rows of a file by a saved model."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .about import ABOUT, read_about
from .boosters import MODELS, SCORERS
from .features import BATCH, features_of
from .words import like, shown, warn


def score_file(
    folder: Path, file: Path, size: float = BATCH, probabilities: bool = False
) -> NDArray[np.float64]:
    """The scores of the rows of a file by the model in a folder, (n,), in the order of the rows.

    With ``probabilities``, those of the label that ``about.json`` names.  Values of categories that
    the model was not trained with are missing values, as empty cells are.

    Raises
    ------
    ValueError, OSError
        If the folder has no model, or none with probabilities, or the file is not like those of the
        training.

    Warns
    -----
    UserWarning
        For values that the model was not trained with, and for a file that is not UTF-8.
    """
    about = read_about(folder)
    framework, columns = about.framework, about.columns
    output = about.probability(folder) if probabilities else np.asarray
    if not file.exists():
        beside = sorted(path.name for path in file.parent.glob("*"))
        raise FileNotFoundError(f"there is no file {file}{like(file.name, beside)}")
    model = folder / MODELS[framework]
    if not model.is_file():  # nor is a pipe one, which would never end
        raise ValueError(f"{model} cannot be read: it is no file")
    try:
        scorer = SCORERS[framework](model)
    except Exception as error:  # each framework has errors of its own
        if isinstance(error, ImportError):
            raise
        raise ValueError(f"{model} cannot be read: {error}") from None
    unseen: dict[str, Counter[str]] = {}
    scores, rows = [np.zeros(0)], 0
    for features in features_of(file, columns, unseen, size):
        for row, j in np.argwhere(np.isinf(features))[:1] if framework == "xgboost" else ():
            raise ValueError(
                f"{file}, column {columns[j].name!r}, row {rows + row + 1} is {features[row, j]}, "
                "and XGBoost takes finite numbers: leave the cell empty, or write a large number"
            )
        try:
            scores.append(np.asarray(scorer(features), dtype=np.float64))
        except MemoryError:
            raise
        except Exception as error:  # the framework's own, such as for another number of columns
            raise ValueError(f"{model} does not fit {folder / ABOUT}: {error}") from None
        rows += len(features)
        if rows > len(features) and sys.stderr is not None and sys.stderr.isatty():
            print(f"{rows:,} rows", end="\r", file=sys.stderr, flush=True)
    for name, cells in unseen.items():
        warn(
            f"{file}, column {name!r}: {cells.total():,} of {rows:,} rows have values that the "
            "model was not trained with, which are taken for missing: "
            f"{', '.join(map(shown, [*cells][:5]))}{', ...' if len(cells) > 5 else ''}"
        )
    return output(np.concatenate(scores))
