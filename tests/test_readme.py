"""The README is short, and its figures are those of the results."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) < 150


def test_its_accuracy_is_what_the_study_wrote() -> None:
    kept = json.loads((RESULTS / "one-line.json").read_text())
    assert f"`{kept['command']}`" in README
    means = {row[0]: row[1:] for row in kept["tables"][-1]["rows"]}
    for framework, title in (("lightgbm", "LightGBM"), ("xgboost", "XGBoost")):
        gains = [g for g in kept["gains"] if (g["framework"], g["on"]) == (framework, "mean")]
        ours = [means[gain["ours"]][k] for k, gain in enumerate(gains)]
        rows = {name: values for name, values in means.items() if f"{framework}:" in name}
        rows = {name: values for name, values in rows.items() if ":lambda_" not in name}
        shown = [(f"`{name.partition(':')[2]}`", values) for name, values in rows.items()]
        for names, values in [*shown, ("`lambda_auc`", ours)]:
            cells = " | ".join(f"{value:.4f}".removeprefix("0") for value in values)
            assert f"{names} | {cells} |" in README
        for gain in gains:
            less = f"{gain['mean']:+.3f} ± {gain['error']:.3f}".replace("0.", ".")
            row = next(line for line in README.splitlines() if f"{title}'s own*" in line)
            assert (f"**{less}**" in row) == (gain["p"] < 0.05)
            assert less in row


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^a-z -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in README.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
