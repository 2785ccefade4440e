"""The words of docs/architecture.md are those of the code, and each thing has one of them."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "docs" / "architecture.md").read_text().split("## Words")[1].split("\n## ")[0]
ROWS = [row.split("|")[1:3] for row in SECTION.splitlines() if row.startswith("| ")][1:]
WORDS = [word.strip() for row in ROWS for word in row[0].split(",")]
INSTEAD = [
    word.strip() for named in re.findall(r"\(not: (.*?)\)", SECTION) for word in named.split(",")
]

# Words that other things were called, too: the files that may use them.
ONLY_IN = {
    "relevance": {"components.py", "catalogue.py"},
    "block": {"cutting_planes.py", "interior_point.py", "structural_ranker.py"}
    | {"concave_convex.py"},
    "octet": {"sweep.py"},
    "chunk": {"sweep.py"},
}
ROOMS = ("metrics", "objectives", "baselines")


def words_of(source: str) -> set[str]:
    """The words in the names of a file's variables, arguments, attributes, functions, classes."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "arg", "attr", "name"):
            name = getattr(node, field, None)
            names |= {name} if isinstance(name, str) else set()
    parts = {part for name in names for part in re.sub("([a-z])([A-Z])", r"\1_\2", name).split("_")}
    return {part.lower() for part in parts}


@cache
def words_of_the_library() -> set[str]:
    return set().union(
        *(words_of(path.read_text()) for path in (ROOT / "lambdaplus").rglob("*.py"))
    )


@pytest.mark.parametrize("word", WORDS)
def test_the_code_uses_the_word(word: str) -> None:
    plural = {"query": "queries", "entry": "entries", "stratum": "strata"}.get(word, f"{word}s")
    assert {word, plural, plural + "es"} & words_of_the_library(), word


@pytest.mark.parametrize("word", INSTEAD)
def test_the_code_does_not_use_another_word(word: str) -> None:
    assert not {word, f"{word}s"} & words_of_the_library(), word


@pytest.mark.parametrize("word", ONLY_IN)
def test_the_word_is_used_where_it_belongs(word: str) -> None:
    files = [path for room in ROOMS for path in (ROOT / "lambdaplus" / room).rglob("*.py")]
    used = {path.name for path in files if {word, f"{word}s"} & words_of(path.read_text())}
    assert used, word
    assert used <= ONLY_IN[word], used - ONLY_IN[word]


def test_the_glossary_is_short() -> None:
    assert 20 < len(WORDS) == len({*WORDS}) <= 40
    assert len(INSTEAD) > 4


def test_words_of_names_are_found() -> None:
    source = "class EntryRank(Base):\n  def first_edges(self, code):\n    return self.copies"
    assert {"entry", "rank", "first", "edges", "code", "copies"} <= words_of(source)
