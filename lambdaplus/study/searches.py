"""Tables of the results of random searches.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.searches import chosen_rows, rounds_at_the_cap
>>> from lambdaplus.data import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:map"),
...     metrics=[parse_metric("map"), parse_metric("auc")],
...     settings=Settings(rounds=3),
...     trials=2,
... )
>>> _ = list(study.run())
>>> [row.metric for row in chosen_rows(study)], rounds_at_the_cap(study) <= 2
(['map', 'auc'], True)
"""

from __future__ import annotations

import csv
import json
import pathlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Table
from lambdaplus.study.choice import Search
from lambdaplus.study.methods import Method, Parameters
from lambdaplus.study.search_space import Draw, Range
from lambdaplus.study.study import Study

CAP = 0.95  # share of the allowed rounds; a later best round suggests that more are needed
EDGE = 0.1  # share of a range at each end


class Chosen(NamedTuple):
    """The selection of one metric in one search."""

    method: str
    fold: str
    seed: int
    metric: str
    trial: int
    rounds: int
    value: float
    parameters: Parameters


def searches(study: Study, method: Method) -> list[Search]:
    """The finished searches of a method, one for each fold and seed."""
    return [c.search for c in study.results[method.name] if c.search is not None]


def chosen_rows(study: Study) -> Iterator[Chosen]:
    """The selection of every metric in every search."""
    for method in study.methods:
        for choice in study.results[method.name]:
            search = choice.search
            for metric, trial in search.chosen.items() if search else ():
                assert search is not None
                yield Chosen(
                    method.name,
                    choice.fold.name,
                    choice.seed,
                    metric,
                    trial,
                    int(search.rounds[metric][trial]),
                    float(search.values[metric][trial]),
                    search.parameters[trial],
                )


def rounds_at_the_cap(study: Study) -> int:
    """Number of selections whose round is in the last twentieth of the allowed rounds."""
    return sum(row.rounds > CAP * study.settings.rounds for row in chosen_rows(study))


def choosers(study: Study) -> list[str]:
    """The metrics that select trials; only those that some method optimises, if there are any."""
    found = dict.fromkeys(
        name for m in study.methods if study.searches(m) for name in study.chooses(m).values()
    )
    criteria = {method.criterion for method in study.methods}
    return [name for name in found if name in criteria] or list(found)


def best_by_trial(study: Study, metric: str) -> dict[str, Floats]:
    """Best validation value after each trial, by method: means over folds and seeds."""
    found = {}
    for method in study.methods:
        values = [s.values[metric] for s in searches(study, method) if metric in s.values]
        if values:
            found[method.name] = np.mean(np.fmax.accumulate(values, axis=1), axis=0)
    return found


def summary(study: Study) -> str:
    """A summary in two sentences: rounds at their limit, and pruned trials."""
    rows = list(chosen_rows(study))
    if not rows:
        return ""
    found = [search for method in study.methods for search in searches(study, method)]
    pruned, trials = sum(int(s.pruned.sum()) for s in found), sum(s.pruned.size for s in found)
    return (
        f"{rounds_at_the_cap(study)} of {len(rows)} chosen rounds are in the last twentieth of the "
        f"{study.settings.rounds:,} allowed. {pruned} of {trials} trials were pruned."
    )


def parameter_table(study: Study, method: Method) -> Table:
    """The selected parameters in relation to the ranges that they were drawn from.

    For a parameter without effect, a tenth of the selections is in each outer tenth of its range.
    """
    rows = [row for row in chosen_rows(study) if row.method == method.name]
    space: dict[str, Draw] = method.searched
    body = [
        _described(name, draw, [row.parameters[name] for row in rows])
        for name, draw in space.items()
        if isinstance(draw, Range) or len(draw.values) > 1
    ]
    rounds = [row.rounds for row in rows]
    late = np.mean([r > CAP * study.settings.rounds for r in rounds])
    body.append(["rounds", f"1 to {study.settings.rounds}", *_quartiles(rounds), "", f"{late:.0%}"])
    heads = ("drawn from", "lower quartile", "median", "upper quartile", "lowest", "highest")
    foot = [f"{len(rows)} choices"]
    return Table((method.name, *heads), body, foot)


def _described(name: str, draw: Draw, values: Sequence[Any]) -> list[Any]:
    if isinstance(draw, Range):
        places = np.array([draw.place(value) for value in values])
        low, high = np.mean(places <= EDGE), np.mean(places >= 1 - EDGE)
        return [name, str(draw), *_quartiles(values), f"{low:.0%}", f"{high:.0%}"]
    counts = Counter(map(str, values))
    said = ", ".join(f"{value} {counts[str(value)] / len(values):.0%}" for value in draw.values)
    return [name, said, "", "", "", "", ""]


def _quartiles(values: Sequence[float]) -> list[str]:
    return [f"{value:.3g}" for value in np.quantile(values, (0.25, 0.5, 0.75))]


def write_choices(study: Study, folder: pathlib.Path) -> None:
    """Write ``choices.csv``: the selection of every metric in every search, parameters as JSON."""
    rows = list(chosen_rows(study))
    if not rows:
        return
    with (folder / "choices.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Chosen._fields)
        for row in rows:
            writer.writerow([*row[:-2], repr(row.value), json.dumps(row.parameters)])
