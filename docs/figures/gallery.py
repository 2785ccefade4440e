"""Run the examples, and write what each prints and a picture of its numbers.

    python docs/figures/gallery.py [NAME ...]

writes docs/figures/examples/NAME.txt and NAME.svg.  Examples whose tool is not installed keep
theirs.  `docs/generate.py` puts both on the page of examples.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from style import new_figure, save

from lambdaplus.study.plot_style import PAPER, SERIES, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLES = Path(__file__).parents[2] / "examples"
OUT = Path(__file__).parent / "examples"


class Shown(NamedTuple):
    """Which of the printed numbers are drawn: a pattern with a label and a value, and the axis."""

    pattern: str
    axis: str


PICTURES = {
    "comparison_report": Shown(r"^(?P<label>lightgbm:\S+) +(?P<value>\.\d+)", "test MAP"),
    "custom_metric": Shown(
        r"^(?P<label>trained for \w+) +test revenue (?P<value>[\d.]+)", "test revenue"
    ),
    "imbalanced_classification": Shown(
        r"^(?P<label>\S+) +test average precision (?P<value>[\d.]+)", "test average precision"
    ),
    "position_bias": Shown(
        r"^(?P<label>\w+ the bias): test NDCG@10 by true labels (?P<value>[\d.]+)", "test NDCG@10"
    ),
    "real_valued_labels": Shown(
        r"^(?P<label>squared error|spearman|poisson|survival:cox|cindex|lambda_objective\(.*?\))"
        r":? .*?(?P<value>0\.\d+)", "rank correlation, Gini or C-index",
    ),
    "recommender": Shown(
        r"^(?P<label>(?:recall|map)@\d+ +\S+) +(?P<value>0\.\d+)", "recall@20 or MAP@12 of users"
    ),
    "refit_and_bagging": Shown(r"^(?P<label>\w+) +test MAP (?P<value>[\d.]+)", "test MAP"),
    "scikit_learn_search": Shown(r"^(?P<value>0\.\d+)  (?P<label>\S+ .*)$", "NDCG@10 of the folds"),
}  # fmt: skip


ON_WORKERS = ("ray_train", "spark_ranking")  # whose tools are in no group of pyproject.toml


@styled()
def picture(printed: str, shown: Shown) -> Figure:
    """A bar for each row that the pattern finds."""
    found = [
        (re.sub(r" +", " ", row["label"]), float(row["value"]))
        for row in re.finditer(shown.pattern, printed, re.MULTILINE)
    ]
    figure, [axes] = new_figure(0.7 + 0.26 * len(found))
    values = [value for _, value in found]
    axes.barh(range(len(found)), values, height=0.6, color=SERIES[0])
    for place, value in enumerate(values):
        axes.annotate(f"{value:g}", (value, place), (4, -3), textcoords="offset points", size=8)
    axes.set_yticks(range(len(found)), [label for label, _ in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(0, 1.2 * max(values))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel(shown.axis)
    return figure


@styled()
def queries_of_workers() -> Figure:
    """Which rows each of two workers has: whole queries."""
    figure, [axes] = new_figure(1.4)
    for worker in (0, 1):
        for place in range(3):
            query = 2 * place + worker
            axes.barh(worker, 0.92, left=place, height=0.6, color=SERIES[query])
            axes.text(place + 0.46, worker, f"query {query + 1}", ha="center", va="center",
                      color=PAPER)  # fmt: skip
    axes.set_ylim(1.5, -0.5)
    axes.set_axis_off()
    for worker in (0, 1):
        axes.text(-0.08, worker, f"worker {worker + 1}", ha="right", va="center")
    return figure


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name in ON_WORKERS:
        save(queries_of_workers(), OUT, name)
    for name in sys.argv[1:] or PICTURES:
        made = subprocess.run(
            [sys.executable, "-W", "ignore", EXAMPLES / f"{name}.py"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        lines = [line.rstrip() for line in made.stdout.splitlines()]
        (OUT / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        save(picture("\n".join(lines), PICTURES[name]), OUT, name)


if __name__ == "__main__":
    main()
