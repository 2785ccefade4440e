"""The options of ``lambdaplus compare`` that are fields of `Config`: names, types and help."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Annotated, Any, get_args, get_origin

import typer

from lambdaplus.evaluation.conventions import CONVENTIONS, in_words
from lambdaplus.frameworks.ranking_trees import SIZES
from lambdaplus.study.config import Config

OTHERS = ("data", "every", "grid")
"""Fields that are no options: the argument, and what is set in TOML files and in Python only."""
CHOICES: dict[str, Iterable[str]] = {"convention": CONVENTIONS, "trees": SIZES}
OPTIONS = {option.name: option for option in fields(Config) if option.name not in OTHERS}


def with_config_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the ``**options`` of a command by an option for each field, after its argument."""
    argument, *others, _ = inspect.signature(command, eval_str=True).parameters.values()
    described = _described(inspect.getdoc(Config) or "")
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None,
                          annotation=_annotation(name, described.get(name, "")))
        for name in OPTIONS
    ]  # fmt: skip
    command.__signature__ = inspect.Signature([argument, *options, *others])  # type: ignore[attr-defined]
    return command


def _described(text: str) -> dict[str, str]:
    """What a docstring says about each attribute, without markup and references."""
    text = re.sub(r",\s+see `[^`]+`", "", text)
    found = re.findall(r"^(\w+) : .*\n((?:    .*\n)+)", text, re.MULTILINE)
    return {name: " ".join(words.replace("`", "").split()) for name, words in found}


def _annotation(name: str, text: str) -> Any:
    kind: Any = OPTIONS[name].type
    default: Any = OPTIONS[name].default
    if name in CHOICES:
        text += f" One of {in_words(CHOICES[name])}."
    if get_origin(kind) is tuple:
        kind, default = str, ",".join(map(str, default))
    if default:
        text += f" Default: {default}."
    return Annotated[kind | None, typer.Option(help=text)]


def parsed(name: str, value: Any) -> Any:
    """The value of an option as that of the field; lists are text on the command line."""
    kind = OPTIONS[name].type
    if get_origin(kind) is not tuple:
        return value
    if int in get_args(kind):
        return _seeds(value)
    from lambdaplus.metrics.names import split_names  # not for --help

    if names := tuple(split_names(value)):
        return names
    raise ValueError(f"--{name} {value!r} is empty: leave it out for the default")


def _seeds(text: str) -> tuple[int, ...]:
    if re.fullmatch("[1-9][0-9]{0,5}", text):
        return tuple(range(int(text)))
    if re.fullmatch("([0-9]+,)+[0-9]*", text):
        return tuple(map(int, text.removesuffix(",").split(",")))
    raise ValueError(
        f"--seeds {text!r} is not a number of seeds such as 3 (below a million), nor a list of "
        "seeds such as 0,7"
    )
