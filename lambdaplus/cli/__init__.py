"""The command line: ``lambdaplus`` and its commands, one in each file."""

import io
import sys
from typing import Annotated

from lambdaplus.compute.extras import installation

try:
    import typer

    from lambdaplus.cli.compare_command import compare
    from lambdaplus.cli.evaluate_command import evaluate
    from lambdaplus.cli.metrics_command import metrics
    from lambdaplus.cli.predict_command import predict
    from lambdaplus.cli.terminal import print_warnings_in_a_line
except ImportError as error:
    sys.exit(f"the command line needs what is not installed ({error}): {installation('cli')}")

from lambdaplus.study import installed_versions

app = typer.Typer(
    help="Compare and evaluate rankers of LightGBM, XGBoost and lambdaplus.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_versions(wanted: bool) -> None:
    if wanted:
        for name, version in installed_versions().items():
            typer.echo(f"{name} {version}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_versions, is_eager=True, help="Print versions."),
    ] = False,
) -> None:
    pass


for command in (compare, predict, evaluate, metrics):
    app.command()(command)


def main() -> None:
    """Entry point of the ``lambdaplus`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for names that cannot be encoded
    print_warnings_in_a_line()
    app()
