"""The output folder of a run, which may contain other files.

Files that an earlier run wrote are overwritten; other files belong to the user and are not changed.
Only one run at a time can write to a folder.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lambdaplus.data.whole_files import written_whole


class OutputFolder:
    """A context manager that creates the folder, and locks it for a run with these input files."""

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        self.folder = folder
        self.inputs = [path.resolve() for path in inputs]
        self._own = folder / ".lambdaplus"  # for the lock and the list of written files
        self.made = self._own / "made"  # for results until they are published
        self._lock = FileLock(self._own / "lock", mode=0o666, thread_local=False)

    def __enter__(self) -> OutputFolder:
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(f"{self.folder} is a file: pass a folder as --out")
        self._own.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise BlockingIOError(
                f"another run writes to {self.folder}: wait until it ends, or pass another --out"
            ) from None
        shutil.rmtree(self.made, ignore_errors=True)  # of a run that was killed
        self.made.mkdir()
        return self

    def __exit__(self, *_: Any) -> None:
        shutil.rmtree(self.made, ignore_errors=True)
        self._lock.release()

    def refuse_foreign(self, names: Iterable[str], made: Path | None = None) -> None:
        """Raise a FileExistsError if one of these files belongs to the user, or is an input.

        An existing file with the content of the one in ``made`` is accepted.
        """
        written = self._written()
        for name in names:
            path = self.folder / name
            if not os.path.lexists(path):
                continue
            if made is not None and path.is_file() and filecmp.cmp(path, made / name, False):
                continue
            if path.resolve() in self.inputs:
                raise FileExistsError(
                    f"{path} is an input of this run and would be overwritten: pass another "
                    "--out, or move your file"
                )
            if name not in written:
                raise FileExistsError(
                    f"{path} was not written by lambdaplus and would be overwritten: move it, or "
                    "pass another --out"
                )

    def publish(self, made: Path, outdated: Sequence[str] = ()) -> None:
        """Copy all files of a folder here, or none if one would overwrite a file of the user.

        Each copy is complete or absent.  Files of an earlier run whose names start with one of the
        prefixes ``outdated``, such as ``plots/``, are removed.
        """
        names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
        self.refuse_foreign(sorted(names), made)
        written = self._written()
        self._note(written | names)
        for name in sorted(names):
            with written_whole(self.folder / name) as part:
                shutil.copyfile(made / name, part)
        # Names that an earlier run wrote and this one did not, such as a plot of another metric.
        gone = {name for name in written - names if name.startswith(tuple(outdated))}
        for name in gone:
            (self.folder / name).unlink(missing_ok=True)
        self._note((written | names) - gone)

    def _written(self) -> set[str]:
        """Names of the files that were written here."""
        try:
            return set(json.loads((self._own / "written.json").read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):  # missing or damaged: no file is known to be ours
            return set()

    def _note(self, names: set[str]) -> None:
        with written_whole(self._own / "written.json") as part:
            part.write_text(json.dumps(sorted(names), indent=1), encoding="utf-8")
