"""Tables of a study's conclusions, for terminals and reports."""

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from lambdaplus.evaluation import Cell, Table
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.effects import ROUNDING
from lambdaplus.evaluation.result_tables import decimal, p_text
from lambdaplus.study.results import Results
from lambdaplus.study.summary import ALPHA, OURS, Summary, outcome
from lambdaplus.study.words import count, label, range_of

ABOVE, BELOW = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"


def results_table(summary: Summary) -> Table:
    """Test means of methods by metrics, with marks for the best and for significant differences.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    Table
        ``*`` marks the best of each column and an arrow down what is significantly below it; with a
        baseline, arrows mark what is significantly above and below the baseline.  Without queries,
        each metric has a column with its interval.

    Examples
    --------
    >>> from lambdaplus.study import Config, Summary, results_table, study_of
    >>> study = study_of(Config(methods=("lightgbm:lambda_map",), folds="1", rounds=2))
    >>> study.finish()
    >>> results_table(Summary(study.results)).columns[:3]
    ['method', 'MAP', 'MRR']
    """
    results = summary.results
    rows: list[list[Any]] = []
    columns: dict[str, dict[str, Any]] = {}  # by heading and method
    for metric in results.metrics:
        columns |= _columns(summary, metric)
    for name in sorted(results.methods, key=lambda name: results.methods[name].origin == OURS):
        seconds = f"{results.seconds.get(name, 0.0):.1f}s"
        rows.append([name, *(cells[name] for cells in columns.values()), seconds])
    return Table(["method", *columns, "time"], rows, [*_notes(summary)], narrow=True)


def _notes(summary: Summary) -> Iterator[str]:
    """What is averaged, what marks mean, and how differences were tested."""
    results, comparison, config = summary.results, summary.comparison, summary.results.config
    over = f", and over the seeds {', '.join(map(str, config.seeds))}"
    over = over if len(config.seeds) > 1 else ""
    folds = count(len(results.folds), "fold")
    if results.n_rows:
        yield (
            f"Means over {folds}{over} of the value over all test rows of a fold "
            f"({count(results.n_rows, 'row')}). Higher is better."
        )
    else:
        yield (
            f"Means of test values over the queries of each fold, then over {folds} "
            f"({count(results.queries, 'test query', 'test queries')}){over}. Higher is better."
        )
        yield from _without_value(results)
    below = f"; {BELOW} significantly below it" if comparison else ""
    if comparison and comparison.baseline:
        yield f"{ABOVE} significantly above {comparison.baseline}{below}."
    else:
        yield f"* highest of its column{below}."
    if results.n_rows and "map" in results.metrics:
        yield "MAP of rows without queries is their average precision."
    tool = find_convention(config.convention).tool.partition(":")[0]
    tied = "rows" if results.n_rows else "documents and queries without relevant documents"
    yield f"Tied {tied} follow {tool}'s convention."
    if comparison and any(not math.isnan(pair.p_value) for pair in comparison.pairs):
        yield (
            f"Significant: p < {decimal(ALPHA, 2)} in a two-tailed t-test over {_over(summary)}, "
            "with Holm's correction for the number of tests in the table."
        )
    yield from _not_random(results)
    ours = [name for name, method in results.methods.items() if method.origin == OURS]
    if ours:
        yield f"Of lambdaplus: {', '.join(ours)}. lambda_X is the objective for the metric X."
    if results.spreads:
        yield "sd: standard deviation of the means of seeds."
    yield "time: training time, summed over folds, seeds and parameters."
    yield from warnings_of(results)


def _over(summary: Summary) -> str:
    """What the differences are tested over."""
    folds, seeds = len(summary.results.folds) > 1, bool(summary.results.spreads)
    of_fold = "rows" if summary.results.n_rows else "queries"
    both = f"{of_fold}, seeds and folds" if folds else f"{of_fold} and seeds"
    return both if seeds else "the means of folds"


def _without_value(results: Results) -> Iterator[str]:
    """How many test queries have no value, by the metrics of which that holds."""
    by_number: dict[int, list[str]] = {}
    for metric in results.metrics:
        if n := results.without_value(metric):
            by_number.setdefault(n, []).append(label(metric))
    of = count(results.queries, "query", "queries")
    for n, metrics in by_number.items():
        yield f"No value on {n:,} of {of}, which are left out: {', '.join(metrics)}."


