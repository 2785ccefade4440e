"""Replace the framework's own objective by ours, and change nothing else.

    python benchmarks/one_line.py SET [SET ...] [--draws 2] [--frameworks lightgbm,xgboost,catboost]

SET is a folder of LETOR folds, generated-clean or generated-noisy.  Every objective, with its
default options, is trained with the same draws of the trees' parameters.  The round is chosen on
validation queries by the metric in the table, and values are averaged over the draws.  Finished
trainings are stored in the folder --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
from differences import METRICS, SPECIALISTS, gain_tables, gains_of, means_table
from ranking_sets import folds_by_name, set_name
from rich.progress import track
from tables import keep

from lambdaplus.study import Config, Method, Study, find_methods
from lambdaplus.study.methods import draw
from lambdaplus.study.registry import CATBOOST, LIGHTGBM, XGBOOST

TREES = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST, "catboost": CATBOOST}
OWN = {
    "lightgbm": ("binary", "lambdarank", "rank_xendcg"),
    "xgboost": ("binary:logistic", "rank:ndcg", "rank:map", "rank:pairwise"),
    "catboost": ("YetiRank:mode=MAP",),
}
SETTINGS = Config(rounds=1000, patience=100)
FOOT = "±: standard errors over folds, of means over draws; t-tests"


def contenders(framework: str) -> list[Method]:
    """The framework's own objectives and, unless it is CatBoost, ours, with default options."""
    ours = () if framework == "catboost" else SPECIALISTS.values()
    names = [f"{framework}:{name}" for name in (*OWN[framework], *ours)]
    return find_methods(",".join(names))


def with_trees(method: Method, number: int) -> Method:
    """The method with one draw of the trees' parameters, and its own defaults otherwise.

    As a search space with one value of each, so that each metric chooses its round.
    """
    drawn = draw(TREES[method.family], 0, number)
    return replace(method, grid={}, space={name: (value,) for name, value in drawn.items()})


def trained(
    data: str, methods: list[Method], draws: int, kept: Path, jobs: int, settings: Config
) -> pl.DataFrame:
    """Test values on a set, with the draw as the seed."""
    folds, values = folds_by_name(data), []
    for number in track(range(draws), description=set_name(data)):
        drawn = [with_trees(method, number) for method in methods]
        study = Study(
            folds, drawn, list(METRICS), replace(settings, seeds=(number,), trials=1),
            folder=kept / set_name(data), jobs=jobs,
        )  # fmt: skip
        study.finish()
        values.append(study.results.values)
    return pl.concat(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--frameworks", default="lightgbm,xgboost")
    parser.add_argument("--rounds", type=int, default=SETTINGS.rounds)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/one-line"))
    parser.add_argument("--results", default="one-line", help="name in benchmarks/results")
    given = parser.parse_args()
    methods = [m for name in given.frameworks.split(",") for m in contenders(name)]
    settings = replace(SETTINGS, rounds=given.rounds)
    values = {
        set_name(data): trained(data, methods, given.draws, given.kept, given.jobs, settings)
        for data in given.sets
    }
    gains = gains_of(values, "fold")
    title = "Gain of the objective for each metric over the best built-in one"
    tables = {**gain_tables(title, gains, FOOT), "Means over sets": means_table(values, "fold")}
    command = " ".join(["python benchmarks/one_line.py", *sys.argv[1:]])
    keep(given.results, command, tables, gains=[gain._asdict() for gain in gains])


if __name__ == "__main__":
    main()
