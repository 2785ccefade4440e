"""The README is short, and its figures are those of the results."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def on_one_line(text: str) -> str:
    return " ".join(text.split())


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) < 150


def test_its_accuracy_is_what_the_study_wrote() -> None:
    written = (RESULTS / "accuracy-readme.md").read_text()
    assert on_one_line(written) in on_one_line(README)
    means = re.findall(r"\.\d{4}\b", written)
    assert len(means) >= 8
    page = (RESULTS / "accuracy.md").read_text()
    overview = page.partition("## Means over sets")[2].partition("\n## ")[0]
    assert set(means) <= set(re.findall(r"\.\d{4}\b", overview))


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^a-z -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in README.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
