"""A paper's experiment as something to run: its name, its options, what it fits.

Examples
--------
>>> from dataclasses import dataclass
>>> from papers.preset import option, options_of
>>> @dataclass(frozen=True)
... class Options:
...     trials: int = option(50, "Random splits.")
>>> options_of(Options)
[('trials', 50, 'Random splits.')]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from papers.findings import Findings
from papers.session import Session


@dataclass(frozen=True)
class Preset:
    """A paper's experiment.

    Attributes
    ----------
    name : str
        Such as ``yue-2007``.
    paper : str
        Its citation.
    shows : str
        What is run, in a line.
    fits : dict of str to str
        Published sets that it fits, with what they are.
    options : type
        Frozen dataclass of fields made by `option`.
    run : callable
        From a session and options to what was found.
    """

    name: str
    paper: str
    shows: str
    fits: Mapping[str, str]
    options: Callable[..., Any]
    run: Callable[[Session, Any], Findings]


def option(default: Any, help: str) -> Any:
    """An option of a preset: a dataclass field with a default and a line of help."""
    return field(default=default, metadata={"help": help})


def options_of(options: Any) -> list[tuple[str, Any, str]]:
    """Name, default and help of each option."""
    return [(known.name, known.default, known.metadata["help"]) for known in fields(options)]
