"""What the number of leaves does on a small set, measured by benchmarks/leaves.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.comparison.figures import SERIES, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = Path(__file__).parents[2] / "benchmarks" / "results" / "leaves.json"


@styled
def leaves() -> Figure:
    """Validation MAP against rounds, a line for each number of leaves."""
    curves = json.loads(MEASURED.read_text(encoding="utf-8"))
    figure, [axes] = new_figure(2.8)
    for colour, (number, curve) in zip(SERIES, curves.items(), strict=False):
        axes.plot(range(1, len(curve) + 1), curve, color=colour, label=f"{number} leaves")
    axes.set(xlabel="rounds", ylabel="validation MAP")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
