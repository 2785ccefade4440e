"""Compare our objectives with the frameworks' own after the same random search for each method.

    python benchmarks/accuracy.py SET [SET ...] [--trials 16] [--jobs 2]

CatBoost is included if it is installed (`pip install --group benchmarks`).  Trial and round are
chosen on the validation queries of a fold, separately for each metric.  Finished trainings are
stored in the folder --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import polars as pl
from differences import (
    FRAMEWORKS,
    METRICS,
    Gain,
    gain_tables,
    gains_of,
    mean_of,
    means_table,
    values_of,
)
from ranking_sets import folds_by_name, set_name
from rich.progress import Progress
from tables import keep

from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Study, find_methods

METHODS = "lightgbm,xgboost,catboost:QueryRMSE,catboost:YetiRank:mode=MAP"


def best_table(studies: Mapping[str, pl.DataFrame], gains: list[Gain]) -> Table:
    """The best of each framework's built-in objectives and that of lambdaplus by metric."""
    means = [gain for gain in gains if gain.on == "mean"]
    by_metric = {metric: values_of(studies, metric, "query") for metric in METRICS}
    rows = []
    for framework, name in FRAMEWORKS.items():
        mine = {gain.metric: gain for gain in means if gain.framework == framework}
        if not mine:
            continue
        shown = {"best built-in objective": "own", "lambdaplus, objective for the metric": "ours"}
        if framework == "catboost":
            shown.popitem()
        for what, who in shown.items():
            cells = [
                mean_of(by_metric[metric], getattr(mine.get(metric), who, ""), list(studies))
                for metric in METRICS
            ]
            rows.append([f"{name}, {what}", *cells])
    return Table(("", *METRICS.values()), rows, narrow=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", help="folders of LETOR folds, or web-search-like:N")
    parser.add_argument("--methods", default=METHODS, help="as for `lambdaplus compare`")
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/accuracy"))
    parser.add_argument("--results", default="accuracy", help="name in benchmarks/results")
    given = parser.parse_args()
    methods = [
        method
        for method in find_methods(given.methods)
        if importlib.util.find_spec(method.family) and str(method.criterion) != "mauc"
    ]
    config = Config(rounds=given.rounds, patience=100, every=1, trials=given.trials)
    studies = {}
    with Progress() as progress:
        for data in given.sets:
            name = set_name(data)
            study = Study(
                folds_by_name(data), methods, list(METRICS), config, folder=given.kept / name,
                jobs=given.jobs,
            )  # fmt: skip
            bar = progress.add_task(name, total=len(study))
            study.finish(lambda done, bar=bar: progress.update(bar, completed=done))
            studies[name] = study.results.values
    by_query, by_fold = gains_of(studies, "query"), gains_of(studies, "fold")
    title = "Gain of the objective for each metric over the best built-in one"
    queries = "±: standard errors over queries, for the given models; t-tests"
    folds = "±: standard errors over folds, with a search for each fold; t-tests"
    tables = {
        "The best of each framework": best_table(studies, by_query),
        **gain_tables(title, by_query, queries),
        **gain_tables(f"{title}, over folds", by_fold, folds),
        "Means over sets": means_table(studies, "query"),
    }
    command = " ".join(["python benchmarks/accuracy.py", *sys.argv[1:]])
    keep(given.results, command, tables, gains=[gain._asdict() for gain in by_query])


if __name__ == "__main__":
    main()
