"""Where a preset works: its data, its folder, and how many things it may do at a time.

Examples
--------
>>> import pathlib, tempfile
>>> from papers.session import Session
>>> with tempfile.TemporaryDirectory() as folder:
...     session = Session(None, pathlib.Path(folder))
...     session.name, session.collect("powers", pow, {"a": (2, 3), "b": (2, 4)})
('digits', {'a': 8, 'b': 16})
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lambdaplus.data import Fold, RankingData, digits_queries, read_folds
from lambdaplus.data.ranking_data import join
from lambdaplus.study import Method, Settings, Study
from papers.kept import keep_each

Watch = Callable[[str, int, int], None]


def unwatched(doing: str, done: int, total: int) -> None:
    """No progress is shown."""


@dataclass(eq=False)
class Session:
    """A preset at work on one data set.

    Attributes
    ----------
    data : Path or None
        Folder in the published layout; None for the built-in digits.
    folder : Path
        Where finished fits and figures are kept: what is there is not computed again.
    jobs : int
        Fits at a time.
    watch : callable
        Told what is done, how much of it is finished, and of how much.
    """

    data: Path | None
    folder: Path
    jobs: int = 1
    watch: Watch = unwatched

    @property
    def name(self) -> str:
        """Name of the data set."""
        return self.data.resolve().name if self.data else "digits"

    @cached_property
    def folds(self) -> list[Fold]:
        return read_folds(self.data) if self.data else digits_queries()

    @cached_property
    def whole(self) -> RankingData:
        """All queries: the three parts of the first fold."""
        first = self.folds[0]
        return join([first.train, first.valid, first.test], self.name)

    def study(
        self,
        doing: str,
        folds: Sequence[Fold],
        methods: Sequence[Method],
        metrics: Sequence[str],
        *,
        settings: Settings | None = None,
        seeds: tuple[int, ...] = (0,),
        select: str | None = None,
    ) -> Study:
        """Run a `~lambdaplus.study.Study` to its end, or go on where it stopped.

        Raises
        ------
        RuntimeError
            If a method failed; the finished fits are kept.
        """
        threads = max(1, (os.cpu_count() or 1) // self.jobs)
        study = Study(
            list(folds),
            list(methods),
            metrics,
            replace(settings or Settings(), threads=threads),
            seeds,
            select,
            folder=self.folder,
            jobs=self.jobs,
        )
        self.watch(doing, 0, len(study))
        try:
            study.finish(lambda done: self.watch(doing, done, len(study)))
        except RuntimeError as failed:
            raise RuntimeError(f"{doing} {failed}") from None
        return study

    def collect(
        self,
        doing: str,
        work: Callable[..., Any],
        items: Mapping[str, tuple[Any, ...]],
        *,
        jobs: int | None = None,
    ) -> dict[str, Any]:
        """Call ``work(*arguments)`` for each item, or read what it gave before.

        Parameters
        ----------
        doing : str
        work : callable
            Of a module, so that other processes find it; gives what JSON can hold.
        items : dict of str to tuple
            Arguments by name; data, folds, numbers, texts, dataclasses.
        jobs : int, optional
            At a time; the session's unless given.  1 stays in this process: for measured times.

        Returns
        -------
        dict of str to object
            By the names of the items.

        Raises
        ------
        RuntimeError
            If some failed; the others are kept.
        """
        self.watch(doing, 0, len(items))
        return keep_each(
            self.folder / "kept",
            work,
            items,
            self.jobs if jobs is None else jobs,
            lambda done: self.watch(doing, done, len(items)),
        )
