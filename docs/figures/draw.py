"""Draw the figures of the documentation.

    python docs/figures/draw.py [FOLDER]

writes NAME.svg to the folder, by default docs/figures, where they are committed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from certificate import certificate
from measured import (
    linear,
    many_labels,
    speed,
    sweep_against_pairs,
    time_to_the_best,
)
from pair_kernels import pair_kernels
from pairs import pairs
from potentials_of_metrics import potentials_of_metrics
from style import save

FIGURES = {
    "pairs": pairs,
    "time-to-the-best": time_to_the_best,
    "sweep-against-pairs": sweep_against_pairs,
    "pair-kernels": pair_kernels,
    "potentials": potentials_of_metrics,
    "certificate": certificate,
    "speed": speed,
    "linear": linear,
    "many-labels": many_labels,
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawn in FIGURES.items():
        save(drawn(), folder, name)


if __name__ == "__main__":
    main()
