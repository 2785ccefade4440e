"""The command line, called in this process."""

from typing import Any

import pytest

typer_testing = pytest.importorskip("typer.testing")


def invoke(*arguments: Any, ends: int | None = 0, width: int = 400) -> Any:
    """Output of `lambdaplus` on a terminal of this width; `ends` is its exit code, None for any."""
    from lambdaplus.cli import app

    runner = typer_testing.CliRunner(env={"COLUMNS": str(width)})
    found = runner.invoke(app, [str(argument) for argument in arguments])
    assert ends in (None, found.exit_code), found.output
    return found
