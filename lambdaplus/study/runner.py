"""Runs the tasks of a study that are not stored, here or in processes."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lambdaplus.compute.processes import run_here, run_in_processes, working_folder
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.cache import fingerprint, write_binary
from lambdaplus.study.memory import Memory
from lambdaplus.study.plan import groups_of
from lambdaplus.study.store import Store, Stored
from lambdaplus.study.tasks import Task
from lambdaplus.study.training import train_and_store, train_in_process

PRELOADED = "lambdaplus.study.preload"


@dataclass(eq=False)
class Runner:
    """A run over tasks of a study, and what has come of each so far."""

    folds: Sequence[Fold]
    store: Store
    jobs: int = 1
    stored: dict[Task, Stored] = field(default_factory=dict)
    failed: dict[Task, str] = field(default_factory=dict)  # with the error
    kept: int = 0  # tasks that were stored already

    @property
    def ended(self) -> int:
        """Number of tasks that are stored or have failed."""
        return len(self.stored) + len(self.failed)

    def run(self, tasks: Sequence[Task], memory: Memory) -> Iterator[Task]:
        """Train those of these tasks that are not stored; yield each task when it has ended."""
        groups, folds = groups_of(tasks), {fold.name: fold for fold in self.folds}
        for group, trials in groups.items():
            self.stored |= self.store.find_all(trials, folds[group[1]])
            self._drop_scores(trials)  # of which a stopped run may have left some
        found = [task for task in tasks if task in self.stored]
        self.kept += len(found)
        yield from found
        missing = [task for task in tasks if task not in self.stored]
        if missing:
            memory.refuse_too_little()
        running = run_tasks(missing, self.folds, self.jobs, self.store.file_of)
        with contextlib.closing(running):
            for task, error in running:
                stored = None if error else self.store.find(task, folds[task.fold])
                if stored is None:
                    self.failed[task] = error or "it ended without a result"
                else:
                    self.stored[task] = stored
                    self._drop_scores(groups[task.group])
                yield task

    def _drop_scores(self, trials: Sequence[Task]) -> None:
        self.stored |= self.store.drop_scores_of_beaten(trials, self.stored)


def run_tasks(
    tasks: Sequence[Task], folds: Sequence[Fold], jobs: int, file_of: Callable[[Task], Path]
) -> Generator[tuple[Task, str]]:
    """Train and store; yield each task and its error, if any, when it ends."""
    # A daemonic process, such as a worker of multiprocessing.Pool, cannot start processes.
    parallel = jobs > 1 and not multiprocessing.current_process().daemon
    trained = {task.fold for task in tasks}
    parts: dict[str, Sequence[Any]] = {fold.name: fold.parts for fold in folds}
    nothing: Any = None  # in place of data, which each training copies or reads from files
    with working_folder() if parallel else contextlib.nullcontext() as folder:
        if folder is not None:
            parts = {name: [laid_out(part, folder) for part in parts[name]] for name in trained}
        calls = (
            (file_of(task), replace(task, train=nothing, valid=nothing), parts[task.fold])
            for task in tasks
        )
        if parallel:
            ended = run_in_processes(train_in_process, calls, jobs, PRELOADED)
        else:
            importlib.import_module(PRELOADED)  # no part of training times
            ended = run_here(train_and_store, calls)
        with contextlib.closing(ended):
            yield from ((tasks[place], error) for place, error in ended)


def laid_out(data: RankingData, root: Path) -> Path:
    """Write the data to a folder from which processes read it."""
    folder = root / fingerprint(data)
    if not folder.exists():
        try:
            write_binary(data, folder)
        except OSError as error:
            raise OSError(
                error.errno,
                f"could not write the folds for parallel fits ({error.strerror}): set TMPDIR to a "
                "folder with more space, or use one job, which needs none",
                str(root),
            ) from error
    return folder
