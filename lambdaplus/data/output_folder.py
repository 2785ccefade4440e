"""The output folder of a run, which may contain other files.

Files that an earlier run wrote may be overwritten if they have not been changed since; other files
belong to the user and are not changed.  Only one run at a time can write to a folder.  Nothing
outside of it is written or removed, also if somebody else prepared it: symbolic links in it are
refused, and names that lead out of it are ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock, Timeout

from lambdaplus.data.atomic_files import atomic_write


class OutputFolder:
    """A context manager that creates the folder, and locks it for a run with these input files."""

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        self.folder = folder
        self.inputs = [path.resolve() for path in inputs]
        self._own = folder / ".lambdaplus"  # for the lock and the list of written files
        self.made = self._own / "made"  # for results until they are published
        self._lock = FileLock(self._own / "lock", thread_local=False)

    def __enter__(self) -> OutputFolder:
        if self.folder.exists() and not self.folder.is_dir():
            raise NotADirectoryError(f"{self.folder} is a file: pass a folder")
        for path in (self._own, *(self._own / name for name in ("lock", "made", "written.json"))):
            refuse_link(path)
            is_folder = path.name in (".lambdaplus", "made")
            if path.exists() and not (path.is_dir() if is_folder else path.is_file()):
                raise FileExistsError(  # a pipe, which would never end, or a device
                    f"{path} is no {'folder' if is_folder else 'file'}, as lambdaplus writes it: "
                    "remove it, or pass another folder"
                )
        self._own.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise BlockingIOError(
                f"another run writes to {self.folder}: wait until it ends, or pass another folder"
            ) from None
        shutil.rmtree(self.made, ignore_errors=True)  # of a run that was killed
        self.made.mkdir()
        return self

    def __exit__(self, *_: Any) -> None:
        shutil.rmtree(self.made, ignore_errors=True)
        self._lock.release()

    def refuse_foreign(self, names: Iterable[str]) -> None:
        """Raise a FileExistsError if one of these files belongs to the user, or is an input.

        An existing file with the content of the one in ``made`` is accepted.
        """
        written = self._written()
        for name in names:
            path, made = self.folder / name, self.made / name
            for part in [*Path(name).parents][:-1]:
                refuse_link(self.folder / part)
            if not os.path.lexists(path):
                continue
            if path.is_file() and made.is_file() and _digest(path) == _digest(made):
                continue
            if path.resolve() in self.inputs:
                raise FileExistsError(
                    f"{path} is an input of this run and would be overwritten: pass another "
                    "folder, or move your file"
                )
            if not _is_as_written(path, written.get(name, [])):
                raise FileExistsError(
                    f"{path} was not written by lambdaplus, or was changed since, and would be "
                    "overwritten: move it, or pass another folder"
                )

    def publish(self, outdated: Collection[str] = (), last: str = "") -> None:
        """Copy all files of ``made`` here, or none if one would overwrite a file of the user.

        Each copy is complete or absent.  Files of an earlier run whose names match one of the
        patterns ``outdated``, such as ``plots/*.svg``, are removed unless they were changed since.
        The file ``last`` is absent while others are written, so that it vouches for them.
        """
        found = {path.relative_to(self.made).as_posix(): path for path in self.made.rglob("*")}
        names = sorted(found, key=lambda name: (name == last, name))
        files = {name: found[name] for name in names if found[name].is_file()}
        self.refuse_foreign(files)
        written = self._written()
        # Until all files are written, both versions are accepted: the run may be killed.
        self._note({**written, **{n: [*written.get(n, []), _digest(p)] for n, p in files.items()}})
        if last:
            (self.folder / last).unlink(missing_ok=True)
        for name, path in files.items():
            with atomic_write(self.folder / name) as temporary:
                shutil.copyfile(path, temporary)
        # Names that an earlier run wrote and this one did not, such as a plot of another metric.
        gone = [name for name in written if name not in files and _matches(name, outdated)]
        for name in gone:
            path = self.folder / name
            if _is_as_written(path, written[name]):
                path.unlink()
        kept = {name: digests for name, digests in written.items() if name not in gone}
        self._note({**kept, **{name: [_digest(path)] for name, path in files.items()}})

    def _written(self) -> dict[str, list[str]]:
        """Digests of files in the folder at the time when they were written, by name."""
        try:
            noted = json.loads((self._own / "written.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # missing or damaged: no file is ours
            return {}
        return {
            name: [digest for digest in digests if isinstance(digest, str)]
            for name, digests in (noted.items() if isinstance(noted, dict) else ())
            if isinstance(digests, list) and self._is_inside(name)
        }

    def _is_inside(self, name: str) -> bool:
        path, root = Path(name), self.folder.resolve()
        if path.is_absolute() or ".." in path.parts:
            return False
        try:
            with contextlib.suppress(FileNotFoundError):
                (root / path).lstat()
            return (root / path).parent.resolve().is_relative_to(root)
        except (OSError, ValueError, RuntimeError):  # a NUL, a long name, a circle of links
            return False

    def _note(self, written: dict[str, list[str]]) -> None:
        with atomic_write(self._own / "written.json") as temporary:
            temporary.write_text(json.dumps(written, indent=1), encoding="utf-8")


def refuse_link(path: Path) -> None:
    """Raise a FileExistsError for a symbolic link, which may lead out of the folder."""
    if path.is_symlink():
        raise FileExistsError(
            f"{path} is a symbolic link, through which this run would write elsewhere: remove it, "
            "or pass another folder"
        )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these, or has a star's text in the last part."""
    path = PurePosixPath(name)
    found = map(PurePosixPath, patterns)
    return any(path.parent == one.parent and fnmatchcase(path.name, one.name) for one in found)


def _is_as_written(path: Path, digests: Collection[str]) -> bool:
    return path.is_file() and not path.is_symlink() and _digest(path) in digests


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
