"""The command line, called in this process."""

from typing import Any

import pytest

typer_testing = pytest.importorskip("typer.testing")


def invoke(*arguments: Any, width: int = 400) -> Any:
    """Exit code and output of `lambdaplus` on a terminal of this width."""
    from lambdaplus.cli import app

    runner = typer_testing.CliRunner(env={"COLUMNS": str(width)})
    return runner.invoke(app, [str(argument) for argument in arguments])
