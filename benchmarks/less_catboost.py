"""lambdaplus less CatBoost as it comes, which is what a user would take instead.

    python benchmarks/accuracy.py fit LETOR_FOLDS [...] --trees 'node=.5;default' \
        --frameworks lightgbm,xgboost,catboost --seeds 0,1,2,3,4
    python benchmarks/less_catboost.py show

The trainings are those of `accuracy`, of which each follows all metrics.  CatBoost has its own
1,000 oblivious trees and its own learning rate, and validation queries choose their number.
"""

from __future__ import annotations

import argparse
from typing import Any

from accuracy import FRAMEWORK_NAMES, LESS, METRICS, OURS_FOR, mean_over_sets, of_folds, shown
from kept_fits import keep_tables, read, study_parser
from list_sets import in_words
from trees import AS_IT_COMES, CHOSEN, Fits

from lambdaplus.evaluation import Table


def less_catboost(fits: Fits, framework: str, sets: list[str]) -> Table:
    """The objective of each metric less each objective of CatBoost, on each set and all."""
    rows: list[list[Any]] = []
    for title, some in [("all", sets), *((in_words(on), [on]) for on in sets)]:
        for name in AS_IT_COMES:
            cells = []
            for metric in METRICS:
                both = (framework, CHOSEN, OURS_FOR[metric]), ("catboost", "default", name)
                found = [of_folds(fits, on, both, metric) for on in some]
                cells.append(shown(mean_over_sets(found)))
            rows.append([title, name, *cells])
    foot = f"test values of lambdaplus with ranking_trees less those of CatBoost; {LESS}"
    return Table(["set", "less", *(metric.upper() for metric in METRICS)], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"][:5]): one for one in read(given.kept)}
    sets = list(dict.fromkeys(key[0] for key in sorted(fits) if key[1] == "catboost"))
    used = {key: fit for key, fit in fits.items() if key[0] in sets}
    tables = {
        name: less_catboost(used, framework, sets) for framework, name in FRAMEWORK_NAMES.items()
    }
    keep_tables("catboost", used, tables)


if __name__ == "__main__":
    show(study_parser(__doc__ or "", "accuracy").parse_args())
