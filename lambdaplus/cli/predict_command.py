"""``lambdaplus predict``."""

from __future__ import annotations

from pathlib import Path

import typer

from lambdaplus.cli.terminal import Terminal, errors_of, warnings_told


def predict(
    model: Path = typer.Argument(..., help="Folder that compare --save-model has written."),
    file: Path = typer.Argument(
        ..., help="CSV, TSV, Parquet or svmlight file with the columns of the model."
    ),
    probabilities: bool = typer.Option(
        False,
        "--probabilities",
        help="Probabilities of the label 1, or of a classifier's class, in place of scores; if the "
        "model has them.",
    ),
    out: Path | None = typer.Option(
        None, help="File to write, which must not exist; by default, scores are printed."
    ),
) -> None:
    from lambdaplus.data.atomic_files import atomic_write  # not for --help
    from lambdaplus.saved_model.about import read_about
    from lambdaplus.saved_model.scores import score_file

    console = Terminal(soft_wrap=True, stderr=True)
    with errors_of("predict"), warnings_told(console):
        if out is not None and out.exists():
            raise FileExistsError(f"{out} exists: pass another file, or remove it")
        scores = score_file(model, file, probabilities=probabilities)
        text = "".join(f"{score!r}\n" for score in scores.tolist())
        console.print(read_about(model).in_words(probabilities))
        if out is None:
            typer.echo(text, nl=False)
        else:
            with atomic_write(out) as part:
                part.write_text(text, encoding="utf-8")
