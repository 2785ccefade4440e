"""Errors of commands: a message instead of a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from lambdaplus.compute.messages import printable


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
        typer.echo(printable(f"lambdaplus {command}: {error}"), err=True)
        raise typer.Exit(2) from None
