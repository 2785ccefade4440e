"""Tables of a study's conclusions, for terminals and reports."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from lambdaplus.evaluation import Cell, Table
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.significance import TESTS
from lambdaplus.study.results import Results
from lambdaplus.study.summary import ALPHA, OURS, Summary, outcome
from lambdaplus.study.words import count, label, range_of

ABOVE, BELOW = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"


def results_table(summary: Summary, *, narrow: bool = True) -> Table:
    """Test means of methods by metrics, with marks for the best and for significant differences.

    Parameters
    ----------
    summary : Summary
    narrow : bool
        Whether to group methods by who wrote them, which fits a terminal of 80 columns; otherwise
        this is a column.

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
    columns = [one for metric in results.metrics for one in _columns(summary, metric, narrow)]
    by_origin: dict[str, list[str]] = {}
    for method in results.methods:
        by_origin.setdefault(results.methods[method].origin, []).append(method)
    for origin, methods in sorted(by_origin.items(), key=lambda item: item[0] == OURS):
        if narrow:
            head = origin if origin in (OURS, "yours") else f"{origin}, built-in"
            rows.append([f"{head}:", *("" for _ in columns), ""])
        for method in methods:
            cells = [by_method[method] for _, by_method in columns]
            more = [] if narrow else [origin]
            rows.append([method, *cells, f"{results.seconds.get(method, 0.0):.1f}s", *more])
    heads = ["method", *(head for head, _ in columns), "time", *([] if narrow else ["by"])]
    return Table(heads, rows, [*_notes(summary)], narrow=narrow)


def _notes(summary: Summary) -> Iterator[str]:
    """What is averaged, what marks mean, and how differences were tested."""
    results, comparison, config = summary.results, summary.comparison, summary.results.config
    over = f", and over the seeds {', '.join(map(str, config.seeds))}"
    over = over if len(config.seeds) > 1 else ""
    folds, test = count(len(results.folds), "fold"), "DeLong test (AUC) or bootstrap over rows"
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
    if comparison:
        test = test if results.n_rows else f"{TESTS[comparison.test]} test over queries"
        yield (
            f"Significant: p < {decimal(comparison.alpha, 2)} in a two-tailed {test}, with "
            "Holm's correction for the number of tests in the table."
        )
    if any(method.origin == OURS for method in results.methods.values()):
        yield (
            "lambdaplus: objectives and rankers of this library; lambda_X is the objective for the "
            "metric X."
        )
    if results.spreads:
        largest = (
            f"{label(metric)} {decimal(max(found))}"
            for metric in results.metrics
            if (found := [sd for (_, of), sd in results.spreads.items() if of == metric])
        )
        yield f"Largest standard deviation (sd) over seeds: {', '.join(largest)}."
    yield "time: training time, summed over folds, seeds and parameters."
    yield from warnings_of(results)


def _columns(summary: Summary, metric: str, narrow: bool) -> list[tuple[str, dict[str, Any]]]:
    """The columns of a metric, by their headings: means, intervals and spreads of the methods."""
    results, marks = summary.results, _marks(summary, metric)
    means = {
        method: Cell(results.mean(method, metric), marks.get(method, " " * narrow))
        for method in results.methods
    }
    columns: list[tuple[str, dict[str, Any]]] = [
        (label(metric).replace("@", "\n@" if narrow else "@"), means)
    ]
    intervals = summary.comparison.intervals.get(metric) if summary.comparison else None
    if intervals:
        none = math.nan, math.nan
        bounds = {method: range_of(intervals.get(method, none)) for method in means}
        columns.append(("95 % interval", bounds))
        if narrow:  # in the same column, since tables may be split between columns
            both = {m: Cell(f"{decimal(c.value)} {bounds[m]}", c.mark) for m, c in means.items()}
            return [(f"{label(metric)}\n95 % interval", both)]
    if results.spreads and not narrow:
        spreads = {method: results.spreads.get((method, metric), math.nan) for method in means}
        columns.append(("sd", spreads))
    return columns


def _marks(summary: Summary, metric: str) -> dict[str, str]:
    """By method: * for the highest mean, arrows for significant differences."""
    comparison, different = summary.comparison, summary.differences(metric)
    against = None if comparison is None else comparison.baseline
    if (reference := against or summary.best(metric)) is None:
        return {}
    below = {worse: BELOW for better, worse in different if better == reference}
    if against is not None:
        return {**{better: ABOVE for better, worse in different if worse == against}, **below}
    means = {method: summary.results.mean(method, metric) for method in summary.evaluations}
    # Means that are equal when rounded share the mark.
    top = [method for method, mean in means.items() if f"{mean:.4f}" == f"{means[reference]:.4f}"]
    return {**below, **dict.fromkeys(top, "*")}


def verdict_table(summary: Summary, *, narrow: bool = True) -> Table | None:
    """The best of lambdaplus and of the others by each metric, and their difference.

    A narrow table has the two below each other.
    """
    if not summary.verdicts:
        return None
    arrows = {"better": ABOVE, "worse": BELOW, "": " "}
    rows: list[Sequence[Any]] = []
    for pair in summary.verdicts:
        tested = (
            Cell(decimal(pair.difference, sign="+"), arrows[outcome(pair)]),
            range_of(pair.interval, "+"),
            "<.0001" if pair.p_corrected < 0.0001 else decimal(pair.p_corrected),
        )
        metric = label(pair.metric)
        if narrow:
            rows += [(metric, pair.first, *tested), ("", pair.second, "", "", "")]
        else:
            rows.append((metric, *tested, pair.first, pair.second))
    one, other = "best lambdaplus", f"best {summary.other_side}"
    m = len(summary.verdicts)
    corrected = f" (both corrected for {count(m, 'metric')}, by Bonferroni)" if m > 1 else ""
    foot = (
        f"Both are chosen on validation data; diff.: lambdaplus minus {summary.other_side}, on "
        f"test data. {ABOVE} {BELOW}: significant, which is p < {decimal(ALPHA, 2)} and an "
        f"interval without 0{corrected}. Without an arrow, the difference can be chance.",
    )
    heads = ("diff.", "95 % interval", "p")
    if narrow:
        return Table(("metric", f"{one},\nthen {other}", *heads), rows, foot, narrow=True, names=2)
    return Table(("metric", *heads, one, other), rows, foot, narrow=True)


def choices_table(summary: Summary) -> Table | None:
    """`Results.chosen_fits`, for a report."""
    frame = summary.results.chosen_fits()
    plain = pl.col("parameters").str.replace_all(r'[{}"]', "")
    return Table(frame.columns, frame.with_columns(plain).rows()) if frame.height else None


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
