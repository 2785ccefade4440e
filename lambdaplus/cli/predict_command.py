"""``lambdaplus predict``."""

from __future__ import annotations

import pathlib
from typing import Annotated

import typer

from lambdaplus.cli.errors import errors_of


def predict(
    model: Annotated[
        pathlib.Path, typer.Argument(help="Folder that compare --save-model has written.")
    ],
    file: Annotated[
        pathlib.Path,
        typer.Argument(help="CSV, TSV, Parquet or svmlight file with the columns of the model."),
    ],
    out: Annotated[
        pathlib.Path | None,
        typer.Option(help="File to write, which must not exist; by default, scores are printed."),
    ] = None,
) -> None:
    """Score the rows of a file by a saved model: a number a line, in the order of the rows."""
    with errors_of("predict"):
        from lambdaplus.data.whole_files import written_whole
        from lambdaplus.study.saved_model import predict_file

        if out is not None and out.exists():
            raise FileExistsError(f"{out} exists: pass another file, or remove it")
        text = "".join(f"{score!r}\n" for score in predict_file(model, file).tolist())
        if out is None:
            typer.echo(text, nl=False)
        else:
            with written_whole(out) as part:
                part.write_text(text, encoding="utf-8")
