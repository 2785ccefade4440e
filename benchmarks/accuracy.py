"""Is the objective for a metric the best one by that metric?

    python benchmarks/accuracy.py FOLDER [FOLDER ...] web-search-like:200 [--jobs 2]

Our objectives in LightGBM and XGBoost against both frameworks' own and CatBoost's YetiRank (`pip
install --group benchmarks`; left out where it is missing).  Each contender has the same random
search: the same draws of leaves, learning rate, documents in a leaf, features and L2, with new
draws and new trees for every seed.  Trial and round are chosen on the validation queries of a fold,
for each metric apart, so that one training serves them all.  Finished trainings are kept, and the
same command goes on from there, also with more trials or seeds.  Results go to
`benchmarks/results/accuracy.md` and `.json`.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import pathlib
from typing import Any

from accuracy_contenders import Contender, contenders, draw, trained
from accuracy_page import write_page
from rich.console import Console

from lambdaplus.cli.progress import progress_on
from lambdaplus.comparison.data import folds_of
from lambdaplus.datasets.binary import fingerprint
from lambdaplus.reproduce.kept import keep_each

RESULTS = pathlib.Path(__file__).parent / "results"


def items_of(
    sets: dict[str, str], entrants: dict[str, Contender], seeds: int, trials: int, rounds: int
) -> dict[Any, Any]:
    """Arguments of each training; a first pass over everything comes before a second trial."""
    folds = [
        (name, number, "-".join(map(fingerprint, (fold.train, fold.valid, fold.test))))
        for name, data in sets.items()
        for number, fold in enumerate(folds_of(data))
    ]
    return {
        (name, number, label, seed, trial): (
            sets[name], number, digest, contender, draw(seed, trial), seed, rounds
        )
        for trial, seed, (label, contender), (name, number, digest) in itertools.product(
            range(trials), range(1, seeds + 1), entrants.items(), folds
        )
    }  # fmt: skip


def parser(about: str, results: str) -> argparse.ArgumentParser:
    """The options of a study."""
    found = argparse.ArgumentParser(description=about.splitlines()[0])
    found.add_argument("sets", nargs="+", help="folders of LETOR folds, or web-search-like:N")
    found.add_argument("--seeds", type=int, default=3)
    found.add_argument("--trials", type=int, default=4)
    found.add_argument("--rounds", type=int, default=60)
    found.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    found.add_argument("--kept", type=pathlib.Path, default=pathlib.Path("accuracy-kept"))
    found.add_argument(
        "--results", type=pathlib.Path, default=RESULTS / results, help="without a suffix"
    )
    return found


def train_all(arguments: argparse.Namespace, entrants: dict[str, Contender]) -> dict[Any, Any]:
    """Train what is not kept yet."""
    sets = {pathlib.Path(data).name.partition(":")[0]: data for data in arguments.sets}
    items = items_of(sets, entrants, arguments.seeds, arguments.trials, arguments.rounds)
    with progress_on(Console(stderr=True)) as progress:
        bar = progress.add_task("trainings", total=len(items))
        return keep_each(
            arguments.kept,
            trained,
            items,
            arguments.jobs,
            lambda done: progress.update(bar, completed=done),
        )


def command(script: str, arguments: argparse.Namespace) -> str:
    """What to type for the same results."""
    sets = (pathlib.Path(a).name if os.path.isdir(a) else a for a in arguments.sets)
    return (
        f"python benchmarks/{script} {' '.join(sets)} --seeds {arguments.seeds} "
        f"--trials {arguments.trials} --rounds {arguments.rounds}"
    )


def main() -> None:
    arguments = parser(__doc__, "accuracy").parse_args()
    if not importlib.util.find_spec("catboost"):
        Console(stderr=True).print("CatBoost is left out: pip install --group benchmarks brings it")
    found = train_all(arguments, contenders())
    print(write_page(found, command("accuracy.py", arguments), arguments.results))


if __name__ == "__main__":
    main()
