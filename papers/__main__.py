"""``python -m papers``, from the root of the repository: one command for each preset."""

from __future__ import annotations

import inspect
import os
import pathlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from lambdaplus.cli.command_files import errors_of
from lambdaplus.cli.running import exit_code, progress_on, stoppable
from papers import PRESETS, Findings, Preset, run_preset
from papers.preset import options_of
from papers.run import PROGRAM
from papers.session import Watch

app = typer.Typer(
    help="Run the experiments of a paper and check its claims.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _list(context: typer.Context) -> None:
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("preset", "paper", "what is run", "data that it fits")
    for preset in PRESETS:
        fits = "\n".join(f"{name}: {what}" for name, what in preset.fits.items())
        table.add_row(preset.name, preset.paper, preset.shows, fits)
    Console().print(table)
    typer.echo(f"{PROGRAM} PRESET --help shows the options of each.")


def command_for(preset: Preset) -> Callable[..., None]:
    """The command of a preset, with its own options."""
    fits = "; ".join(f"{name} ({what})" for name, what in preset.fits.items())
    known = {
        "data": (
            list[pathlib.Path] | None,
            typer.Argument(help=f"Folders in the published layout: {fits}. Default: digits."),
            None,
        ),
        "out": (
            pathlib.Path,
            typer.Option(help="Folder for finished fits, findings.md, tables and plots."),
            pathlib.Path(f"build/papers/{preset.name}"),
        ),
        "jobs": (int, typer.Option(min=0, help="Number of parallel fits; 0: one per core."), 0),
        **{
            name: (type(default), typer.Option(help=help), default)
            for name, default, help in options_of(preset.options)
        },
    }

    def command(
        data: list[pathlib.Path] | None, out: pathlib.Path, jobs: int, **options: Any
    ) -> None:
        _run(preset, data or [], out, jobs or os.cpu_count() or 1, options)

    # What typer reads: the preset's options are parameters like any other.
    annotations = {name: Annotated[kind, info] for name, (kind, info, _) in known.items()}
    command.__annotations__ = annotations
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotations[name]
            )
            for name, (_, _, default) in known.items()
        ]
    )
    command.__doc__ = f"{preset.paper}\n\n{preset.shows}"
    return command


for _preset in PRESETS:
    app.command(_preset.name)(command_for(_preset))


def _run(
    preset: Preset, data: list[pathlib.Path], out: pathlib.Path, jobs: int, options: dict[str, Any]
) -> None:
    from rich.console import Console

    console = Console(markup=False, emoji=False)
    with errors_of(preset.name, PROGRAM):
        try:
            with stoppable(), _progress(console) as watch:
                found = run_preset(
                    preset, data, out, options=preset.options(**options), jobs=jobs, watch=watch
                )
        except KeyboardInterrupt as stop:
            console.print(
                f"Stopped; what was finished is kept in {out}, and the same command goes on.",
                soft_wrap=True,
            )
            raise typer.Exit(exit_code(stop)) from None
        except RuntimeError as error:
            console.print(str(error), style="red", soft_wrap=True)
            raise typer.Exit(1) from None
    for one in found:
        _print(console, one, named=len(found) > 1)
    console.print(f"Wrote {out / 'findings.md'}, and tables and plots beside it.", soft_wrap=True)


@contextmanager
def _progress(console: Any) -> Iterator[Watch]:
    with progress_on(console) as progress:
        bars: dict[str, Any] = {}

        def watch(doing: str, done: int, total: int) -> None:
            if doing not in bars:
                bars[doing] = progress.add_task(doing, total=total)
            progress.update(bars[doing], completed=done)

        yield watch


def _print(console: Any, found: Findings, named: bool) -> None:
    from rich.text import Text

    from lambdaplus.evaluation import Table

    if named:
        console.rule(found.data)
    for section in found.sections:
        for exhibit in section.exhibits:
            if isinstance(exhibit.content, Table) and not exhibit.long:
                console.print(Text(f"\n{exhibit.caption}", style="bold"), exhibit.content)
    colours = {True: "green", False: "red", None: "yellow"}
    for claim in found.claims:
        console.print(
            Text.assemble(
                (claim.verdict, f"bold {colours[claim.holds]}"),
                f"  {claim.place}: {claim.statement} ",
                (claim.evidence, "dim"),
            )
        )


if __name__ == "__main__":
    app(prog_name=PROGRAM)
