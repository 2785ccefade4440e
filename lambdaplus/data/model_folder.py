"""The folder of a saved model: trees of a framework, what they need to know, and a program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lambdaplus.compute.extras import installation
from lambdaplus.data.model_program import LAUNCHER, PROGRAM, write_launcher, write_program
from lambdaplus.saved_model.about import ABOUT
from lambdaplus.saved_model.boosters import MODELS
from lambdaplus.saved_model.columns import LEFT_OUT, Column

NAMES = (ABOUT, PROGRAM, LAUNCHER, *MODELS.values())
"""The files of a saved model."""


@contextmanager
def model_folder(folder: Path) -> Iterator[Path]:
    """A folder to write a model to, which replaces an earlier one if the block ends without error.

    A FileExistsError is raised for files that lambdaplus did not write.
    """
    try:
        from lambdaplus.data.output_folder import OutputFolder
    except ImportError:
        raise ImportError(f"a saved model needs filelock: {installation('cli')}") from None
    with OutputFolder(folder) as output:
        output.refuse_foreign(NAMES)
        yield output.made
        output.publish(outdated=NAMES, last=ABOUT)


def write_model(
    folder: Path,
    framework: str,
    save: Callable[[str], Any],
    columns: Sequence[Column],
    **about: Any,
) -> None:
    """Write the trees, which ``save`` writes to a file, ``about.json`` and ``predict.pyz``.

    Parameters
    ----------
    columns : sequence of Column
        The features in the order of the model, and columns that are left out.
    **about
        What else ``about.json`` says of the model.
    """
    save(str(folder / MODELS[framework]))
    write_program(folder / PROGRAM)
    write_launcher(folder / LAUNCHER)
    used = [column for column in columns if column.kind != LEFT_OUT]
    left_out = {column.name: column.why for column in columns if column.kind == LEFT_OUT}
    described = {
        "framework": framework,
        "program": f"{PROGRAM} is a zip file of Python: python -m zipfile -e {PROGRAM} FOLDER",
        "columns": [{k: v for k, v in one._asdict().items() if v} for one in used],
        "left_out": left_out,
        **about,
    }
    text = json.dumps(described, indent=1, default=str, ensure_ascii=False)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")
