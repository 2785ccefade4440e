"""The command line: ``lambdaplus`` and its commands, one in each file."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

from lambdaplus.compute.extras import installation
from lambdaplus.compute.versions import installed_versions


@contextmanager
def _missing_packages_named() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        needs = f"the command line needs what is not installed ({error})"
        sys.exit(f"{needs}: {installation('cli')}")


with _missing_packages_named():
    import typer
    from typer.core import TyperGroup

    from lambdaplus.cli.terminal import print_warnings_in_a_line

HELP = {
    "compare": "Train methods on folds and compare them. Run the command again to continue after a "
    "stop.",
    "predict": "Score the rows of a file by a saved model: a number a line, in the order of the "
    "rows.",
    "evaluate": "Evaluate runs; if there are several, test their differences for significance.",
    "metrics": "List the metrics; the page Metrics of the documentation has their options.",
}
"""Of each command: the function of this name in its file."""
FILE = "lambdaplus.cli.{}_command"
_PLAIN: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False}


def _with_missing_named(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which imports what it needs when it runs."""

    @wraps(command)
    def named(**options: Any) -> None:
        with _missing_packages_named():
            command(**options)

    return named


class _Commands(TyperGroup):
    """Imports the file of a command when it is used: that of `compare` takes a second."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in HELP:
            return None
        with _missing_packages_named():
            file = import_module(FILE.format(cmd_name))
        alone = typer.Typer(**_PLAIN)
        alone.command(cmd_name, help=HELP[cmd_name])(_with_missing_named(getattr(file, cmd_name)))
        return typer.main.get_command(alone)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        names = ("name", "help", "params", "commands", "rich_markup_mode")
        listed: dict[str, Any] = {name: getattr(self, name) for name in names}
        TyperGroup(**listed).format_help(ctx, formatter)


app = typer.Typer(
    cls=_Commands,
    help="Compare and evaluate rankers of LightGBM, XGBoost and lambdaplus.",
    no_args_is_help=True,
    **_PLAIN,
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


for name, text in HELP.items():
    app.command(name, help=text)(lambda: None)  # what is listed


def main() -> None:
    """Entry point of the ``lambdaplus`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for names that cannot be encoded
    print_warnings_in_a_line()
    app()
