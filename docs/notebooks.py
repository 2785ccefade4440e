"""Writes two pages as notebooks, examples/PAGE.ipynb, with the outputs that the pages show.

    python docs/notebooks.py

`tests/repository/test_docs.py` runs the code of the pages, and fails if a notebook is stale.
"""

from __future__ import annotations

import json
import re
from typing import Any

from printed import DOCS, SHOWN

NOTEBOOKS = {
    name: DOCS.parent / "examples" / f"{name}.ipynb" for name in ("quick-start", "rare-positives")
}
LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def notebook(name: str) -> str:
    """The page as the text of a notebook: a cell for each block of Python, others between."""
    text, cells, end = (DOCS / f"{name}.md").read_text(encoding="utf-8"), [], 0
    for block in SHOWN.finditer(text):
        cells += [words(text[end : block.start()]), code(block[1], block[2])]
        end = block.end()
    cells.append(words(text[end:]))
    kept = [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells) if cell["source"]]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": kept, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def words(text: str) -> dict[str, Any]:
    linked = LINK.sub(lambda link: f"](../docs/{link[1]})", text.strip("\n"))
    return {"cell_type": "markdown", "metadata": {}, "source": linked.splitlines(keepends=True)}


def code(text: str, printed: str | None) -> dict[str, Any]:
    lines = (printed or "").splitlines(keepends=True)
    outputs = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
    source = text.rstrip("\n").splitlines(keepends=True)
    return {
        "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs,
        "source": source,
    }  # fmt: skip


def main() -> None:
    for name, path in NOTEBOOKS.items():
        path.write_text(notebook(name), encoding="utf-8")


if __name__ == "__main__":
    main()
