"""What random searches for parameters chose, as functions of the fits of a study.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.searches import rounds_at_the_cap, searched_methods
>>> from lambdaplus.data import digits_queries
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:map,feature:best"),
...     metrics=["map", "auc"],
...     settings=Settings(rounds=3),
...     trials=2,
... )
>>> study.finish()
>>> searched_methods(study.results), rounds_at_the_cap(study.results) <= 2
(['lightgbm:lambda_map'], True)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Table
from lambdaplus.study.results import Results
from lambdaplus.study.summary import count

CAP = 0.95  # share of the allowed rounds; a later best round suggests that more are needed
EDGE = 0.1  # share of the drawn values at each end
FEW = 6  # number of different values up to which each is counted


def searched_methods(results: Results) -> list[str]:
    """The methods whose parameters were drawn at random, as far as they have finished a fold."""
    return [method for method in results.about["searched"] if method in results.seconds]


def rounds_at_the_cap(results: Results) -> int:
    """Number of choices whose round is in the last twentieth of the allowed rounds."""
    return _chosen(results).filter(pl.col("round") > CAP * results.about["rounds"]).height


def search_in_words(results: Results) -> str:
    """How many chosen rounds are at their limit."""
    chosen = _chosen(results)
    if not chosen.height:
        return ""
    return (
        f"{rounds_at_the_cap(results)} of {count(chosen.height, 'chosen round')} are in the last "
        f"twentieth of the {results.about['rounds']:,} allowed."
    )


def choosers(results: Results) -> list[str]:
    """The metrics that select trials; only those that some method optimises, if there are any."""
    metrics = _chosen(results)["metric"].unique(maintain_order=True).to_list()
    criteria = set(results.about["criteria"].values())
    return [metric for metric in metrics if metric in criteria] or metrics


def best_by_trial(results: Results, metric: str) -> dict[str, Floats]:
    """Best validation value after each trial, by method: means over folds and seeds."""
    fits = results.fits.filter(
        pl.col("method").is_in(searched_methods(results)), pl.col("metric") == metric
    ).sort("trial")
    best = pl.col("validation").fill_nan(None).cum_max().forward_fill()
    fits = fits.with_columns(best.over("method", "fold", "seed"))
    means = fits.group_by("method", "trial").agg(pl.col("validation").mean()).sort("trial")
    return {
        method: means.filter(pl.col("method") == method)["validation"].to_numpy()
        for method in searched_methods(results)
    }


def parameter_table(results: Results, method: str) -> Table:
    """The chosen parameters of a method beside all that were drawn.

    For a parameter without effect, a tenth of the choices is in each outer tenth of the draws.
    """
    fits = results.fits.filter(pl.col("method") == method)
    drawn = [json.loads(text) for text in fits["parameters"]]
    chosen = [json.loads(text) for text in fits.filter("chosen")["parameters"]]
    rows = [
        _described(name, [each[name] for each in drawn], [each[name] for each in chosen])
        for name in (drawn[0] if drawn else ())
    ]
    rounds = fits.filter("chosen")["round"].to_list()
    late = np.mean([each > CAP * results.about["rounds"] for each in rounds])
    rows.append(
        ["rounds", f"1 to {results.about['rounds']}", *_quartiles(rounds), "", f"{late:.0%}"]
    )
    heads = ("drawn", "lower quartile", "median", "upper quartile", "lowest", "highest")
    return Table(("parameter", *heads), [row for row in rows if row])


def _described(name: str, drawn: Sequence[Any], chosen: Sequence[Any]) -> list[str]:
    """A row for a parameter; empty if it was always the same."""
    values = sorted(set(map(str, drawn)))
    if len(values) == 1:
        return []
    if len(values) <= FEW or not all(isinstance(value, (int, float)) for value in drawn):
        counts = Counter(map(str, chosen))
        shares = (f"{value} {counts[value] / len(chosen):.0%}" for value in values)
        return [name, ", ".join(shares), "", "", "", "", ""]
    low, high = np.quantile(drawn, [EDGE, 1 - EDGE])
    ends = [f"{np.mean(np.array(chosen) <= low):.0%}", f"{np.mean(np.array(chosen) >= high):.0%}"]
    return [name, f"{min(drawn):.3g} to {max(drawn):.3g}", *_quartiles(chosen), *ends]


def _quartiles(values: Sequence[float]) -> list[str]:
    return [f"{value:.3g}" for value in np.quantile(values, (0.25, 0.5, 0.75))]


def _chosen(results: Results) -> pl.DataFrame:
    """The choices among trials."""
    searched = pl.col("method").is_in(searched_methods(results))
    return results.fits.filter(searched & pl.col("chosen"))
