"""What the number of leaves does on a small set, measured by benchmarks/leaves.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.study.figures import SERIES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = Path(__file__).parents[2] / "benchmarks" / "results" / "leaves.json"


@styled
def leaves() -> Figure:
    """Validation MAP against rounds, a panel for each set and a line for each number of leaves."""
    by_set = json.loads(MEASURED.read_text(encoding="utf-8"))
    figure, panels = new_figure(2.8, 1, len(by_set), width=6.4)
    for axes, (name, curves) in zip(panels, by_set.items(), strict=True):
        for colour, (leaves, curve) in zip(SERIES, curves.items(), strict=False):
            axes.plot(range(1, len(curve) + 1), curve, color=colour, label=f"{leaves} leaves")
        axes.set_title(name, loc="left")
        axes.set_xlabel("rounds")
    panels[0].set_ylabel("validation MAP")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
