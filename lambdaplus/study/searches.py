"""What random searches for parameters chose, as functions of the fits of a study."""

from __future__ import annotations

import polars as pl

from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Table
from lambdaplus.study.results import Results
from lambdaplus.study.summary import count

CAP = 0.95  # share of the allowed rounds; a later best round suggests that more are needed


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


def parameter_table(results: Results) -> Table:
    """Quartiles of the chosen values of each numeric parameter, beside the range of all draws."""
    rows = []
    for method in searched_methods(results):
        fits = results.fits.filter(pl.col("method") == method)
        drawn = fits["parameters"].str.json_decode(infer_schema_length=None).struct.unnest()
        drawn = drawn.with_columns(rounds=fits["round"]).select(pl.selectors.numeric())
        chosen = drawn.filter(fits["chosen"])
        for name in drawn.columns:
            of_drawn = (drawn[name].quantile(end) for end in (0.0, 1.0))
            of_chosen = (chosen[name].quantile(share, "linear") for share in (0.25, 0.5, 0.75))
            lowest, highest, *quartiles = (f"{value:.3g}" for value in (*of_drawn, *of_chosen))
            rows.append((method, name, lowest, *quartiles, highest))
    chosen_heads = ("lower quartile", "median", "upper quartile")
    return Table(("method", "parameter", "lowest drawn", *chosen_heads, "highest drawn"), rows)


def _chosen(results: Results) -> pl.DataFrame:
    """The choices among trials."""
    searched = pl.col("method").is_in(searched_methods(results))
    return results.fits.filter(searched & pl.col("chosen"))
