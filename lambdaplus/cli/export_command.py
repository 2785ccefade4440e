"""``lambdaplus export``."""

import pathlib
from typing import Annotated, Any

import typer

from lambdaplus.cli.command_files import errors_of, refuse_overwriting, write_whole
from lambdaplus.evaluation.conventions import in_words
from lambdaplus.export.engines import FORMATS


def export(
    model: Annotated[
        pathlib.Path, typer.Argument(help="Model file: LightGBM's text, XGBoost's JSON or UBJ.")
    ],
    format: Annotated[str, typer.Option(help=f"The search engine: {in_words(FORMATS)}.")],
    name: Annotated[str, typer.Option(help="Name of the model in the engine.")] = "lambdaplus",
    features: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated feature names in the engine, in the order of the training "
            "columns; default: those of the model."
        ),
    ] = None,
    offset: Annotated[
        float, typer.Option(help="Added to every score; Elasticsearch refuses negative scores.")
    ] = 0.0,
    out: Annotated[
        pathlib.Path | None, typer.Option(help="File to write; default: standard output.")
    ] = None,
) -> None:
    """Convert a model to the format of a search engine."""
    from lambdaplus.export import export_model, read_model

    with errors_of("export"):
        if out is not None:
            refuse_overwriting(out, [model])
        names = features and [feature.strip() for feature in features.split(",")]
        form: Any = format
        text = export_model(
            read_model(model), form, name=name, feature_names=names or None, offset=offset
        )
        if out is None:
            typer.echo(text)
        else:
            write_whole(out, text + "\n")
