"""What a terminal shows while a command works: progress, warnings, and errors without traceback."""

import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich import progress as bars
from rich.console import Console

from lambdaplus.compute.messages import printable

if TYPE_CHECKING:
    from lambdaplus.study import Study

SECONDS = 30.0  # between lines of progress
MOST_LETTERS = 20_000  # of an error


@contextmanager
def said_every(seconds: float, say: Callable[[], None]) -> Iterator[None]:
    """Call a function from time to time while the block runs."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(seconds):
            say()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Terminal(Console):
    """A console that prints tables, and texts with names in them.

    In names of files and columns, markup and codes of emoji are printed as they are, and control
    characters as escapes.  If the reader goes, as head does, the work goes on, and nothing more is
    shown.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        texts = [printable(item) if isinstance(item, str) else item for item in objects]
        try:
            super().print(*texts, **options)
        except (BrokenPipeError, SystemExit):  # rich exits
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def print_warnings_in_a_line() -> None:
    """Print warnings without control characters, and without the line of code that warns."""

    def text(message: Warning | str, *_: Any, **__: Any) -> str:
        return printable(f"lambdaplus: {message}") + "\n"

    warnings.formatwarning = text


def run_with_progress(study: "Study", console: Console) -> None:
    """Run all fits that are not stored yet, below a bar; without a terminal, a line says it."""
    if not console.is_terminal:
        finished, begin = 0, time.monotonic()

        def say() -> None:
            minutes = (time.monotonic() - begin) / 60
            console.print(f"{finished} of {len(study)} fits after {minutes:.1f} minutes")

        with said_every(SECONDS, say):
            for _ in study.run():
                finished += 1
        return
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
            description = printable(f"{task.method.name} {task.fold:<12}")
            progress.update(bar, advance=1, description=description)
            if done == study.kept:  # stored fits must not enter the estimate
                progress.reset(bar, completed=done)


@contextmanager
def warnings_told(console: Console) -> Iterator[None]:
    """Print the warnings of the block, such as damaged files, once each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                console.print(text, style="yellow")


@contextmanager
def errors_of(command: str) -> Iterator[None]:
    """Print an error message and exit with code 2 instead of showing a traceback."""
    try:
        yield
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()  # so that the error of a full disk is raised here
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        raise
    except (ValueError, OSError, ImportError, MemoryError) as error:
        said = str(error)
        if len(said) > MOST_LETTERS:  # a cell of a table may have millions
            said = f"{said[: MOST_LETTERS // 2]} ... {said[-MOST_LETTERS // 2 :]}"
        typer.echo(printable(f"lambdaplus {command}: {said}"), err=True)
        raise typer.Exit(2) from None
