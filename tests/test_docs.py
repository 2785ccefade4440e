"""Every Python block of the README and of the pages runs, a page's blocks one after the other.

Pages that show what their code prints are run as the site is built, by myst-nb.  A block that
imports a tool of the group "stack" is run where that tool is installed.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text())
]

# Newer than what the package needs: LightGBM's own position=, and XGBoost's external memory.
SINCE = {"clicks": ("lightgbm", "4.1"), "large-data": ("xgboost", "3.0")}
OPTIONAL = {"mlflow", "onnxmltools", "onnxruntime", "optuna", "shap", "treelite"}


def is_installed(block: str) -> bool:
    """Whether the optional tools that a block imports are there."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    return all(importlib.util.find_spec(name) for name in imported & OPTIONAL)


@pytest.mark.filterwarnings("ignore")  # of the frameworks, about parameters and small data
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page: Path) -> None:
    if page.stem in SINCE:
        package, version = SINCE[page.stem]
        pytest.importorskip(package, version, reason=f"{page.name} needs {package} {version}")
    text = page.read_text()
    names: dict[str, Any] = {"__name__": "__main__"}
    with threadpool_limits(1):  # on little data threads only wait for each other
        for block in BLOCK.finditer(text):
            if not is_installed(block[1]):
                continue
            above = "\n" * text.count("\n", 0, block.start(1))  # so that an error names the line
            exec(compile(above + block[1], page, "exec"), names)


@pytest.fixture
def extension(tmp_path: Path) -> Any:
    """What fills in results, of another folder."""
    spec = importlib.util.spec_from_file_location("results", ROOT / "docs" / "_ext" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    extension.RESULTS = tmp_path
    return extension


def test_results_stand_below_the_heading_of_their_line(extension: Any, tmp_path: Path) -> None:
    (tmp_path / "who.md").write_text("# Who is best?\n\n    command #\n\n## MAP\n\n### Sets\n")
    page = ["# Accuracy\n\n<!-- results: who -->\n\n## Queries\n\n<!-- results: who -->\n"]
    extension.fill_in(None, "results/accuracy", page)
    assert re.findall("^.*#.*$", page[0], re.MULTILINE) == [
        *("# Accuracy", "    command #", "## MAP", "### Sets"),
        *("## Queries", "    command #", "### MAP", "#### Sets"),
    ]
    page = ["# Accuracy\n\n<!-- results: none -->\n"]
    extension.fill_in(None, "results/accuracy", page)
    assert page == ["# Accuracy\n\nNot measured for this version yet.\n"]


def test_a_chart_of_results_is_shown_in_both_variants(extension: Any, tmp_path: Path) -> None:
    (tmp_path / "who.md").write_text("# Who?\n\n<!-- chart: gains: What is gained -->\n\nText\n")
    page = ["# Accuracy\n\n<!-- results: who -->\n"]
    extension.fill_in(None, "results/accuracy", page)
    assert re.findall(r"\{image\} (.*)\n:class: (.*)\n:alt: (.*)", page[0]) == [
        ("/figures/out/gains-light.svg", "only-light", "What is gained"),
        ("/figures/out/gains-dark.svg", "only-dark", "What is gained"),
    ]