def _not_random(results: Results) -> Iterator[str]:
    """The methods that no seed changes, if there are several seeds."""
    if len(results.config.seeds) > 1:
        spreads = results.spreads.items()
        changed = {method for (method, _), spread in spreads if spread > ROUNDING}
        finished = [method for method in results.methods if method in results.seconds]
        same = [method for method in finished if method not in changed]
        if same:
            yield f"No variance between seeds, which do not change: {', '.join(same)}."


def _columns(summary: Summary, metric: str) -> dict[str, dict[str, Any]]:
    """The columns of a metric, by their headings: means, intervals and spreads of the methods."""
    results, marks, name = summary.results, _marks(summary, metric), label(metric)
    columns: dict[str, dict[str, Any]] = {
        name.replace("@", "\n@"): {
            method: Cell(results.mean(method, metric), marks.get(method, " "))
            for method in results.methods
        }
    }
    if intervals := summary.comparison.intervals.get(metric) if summary.comparison else None:
        none = math.nan, math.nan
        bounds = {method: range_of(intervals.get(method, none)) for method in results.methods}
        columns[f"{name}\n95 % interval"] = bounds
    if results.spreads:
        spreads = {m: results.spreads.get((m, metric), math.nan) for m in results.methods}
        columns[f"{name}\nsd"] = spreads
    return columns


def _marks(summary: Summary, metric: str) -> dict[str, str]:
    """By method: * for the highest mean, arrows for what differs significantly from a reference."""
    comparison = summary.comparison
    against = comparison.baseline if comparison else None
    if (reference := against or summary.best(metric)) is None:
        return {}
    marks = {}
    for pair in comparison.of(metric) if comparison else ():
        other = pair.second if pair.first == reference else pair.first
        if reference in (pair.first, pair.second) and pair.better and pair.p_corrected < ALPHA:
            marks[other] = BELOW if pair.better == reference else ABOVE
    if against is None:  # means that are equal when rounded share the mark
        means = {method: summary.results.mean(method, metric) for method in summary.runs}
        top = [m for m, mean in means.items() if f"{mean:.4f}" == f"{means[reference]:.4f}"]
        marks |= dict.fromkeys(top, "*")
    return marks


def verdict_table(summary: Summary) -> Table | None:
    """The best of lambdaplus and of the others by each metric, and their difference."""
    if not summary.verdicts:
        return None
    arrows = {"better": ABOVE, "worse": BELOW, "": " "}
    rows = [
        (
            label(pair.metric),
            Cell((pair.first, pair.second)),
            Cell(decimal(pair.difference, sign="+"), arrows[outcome(pair)]),
            range_of(pair.interval, "+"),
            p_text(pair.p_corrected, narrow=True),
        )
        for pair in summary.verdicts
    ]
    m = len(summary.verdicts)
    corrected = f" (both corrected for {count(m, 'metric')}, by Bonferroni)" if m > 1 else ""
    foot = [
        f"Both are chosen on validation data; diff.: lambdaplus minus {summary.other_side}, on "
        f"test data. {ABOVE} {BELOW}: significant, which is p < {decimal(ALPHA, 2)} and an "
        f"interval without 0{corrected}. Without an arrow, the difference can be chance.",
        *_without_value(summary.results),
    ]
    heads = "metric", f"best lambdaplus,\nthen best {summary.other_side}"
    return Table((*heads, "diff.", "95 % interval", "p"), rows, foot, narrow=True, names=2)


def choices_table(summary: Summary) -> Table | None:
    """`Results.chosen_fits`, for a report."""
    frame = summary.results.chosen_fits()
    bare = pl.col("parameters").str.replace_all(r'[{}"]', "")
    return Table(frame.columns, frame.with_columns(bare).rows()) if frame.height else None


def rules_table(results: Results) -> Table:
    """The rules of the metrics; metrics with equal rules share a row."""
    by_rules: dict[str, list[str]] = {}
    for metric, rules in results.rules.items():
        by_rules.setdefault(rules, []).append(label(metric))
    rows = [(", ".join(metrics), rules) for rules, metrics in by_rules.items()]
    return Table(("metric", "rules"), rows)


def warnings_of(results: Results) -> list[str]:
    """The warnings of chosen fits, each message once a method."""
    warned = results.fits.filter("chosen").select("method", "warnings").unique(maintain_order=True)
    # Numbers in messages differ between folds, but not before the first bracket.
    lines = (
        f"Warning of {method}: {line.partition(' (')[0]}."
        for method, text in warned.iter_rows()
        for line in text.splitlines()
    )
    return [*dict.fromkeys(lines)]
