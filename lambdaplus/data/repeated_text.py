"""Files that repeat the text of other files, which is read once.

Where LETOR and MSLR-WEB are published, a part of the queries is in one file of each fold: the
training file is the text of three parts, one after the other.
"""

import hashlib
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from lambdaplus.data.feature_rows import FeatureRows, SharedFeatures
from lambdaplus.data.letor import SIZES, beside, naming
from lambdaplus.data.ranking_data import RankingData, sharing
from lambdaplus.saved_model.files import table_kind

_BLOCK = 1 << 24  # bytes
_HEAD = 1 << 12


class _Text(NamedTuple):
    """The text of a file by its size, its first bytes and its digest, and what was read from it."""

    size: int
    head: bytes
    digest: bytes
    ends_a_line: bool
    data: RankingData


class RepeatedText:
    """Reads files; one that consists of remembered ones has rows of their features."""

    def __init__(self, read: Callable[[Path], RankingData], shared: SharedFeatures) -> None:
        self._read, self._shared = read, shared
        self._known: list[_Text] = []
        self._found: dict[Path, RankingData] = {}

    def remember(self, file: Path) -> None:
        """Read a file whose text others may repeat."""
        if not _is_plain_text(file) or self._of_known(file):
            return
        data = sharing(self._read(file), self._shared)
        with file.open("rb") as stream:
            size = stream.seek(0, 2)
            last = _bytes(stream, max(size - 1, 0), 1)
            known = size, _bytes(stream, 0, _HEAD), _digest(stream, 0, size), last == b"\n"
        if not known[1].startswith(BOM_UTF8):
            self._known = sorted([*self._known, _Text(*known, data)], key=lambda text: -text.size)
        self._found[file] = data

    def __call__(self, file: Path) -> RankingData:
        """The data of a file."""
        return self._of_known(file) or self._read(file)

    def _of_known(self, file: Path) -> RankingData | None:
        if file not in self._found and _is_plain_text(file) and (texts := self._texts(file)):
            self._found[file] = _joined(file, [text.data for text in texts])
        return self._found.get(file)

    def _texts(self, file: Path) -> list[_Text]:
        """The remembered texts of which a file consists; none if it has any other."""
        found: list[_Text] = []
        with file.open("rb") as stream:
            size, place = stream.seek(0, 2), 0
            while place < size:
                text = next((t for t in self._known if _is_at(stream, place, size, t)), None)
                if text is None or (found and not _fit(found[-1], text)):
                    return []
                found.append(text)
                place += text.size
        return found


def _is_plain_text(file: Path) -> bool:
    """Whether a file is text alone, without others that say more of its rows."""
    of_rows = beside(file, *SIZES, "weight", "init")
    return file.suffix not in (".xz", ".gz") and not table_kind(file) and of_rows is None


def _is_at(stream: BinaryIO, place: int, size: int, text: _Text) -> bool:
    """Whether a file has a text at this place."""
    return (
        place + text.size <= size
        and _bytes(stream, place, min(_HEAD, text.size)) == text.head
        and _digest(stream, place, text.size) == text.digest
    )


def _fit(first: _Text, second: _Text) -> bool:
    """Whether both texts in one file are read as they are in two."""
    both = first.data, second.data
    return (
        first.ends_a_line
        and both[0].n_features == both[1].n_features
        and both[0].feature_names == both[1].feature_names
    )


def _joined(file: Path, parts: list[RankingData]) -> RankingData:
    """The rows of all parts, with features that they share."""
    with naming(file):
        return RankingData(
            FeatureRows.joined([part.held_features for part in parts]),  # type: ignore[arg-type]
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.qid for part in parts]),
            file.name,
            parts[0].feature_names,
            grouped=parts[0].grouped,
        )


def _bytes(stream: BinaryIO, place: int, size: int) -> bytes:
    stream.seek(place)
    return stream.read(size)


def _digest(stream: BinaryIO, place: int, size: int) -> bytes:
    digest = hashlib.blake2b()
    stream.seek(place)
    while size and (block := stream.read(min(_BLOCK, size))):
        digest.update(block)
        size -= len(block)
    return digest.digest()
