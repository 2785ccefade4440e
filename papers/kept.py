"""Results that are no fits, kept on disk as JSON: what is there is not computed again.

Examples
--------
>>> import pathlib, tempfile
>>> from papers.kept import keep_each
>>> with tempfile.TemporaryDirectory() as folder:
...     keep_each(pathlib.Path(folder), pow, {"a": (2, 3)}, jobs=1)
{'a': 8}
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.data.binary import fingerprint
from lambdaplus.data.whole_files import written_whole
from lambdaplus.study.identity import digest
from lambdaplus.study.workers import first_line, run_in_processes


def keep_each(
    folder: Path,
    work: Callable[..., Any],
    items: Mapping[str, tuple[Any, ...]],
    jobs: int,
    watch: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Call ``work(*arguments)`` for the items that the folder does not have yet.

    Raises
    ------
    RuntimeError
        If some failed; what the others gave is kept.
    """
    paths = {name: folder / f"{_key(work, arguments)}.json" for name, arguments in items.items()}
    missing = [name for name, path in paths.items() if not path.exists()]
    errors = {}
    tasks = [(paths[name], work, items[name]) for name in missing]
    running = run_in_processes(compute, tasks, jobs) if jobs > 1 else _here(tasks)
    watch(len(items) - len(missing))
    with contextlib.closing(running):
        for done, (number, error) in enumerate(running, start=1):
            if error:
                errors[missing[number]] = error
            watch(len(items) - len(missing) + done)
    if errors:
        said = "; ".join(f"{name}: {error}" for name, error in errors.items())
        raise RuntimeError(f"{len(errors)} of {len(items)} failed, the others are kept: {said}")
    return {name: json.loads(path.read_text()) for name, path in paths.items()}


def compute(path: Path, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Compute and write one result, wholly or not at all."""
    text = json.dumps(work(*arguments))
    with written_whole(path) as part:
        part.write_text(text)


def _here(tasks: list[tuple[Any, ...]]) -> Generator[tuple[int, str]]:
    for number, task in enumerate(tasks):
        error = ""
        try:
            compute(*task)
        except Exception as problem:  # it ends this item alone
            error = first_line(problem)
        yield number, error


def _key(work: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    return digest([work, list(map(_said, arguments))])


def _said(argument: Any) -> Any:
    """What stands for an argument in the key."""
    if isinstance(argument, RankingData):
        return fingerprint(argument)
    if isinstance(argument, Fold):
        return [fingerprint(part) for part in (argument.train, argument.valid, argument.test)]
    if isinstance(argument, np.ndarray):  # as text it is cut short, and the key with it
        raise TypeError("pass arrays within a RankingData or as a list")
    return argument
