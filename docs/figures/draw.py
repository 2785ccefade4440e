"""Draw every figure of the documentation.

    python docs/figures/draw.py [FOLDER]

writes NAME-light.svg and NAME-dark.svg to the folder, by default docs/figures/out.  It takes about
half a minute, mostly for the small study of the last two figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from accuracy_gains import accuracy_gains
from certificate import certificate
from pair_kernels import pair_kernels
from potentials_of_metrics import potentials_of_metrics
from small_study import small_study
from style import save
from sweep_against_pairs import sweep_against_pairs


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "out"
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "sweep-against-pairs": sweep_against_pairs(),
        "pair-kernels": pair_kernels(),
        "potentials": potentials_of_metrics(),
        "certificate": certificate(),
        **small_study(),
        **accuracy_gains(),
    }
    for name, figure in figures.items():
        save(figure, folder, name)


if __name__ == "__main__":
    main()
