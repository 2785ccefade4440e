"""Tables of the results of a study."""

import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Cell, Table
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.objectives import LambdaObjective, lambda_objective
from lambdaplus.study.results import Results
from lambdaplus.study.summary import ALPHA, Summary, Verdict, count, label

ABOVE, BELOW = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"


def results_table(summary: Summary, *, narrow: bool = True) -> Table:
    """Test means of methods by metrics, with marks for the best and for significant differences.

    Parameters
    ----------
    summary : Summary
    narrow : bool
        Whether to group methods by who wrote them, which fits a terminal of 80 columns; otherwise
        this and the metric that they were selected by are columns.

    Returns
    -------
    Table
        ``*`` marks the best of each column and an arrow down what is significantly below it; with a
        baseline, arrows mark what is significantly above and below the baseline.  Without queries,
        each metric has a column with its interval.
    """
    results = summary.results
    marks = {metric: _marks(summary, metric) for metric in results.metrics}
    rows: list[list[Any]] = []
    intervals = {} if summary.comparison is None else summary.comparison.intervals
    heads = []
    for metric in results.metrics:
        heads.append(label(metric).replace("@", "\n@" if narrow else "@"))
        heads += ["95 % interval"] if metric in intervals else []
    by_origin: dict[str, list[str]] = {}
    for method in results.methods:
        by_origin.setdefault(results.methods[method].origin, []).append(method)
    for origin, methods in sorted(by_origin.items(), key=lambda item: item[0] == "lambdaplus"):
        if narrow:
            whose = origin if origin in ("lambdaplus", "yours") else f"{origin}, built-in"
            rows.append([f"{whose}:", *("" for _ in heads), ""])
        for method in methods:
            cells: list[Any] = []
            for metric, marks_of in marks.items():
                mark = marks_of.get(method, " " * narrow)
                cells.append(Cell(results.mean(method, metric), mark))
                if metric in intervals:
                    cells.append(range_of(intervals[metric].get(method, (math.nan, math.nan))))
            more = [] if narrow else [origin, summary.selector(method)]
            rows.append([method, *cells, f"{results.seconds.get(method, 0.0):.1f}s", *more])
    said = "* highest of its column"
    if (comparison := summary.comparison) is not None:
        said += f"; {BELOW} significantly below it"
        if comparison.baseline is not None:
            said = (
                f"{ABOVE} significantly above {comparison.baseline}; {BELOW} significantly below it"
            )
    means, *notes = summary.notes()
    foot = [means, f"{said}.", *notes]
    if "lambdaplus" in by_origin:
        foot.append(
            "lambdaplus: objectives and rankers of this library; lambda_X is the objective for the "
            "metric X" + _surrogates(by_origin["lambdaplus"])
        )
    foot += ["time: training time, summed over folds, seeds and parameters.", *warnings_of(results)]
    more = [] if narrow else ["by", "selected by"]
    return Table(("method", *heads, "time", *more), rows, foot, narrow=narrow)


def _surrogates(methods: list[str]) -> str:
    """Which objectives weight their pairs by another metric than the one of their name."""
    said = set()
    for name in {method.partition(":lambda_")[2] for method in methods} - {""}:
        objective = lambda_objective(name)
        if isinstance(objective, LambdaObjective) and objective.surrogate != objective.metric:
            said.add(f"lambda_{name} uses the swap deltas of {objective.surrogate}")
    return "".join(f"; {one}" for one in sorted(said)) + "."


def _marks(summary: Summary, metric: str) -> dict[str, str]:
    """By method: * for the highest mean, arrows for significant differences."""
    comparison = summary.comparison
    if comparison is not None and comparison.baseline is not None:
        above, below = (way(metric, comparison.baseline) for way in (summary.above, summary.below))
        return {**dict.fromkeys(above, ABOVE), **dict.fromkeys(below, BELOW)}
    if (best := summary.best(metric)) is None:
        return {}
    means = {method: summary.results.mean(method, metric) for method in summary.evaluations}
    # Means that are equal when rounded share the mark.
    top = [method for method, mean in means.items() if f"{mean:.4f}" == f"{means[best]:.4f}"]
    return {**dict.fromkeys(summary.below(metric, best), BELOW), **dict.fromkeys(top, "*")}


def verdict_table(summary: Summary) -> Table | None:
    """The best of lambdaplus and of the others by each metric, and their difference."""
    if not summary.verdicts:
        return None
    rows = [
        (
            label(one.metric),
            one.other,
            one.ours,
            Cell(decimal(one.difference, sign="+"), _mark_of(one)),
            range_of(one.interval, "+"),
            "<.0001" if one.p_value < 0.0001 else decimal(one.p_value),
        )
        for one in summary.verdicts
    ]
    heads = ("metric", f"best {summary.other_side}", "best lambdaplus", "diff.", "95 %\ninterval")
    foot = (
        f"Both are chosen on validation data; diff.: lambdaplus minus {summary.other_side}, on "
        f"test data. {ABOVE} {BELOW}: significant, p < {decimal(ALPHA, 2)} after Holm's correction "
        "over the metrics. Without an arrow, the difference can be chance.",
    )
    return Table((*heads, "p"), rows, foot, narrow=True)


