"""Generate the table of docs/conventions.md from the declared conventions.

    python docs/convention_table.py

replaces the table between the two markers of the page.
"""

from __future__ import annotations

from pathlib import Path

from lambdaplus.evaluation.conventions import CONVENTIONS, Convention, Rule

PAGE = Path(__file__).parent / "conventions.md"
BEGIN, END = "<!-- conventions: begin -->\n", "<!-- conventions: end -->\n"
COLUMNS = ("`convention=`", "tool", "metrics", "ties", "no value", "other options")
TIES = {
    None: "mean over orders; ERR, pFound, bpref, pAUC: worst",
    "expected": "mean over orders",
    "stable": "row order",
    "together": "one step",
    "docno": "document number, descending",
}


def table() -> str:
    """Return the table as Markdown; for each convention, metrics with the same rule share a row."""
    lines = [_row(COLUMNS), "|---" * len(COLUMNS) + "|"]
    for convention in CONVENTIONS.values():
        name, tool = f"`{convention.name}`", convention.tool.split(":")[0]
        for metrics, rule in _rules(convention):
            empty = "left out" if rule.empty == "skip" else str(rule.empty)
            options = ", ".join(f"`{key}={value}`" for key, value in rule.options.items())
            lines.append(_row((name, tool, metrics, TIES[rule.ties], empty, options)))
            name = tool = ""
    return "\n".join(lines) + "\n"


def _rules(convention: Convention) -> list[tuple[str, Rule]]:
    if not convention.metrics:
        return [("all", convention.otherwise)]
    found: list[tuple[str, Rule]] = []
    for name, rule in convention.metrics.items():
        if found and found[-1][1] == rule:
            found[-1] = f"{found[-1][0]}, `{name}`", rule
        else:
            found.append((f"`{name}`", rule))
    return found


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(before + BEGIN + table() + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
