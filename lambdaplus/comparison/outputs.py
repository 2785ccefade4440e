"""A folder that a run writes its results to, in which other files may be.

Files that an earlier run wrote may be overwritten, if they have not been changed since; every
other file is somebody's own, and stays as it is.  One run at a time writes to a folder.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.comparison.outputs import OutputFolder
>>> with tempfile.TemporaryDirectory() as root:
...     out, made = pathlib.Path(root, "out"), pathlib.Path(root, "made")
...     made.mkdir()
...     _ = (made / "summary.csv").write_text("1")
...     with OutputFolder(out) as folder:
...         folder.publish(made)
...     _ = (out / "summary.csv").write_text("1, and my notes")
...     with OutputFolder(out) as folder:
...         folder.publish(made)
Traceback (most recent call last):
FileExistsError: ...summary.csv is not as lambdaplus wrote it: ...
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import IO, Any

from lambdaplus.files import written_whole

OURS = ".lambdaplus"  # the folder within, for the lock and the list of what was written


class OutputFolder:
    """A context manager that holds the folder for one run.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    inputs : iterable of Path
        Files that the run reads, which it must not overwrite.

    Raises
    ------
    OSError
        On entering, if another run holds the folder, or it can't be written to.
    """

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        self.folder = folder
        self.inputs = [path.resolve() for path in inputs]

    def __enter__(self) -> OutputFolder:
        ours = self.folder / OURS
        ours.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(ours / "lock", self.folder)
        return self

    def __exit__(self, *_: Any) -> None:
        self._lock.close()  # and with it the lock, as when the process is killed

    def refuse_foreign(self, names: Iterable[str], made: Path | None = None) -> None:
        """Raise unless files of these names are not there, or as a former run wrote them.

        Parameters
        ----------
        names : iterable of str
            Relative to the folder.
        made : Path, optional
            A folder with what is to be written; a file that has that content already may stay.

        Raises
        ------
        FileExistsError
            If one is the user's, or an input.
        """
        written = self._written()
        for name in names:
            path = self.folder / name
            if not os.path.lexists(path):
                continue
            if made is not None and path.is_file() and _digest(path) == _digest(made / name):
                continue
            if path.resolve() in self.inputs:
                raise FileExistsError(
                    f"{path} is what this run reads, and it would be overwritten: pass another "
                    "--out, or keep your file elsewhere"
                )
            if not _is_as_written(path, written.get(name, [])):
                raise FileExistsError(
                    f"{path} is not as lambdaplus wrote it: it is yours, and it would be "
                    "overwritten; move it away, or pass another --out"
                )

    def publish(self, made: Path, outdated: Collection[str] = ()) -> None:
        """Copy all files of a folder here, or none if one would overwrite a file of the user.

        Parameters
        ----------
        made : Path
            Its files, including those in subfolders, are copied; each copy is complete or absent.
        outdated : collection of str
            Beginnings of names, such as ``plots/``: what a former run wrote there is removed
            where this one has not made it, unless it was changed since.

        Raises
        ------
        FileExistsError
            As `refuse_foreign`.
        OSError
            If a file can't be written; the others that were not written yet are as they were.
        """
        files = {path.relative_to(made).as_posix(): path for path in made.rglob("*")}
        files = {name: path for name, path in sorted(files.items()) if path.is_file()}
        self.refuse_foreign(files, made)
        written = self._written()
        # Both states are ours until all is done: the run may be killed in between.
        self._note({**written, **{n: [*written.get(n, []), _digest(p)] for n, p in files.items()}})
        for name, path in files.items():
            with written_whole(self.folder / name) as part:
                shutil.copyfile(path, part)
        gone = [n for n in written if n not in files and n.startswith(tuple(outdated))]
        for name in gone:
            path = self.folder / name
            if _is_as_written(path, written[name]):
                path.unlink()
        kept = {name: digests for name, digests in written.items() if name not in gone}
        self._note({**kept, **{name: [_digest(path)] for name, path in files.items()}})

    def _written(self) -> dict[str, list[str]]:
        """Digests that files had when they were written here, by name."""
        try:
            found = json.loads((self.folder / OURS / "written.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there or broken: then nothing is known to be ours
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self, written: dict[str, list[str]]) -> None:
        with written_whole(self.folder / OURS / "written.json") as part:
            part.write_text(json.dumps(written, indent=1), encoding="utf-8")


def _is_as_written(path: Path, digests: Collection[str]) -> bool:
    return path.is_file() and not path.is_symlink() and _digest(path) in digests


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _locked(path: Path, folder: Path) -> IO[str]:
    """The file, opened and locked until it is closed or the process ends."""
    file = path.open("a+", encoding="utf-8")
    try:
        _lock(file)
    except (BlockingIOError, PermissionError):
        file.seek(0)
        holder = file.read().strip() or "another process"
        file.close()
        raise BlockingIOError(
            f"another run writes to {folder} ({holder}): wait for its end, or pass another --out"
        ) from None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()
    return file


def _lock(file: IO[str]) -> None:
    """Raise a BlockingIOError, on Windows a PermissionError, if it is locked already."""
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        windows: Any = msvcrt
        file.seek(1 << 20)  # beyond the text, which others may read
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
