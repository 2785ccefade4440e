"""``lambdaplus compare``."""

from __future__ import annotations

import inspect
import math
import os
import pathlib
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lambdaplus.cli.command_files import errors_of
from lambdaplus.compute.arguments import number_of
from lambdaplus.study.config import Config

if TYPE_CHECKING:
    from rich.console import Console

    from lambdaplus.study import Study, Summary

DIGITS = "built-in images of handwritten digits; images of the digit in the query are relevant"
NO_EVIDENCE = (
    "Handwritten digits are few, and their labels are clean: this shows how methods are compared, "
    "and is no evidence for your data. Pass your own, or see the page Accuracy of the "
    "documentation for results on public ranking data."
)
TABLES = ("per_query.csv", "per_query.parquet", "summary.csv", "choices.csv")


def compare(
    data: Annotated[
        pathlib.Path | None,
        typer.Argument(
            help="A folder in the layout of LETOR, MSLR, Yahoo or Istella (Fold1..FoldN, or one "
            "train/vali/test; .xz and .gz are supported); one svmlight, .csv or .parquet file, or "
            "web-search-like:N for N synthetic queries, which are split into five folds of queries "
            "(or of rows, with --qid none), or --splits; or a TOML file with options, including "
            "data. By default, a built-in data set: query by example on handwritten digits."
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write report.html, its plots and tables.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Number of parallel fits; 0: one per core.")] = 0,
    out: Annotated[
        pathlib.Path, typer.Option(help="Folder for finished fits, tables and study.toml.")
    ] = pathlib.Path("lambdaplus-compare"),
    **options: Any,
) -> None:
    """Train methods on folds and compare them. Run the command again to continue after a stop."""
    from rich.console import Console

    console = Console(markup=False, emoji=False)  # a path may contain [red] or :bug:
    if report:
        _need_for_report()
    cores = os.cpu_count() or 1
    with errors_of("compare"):
        config = Config()
        if data is not None and data.suffix == ".toml":
            config = Config.read(data)
        elif data is not None:
            config = Config(data=str(data))
        config = replace(config, **_fields(options))
        jobs = jobs or cores
        with _warnings_told(console), console.status("Reading the data ..."):
            from lambdaplus.study.assembly import completed, study_of

            study = study_of(config, out, jobs, threads=max(1, cores // jobs))
        config = completed(config, study)
        inputs = [path for path in (data, pathlib.Path(config.data)) if path and path.is_file()]
        code = _run(study, config, out, inputs, report, console)
    if code:
        raise typer.Exit(code)


def _names(option: str, text: str) -> tuple[str, ...]:
    from lambdaplus.metrics.names import split_names

    names = tuple(split_names(text))
    if not names:
        raise ValueError(f"{option} {text!r} is empty: leave it out for the default")
    return names


def _seeds(option: str, text: str) -> tuple[int, ...]:
    if re.fullmatch("[1-9][0-9]{0,5}", text):
        return tuple(range(int(text)))
    if re.fullmatch("([0-9]+,)+[0-9]*", text):
        return tuple(map(int, text.removesuffix(",").split(",")))
    raise ValueError(
        f"{option} {text!r} is not a number of seeds such as 3 (below a million), nor a list of "
        "seeds such as 0,7"
    )


def _shares(option: str, text: str) -> tuple[float, ...]:
    """Parse shares; integers are numbers of queries, other numbers are shares."""
    try:
        return tuple(int(part) if part.isdecimal() else number_of(part) for part in text.split(","))
    except ValueError:
        raise ValueError(
            f"{option} {text!r} is not a list such as 0.6,0.2,0.2 or 10,5,35"
        ) from None


# Types of the fields of `Config` on the command line, where lists are text, and their parsers.
TYPES: dict[str, type] = {"int": int, "float": float}
LISTS: dict[str, Callable[[str, str], tuple[Any, ...]]] = {
    "tuple[str, ...]": _names,
    "tuple[int, ...]": _seeds,
    "tuple[float, ...]": _shares,
}


def _fields(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Config` that options set."""
    parsers = {f"{field.name}": LISTS.get(str(field.type)) for field in fields(Config)}
    return {
        name: parse(f"--{name}", value) if (parse := parsers[name]) else value
        for name, value in options.items()
        if value is not None
    }


def _parameter(field: Field[Any]) -> inspect.Parameter:
    """The parameter of an option that sets a field of `Config`; None if it is not given."""
    kind = TYPES.get(str(field.type), str)
    option = typer.Option(
        f"--{field.name}", help=field.metadata["help"], min=1 if kind is int else None
    )
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[kind | None, option],
    )  # fmt: skip


# Typer reads the options from the signature: those above, and in their middle those of `Config`.
_signature = inspect.signature(compare, eval_str=True)
_data, *_others, _ = _signature.parameters.values()
compare.__signature__ = _signature.replace(  # type: ignore[attr-defined]
    parameters=[
        _data,
        *(_parameter(field) for field in fields(Config) if "help" in field.metadata),
        *(other.replace(kind=inspect.Parameter.KEYWORD_ONLY) for other in _others),
    ]
)


def _run(
    study: Study,
    config: Config,
    out: pathlib.Path,
    inputs: list[pathlib.Path],
    report: bool,
    console: Console,
) -> int:
    """Fit, write the results, and return the exit code."""
    from lambdaplus.study import Summary, write_report
    from lambdaplus.study.outputs import OutputFolder
    from lambdaplus.study.workers import working_folder

    with OutputFolder(out, inputs) as folder, working_folder() as made:
        # Raise this error before the first fit, not after the last.
        folder.refuse_foreign([*TABLES, *(["report.html"] if report else [])])
        (made / "study.toml").write_text(config.to_toml() + "\n", encoding="utf-8")
        folder.refuse_foreign(["study.toml"], made)
        console.print(f"Data: {config.data or DIGITS}", soft_wrap=True)
        for line in study.data:
            console.print(f"  {line}", soft_wrap=True)
        try:
            with _warnings_told(console), _stoppable():
                _fit(study, console)
            if study.finished:
                summary = Summary(study.results, config.baseline or None)
                _write_tables(summary, made, console)
                if not config.data:
                    console.print(NO_EVIDENCE, soft_wrap=True)
                folder.publish(made)  # whatever happens to the report
                if report:
                    said = {"data": config.data or DIGITS, "date": time.strftime("%Y-%m-%d")}
                    with _warnings_told(console), console.status("Writing the report ..."):
                        write_report(summary, made, config.to_toml(), **said)
                    folder.publish(made, outdated=["plots/", "tables/"])
        except KeyboardInterrupt as stop:
            console.print(
                f"Stopped after {len(study.finished)} of {len(study)} fits, which are kept in "
                f"{out}: the same command continues from there.",
                soft_wrap=True,
            )
            # The exit code that shells use for a signal.
            return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)
        if study.finished:
            what = ", study.toml, plots and tables" if report else " and study.toml"
            console.print(f"Wrote {', '.join(TABLES)}{what} to {out}.", soft_wrap=True)
            if report:
                console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    for name, message in study.errors.items():
        console.print(f"{name} failed: {message}", style="red", soft_wrap=True)
    return int(bool(study.errors))


def _need_for_report() -> None:
    """Raise an ImportError before the first fit, not after the last."""
    with errors_of("compare"):
        from lambdaplus.study.figures import needs_matplotlib

        needs_matplotlib()


def _fit(study: Study, console: Console) -> None:
    from rich import progress as bars

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    # Estimate the time left from all fits, since those of different methods take different times.
    lasting: Any = {"transient": True, "speed_estimate_period": math.inf}
    with bars.Progress(*columns, console=console, **lasting) as progress:
        bar = progress.add_task("starting processes", total=len(study))
        for done, task in enumerate(study.run(), start=1):
            progress.update(bar, advance=1, description=f"{task.method.name} {task.fold:<12}")
            if done == study.kept:  # stored fits must not enter the estimate
                progress.reset(bar, completed=done)


def _write_tables(summary: Summary, folder: pathlib.Path, console: Console) -> None:
    """Print the conclusions, then the means with their notes, and write the tables."""
    from lambdaplus.study import results_table, write_csv, write_parquet
    from lambdaplus.study.study_tables import verdict_table

    with console.status("Testing significance ..."):
        table, verdicts = results_table(summary), verdict_table(summary)
        sentences = summary.conclusions()
    for sentence in sentences:
        console.print(sentence, soft_wrap=True)
    if verdicts is not None:
        console.print(verdicts)
    console.print(table)
    write_csv(summary.results, folder)
    write_parquet(summary.results, folder)


@contextmanager
def _warnings_told(console: Console) -> Iterator[None]:
    """Print the warnings of the block, such as damaged files, once each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                console.print(text, style="yellow", soft_wrap=True)


class Terminated(KeyboardInterrupt):
    """SIGTERM was received."""


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM raise an exception in the block, as Ctrl-C does, to release resources."""
    if threading.current_thread() is not threading.main_thread():  # only that one gets signals
        yield
        return

    def stop(*_: Any) -> None:
        raise Terminated

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
