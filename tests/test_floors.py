"""The house has floors (DESIGN.md, section 3): a lower one never imports an upper one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "lambdaplus"
FLOORS = (
    {
        "arrays",
        "queries",
        "files",
        "folds",
        "parallel",
        "ranking",
        "frameworks",
        "compiled",
        "references",
    },
    {"metrics"},
    {"objectives", "evaluation", "baselines"},
    {"datasets", "lightgbm", "xgboost", "estimators", "dask", "export"},
    {"comparison", "reproduce", "cli", "__main__"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MAY_IMPORT = {"frameworks": {"arrays", "queries"}}  # and nothing else of its own floor
STRANGERS = {("objectives", "evaluation"), ("evaluation", "objectives")}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if room_of(path) != "__init__"]


def imported_rooms(source: str) -> set[str]:
    """Rooms that a file imports from, at its top or within a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides which floor it goes to"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [[*name.split("."), "__init__"] for name in names]
    return {room for package, room, *_ in parts if package == "lambdaplus"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_floor_imports_an_upper_one(path: Path) -> None:
    room = room_of(path)
    assert room in FLOOR, f"say in FLOORS on which floor {room} is"
    for other in imported_rooms(path.read_text()) - {room}:
        assert other in FLOOR, f"{path.name} imports the whole package, or {other} has no floor"
        assert FLOOR[other] <= FLOOR[room], f"{room} imports {other}, which is above it"
        assert (room, other) not in STRANGERS, f"{room} imports {other}"
        assert other in MAY_IMPORT.get(room, {other}), f"{room} imports {other}"


def test_imports_are_found_wherever_they_are() -> None:
    assert imported_rooms(
        "import lambdaplus.cli as c\ndef f():\n  from lambdaplus.queries import Q"
    )
    assert imported_rooms("from lambdaplus import cli, ranking") == {"cli", "ranking"}
    assert imported_rooms("import lambdaplus") == {"__init__"}
    assert imported_rooms("import numpy as np\nfrom lambdaplusplus.cli import x") == set()
    assert len(FILES) > 20
