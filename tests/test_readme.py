"""The README is short, and its figures are those of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lambdaplus.evaluation import Table

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) < 150


def test_its_accuracy_is_what_the_study_wrote() -> None:
    kept = json.loads((RESULTS / "accuracy.json").read_text())
    [table] = [t for t in kept["tables"] if t["title"] == "The best of each framework"]
    shown = Table(table["columns"], table["rows"], narrow=True).to_markdown()
    assert shown in README
    assert f"`{kept['command']}`" in README


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^a-z -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in README.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
