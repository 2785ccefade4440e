"""The command ``python predict.pyz``, which lies in the folder of a model."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .about import PROBABILITIES, read_about
from .scores import score_file

USAGE = """Scores of the rows of a file by a saved model: python {program} [--probabilities] FILE

It prints a number for each row, in their order, and on stderr what these numbers are.  It needs
numpy, polars and the framework of the model, and nothing else.
It is a zip file of Python modules; to read them: python -m zipfile -e {program} FOLDER
"""


def main(program: str, arguments: Sequence[str]) -> int:
    """Print the scores of a file by the model beside the program, or an error and nothing else."""
    files = [argument for argument in arguments if argument != PROBABILITIES]
    probabilities, folder = len(files) < len(arguments), Path(program).parent
    if len(files) != 1 or files[0].startswith("-"):
        print(USAGE.format(program=program), end="", file=sys.stderr)
        return 2
    said, meaning, scores = "", "", np.zeros(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = score_file(folder, Path(files[0]), probabilities=probabilities)
            meaning = read_about(folder).in_words(probabilities)
        except (ValueError, OSError, ImportError, MemoryError) as error:
            said = str(error)
    for message in filter(None, [meaning, *(str(warning.message) for warning in caught), said]):
        # What a terminal would obey is printed as escapes.
        shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in message)
        print(f"{Path(program).name}: {shown}", file=sys.stderr)
    try:
        sys.stdout.writelines(f"{score!r}\n" for score in scores.tolist())
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
    return 2 if said else 0
