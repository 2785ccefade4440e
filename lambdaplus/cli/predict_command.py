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
    out: Path | None = typer.Option(
        None, help="File to write, which must not exist; by default, scores are printed."
    ),
) -> None:
    from lambdaplus.data.atomic_files import atomic_write  # not for --help
    from lambdaplus.data.scoring import score_file

    console = Terminal(soft_wrap=True, stderr=True)
    with errors_of("predict"), warnings_told(console):
        if out is not None and out.exists():
            raise FileExistsError(f"{out} exists: pass another file, or remove it")
        text = "".join(f"{score!r}\n" for score in score_file(model, file).tolist())
        if out is None:
            typer.echo(text, nl=False)
        else:
            with atomic_write(out) as part:
                part.write_text(text, encoding="utf-8")
