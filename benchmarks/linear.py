"""The structural SVMs: time, certificates and accuracy.

    python benchmarks/linear.py PART... [--data ../shared/data]

with the parts time, scaling, certificates and accuracy.  Paths over C and combinations of losses
are in `python -m papers chakrabarti-2008`.

Each part writes a table and the numbers behind it to benchmarks/results/linear-PART.md and .json.
Labels are binary (grade 1 and up is relevant) for training; metrics see the grades, and tied scores
count at the mean over their orders.  C is chosen by validation, the test part is read once.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from linear_accuracy import run_accuracy
from linear_time import run_certificates, run_scaling, run_time

PARTS = {
    "time": run_time,
    "scaling": run_scaling,
    "certificates": run_certificates,
    "accuracy": run_accuracy,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS, nargs="+")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "w = 0 is optimal")  # the tables say so
    for part in arguments.part:
        PARTS[part](arguments.data)


if __name__ == "__main__":
    main()
