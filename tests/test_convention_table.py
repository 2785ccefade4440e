"""The page on conventions agrees with the declarations."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_pages_table_is_that_of_the_declarations() -> None:
    spec = importlib.util.spec_from_file_location("convention_table", DOCS / "convention_table.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    written = page.split(made.BEGIN)[1].split(made.END)[0]
    assert written == made.table(), "write it anew: python docs/convention_table.py"
