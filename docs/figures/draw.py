"""Draw every figure of the documentation.

    python docs/figures/draw.py [FOLDER]

writes NAME-light.svg and NAME-dark.svg to the folder, by default docs/figures/out.  It takes about
half a minute, mostly for the small study of the last two figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from certificate import certificate
from measured import (
    accuracy_gains,
    linear,
    many_labels,
    options,
    speed,
    sweep_against_pairs,
    what_helps,
)
from pair_kernels import pair_kernels
from potentials_of_metrics import potentials_of_metrics
from small_study import small_study
from style import save


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "out"
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "sweep-against-pairs": sweep_against_pairs(),
        "pair-kernels": pair_kernels(),
        "potentials": potentials_of_metrics(),
        "certificate": certificate(),
        **small_study(),
        "accuracy-gains": accuracy_gains(),
        "options": options(),
        "what-helps": what_helps(),
        "speed": speed(),
        "linear": linear(),
        "many-labels": many_labels(),
    }
    for name, figure in figures.items():
        save(figure, folder, name)


if __name__ == "__main__":
    main()