def _mark_of(verdict: Verdict) -> str:
    if verdict.p_value >= ALPHA:
        return " "
    return ABOVE if verdict.difference > 0 else BELOW


def range_of(interval: tuple[float, float], sign: str = "") -> str:
    """An interval, such as .703 to .773 or -.002..+.013; a dash if it has no bounds."""
    if any(map(math.isnan, interval)):
        return "-"
    return (".." if sign else " to ").join(decimal(bound, 3, sign) for bound in interval)


def pairs_table(summary: Summary) -> Table | None:
    """Wins, losses, ties and p-values of each pair of methods."""
    if (comparison := summary.comparison) is None:
        return None
    _, _, *heads = comparison.pair_table.columns
    rows = [
        (label(metric), *(_without_zero.sub(".", cell) for cell in cells))
        for metric, *cells in comparison.pair_table.rows
    ]
    return replace(comparison.pair_table, columns=("metric", "method", *heads), rows=rows)


_without_zero = re.compile(r"(?<![\d.])0\.")  # of numbers as in +0.0123


def folds_table(results: Results) -> Table:
    """Means of each fold."""
    rows = []
    for metric in results.metrics:
        for method in results.methods:
            means = results.fold_means(method, metric)
            by_fold = (means.get(fold, math.nan) for fold in results.folds)
            rows.append((method, label(metric), results.mean(method, metric), *by_fold))
    return Table(("method", "metric", "mean", *results.folds), rows)


def choices_table(summary: Summary) -> Table | None:
    """`Results.chosen_fits`, for a report."""
    frame = summary.results.chosen_fits()
    plain = pl.col("parameters").str.replace_all(r'[{}"]', "")
    return Table(frame.columns, frame.with_columns(plain).rows()) if frame.height else None


def rules_table(results: Results) -> Table:
    """The rules of the metrics; metrics with equal rules share a row."""
    by_rules: dict[str, list[str]] = {}
    for metric, rules in results.found.rules.items():
        by_rules.setdefault(rules, []).append(label(metric))
    rows = [(", ".join(metrics), rules) for rules, metrics in by_rules.items()]
    return Table(("metric", "rules"), rows)


def searched_methods(results: Results) -> list[str]:
    """The methods with randomly drawn parameters that have finished a fold."""
    return [method for method in results.searched if method in results.seconds]


def search_in_words(results: Results) -> str:
    """How many chosen rounds are close to their limit, which suggests that more would help."""
    chosen = _chosen(results)
    if not chosen.height:
        return ""
    late = chosen.filter(pl.col("round") > 0.95 * results.config.rounds).height
    return (
        f"{late} of {count(chosen.height, 'chosen round')} are in the last 5 % of the "
        f"{results.config.rounds:,} allowed{'; more rounds may help' if late else ''}."
    )


def choosers(results: Results) -> list[str]:
    """The metrics that select trials, without those that no method optimises if others remain."""
    metrics = _chosen(results)["metric"].unique(maintain_order=True).to_list()
    criteria = set(results.criteria.values())
    return [metric for metric in metrics if metric in criteria] or metrics


def best_by_trial(results: Results, metric: str) -> dict[str, Floats]:
    """Best validation value after each trial by method, averaged over folds and seeds."""
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
    """Quartiles of the chosen values of each numeric parameter, and the range of all draws.

    An option may also be drawn as None; the last column counts how often that was chosen.
    """
    rows = []
    for method in searched_methods(results):
        fits = results.fits.filter(pl.col("method") == method)
        drawn = fits["parameters"].str.json_decode(infer_schema_length=None).struct.unnest()
        drawn = drawn.with_columns(rounds=fits["round"]).select(pl.selectors.numeric())
        for values in drawn:
            chosen = values.filter(fits["chosen"])
            quartiles = (chosen.quantile(share, "linear") for share in (0.25, 0.5, 0.75))
            # None if None was drawn, or chosen, every time.
            numbers = (values.quantile(0.0), *quartiles, values.quantile(1.0))
            texts = ("-" if number is None else f"{number:.3g}" for number in numbers)
            none = f"{chosen.null_count()} of {len(chosen)}" if values.null_count() else "-"
            rows.append((method, values.name, *texts, none))
    chosen_heads = ("lower quartile", "median", "upper quartile")
    heads = ("method", "parameter", "lowest drawn", *chosen_heads, "highest drawn", "None chosen")
    return Table(heads, rows)


def _chosen(results: Results) -> pl.DataFrame:
    """The choices among trials."""
    searched = pl.col("method").is_in(searched_methods(results))
    return results.fits.filter(searched & pl.col("chosen"))


def warnings_of(results: Results) -> list[str]:
    """Warnings of the chosen fits: each message once, with the number of fits by method."""
    by_text: dict[str, Counter[str]] = {}
    keys = ["method", "fold", "seed", "trial"]
    for row in results.fits.filter("chosen").unique(keys, maintain_order=True).to_dicts():
        for line in row["warnings"].splitlines():
            # Numbers in messages differ between folds, but not before the first bracket.
            by_text.setdefault(line.partition(" (")[0], Counter())[row["method"]] += 1
    return [
        f"Warning: {text}: "
        + ", ".join(f"{name} ({count(n, 'fit')})" for name, n in counts.items())
        + "."
        for text, counts in by_text.items()
    ]
