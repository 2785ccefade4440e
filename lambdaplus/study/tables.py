"""Tables of a study's conclusions, for terminals and reports."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from lambdaplus.evaluation import Cell, Table
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.study.results import Results
from lambdaplus.study.summary import ALPHA, Summary, outcome
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
    ('method', 'MAP', 'MRR')
    """
    results, comparison = summary.results, summary.comparison
    rows: list[list[Any]] = []
    of_metrics = [_of_metric(summary, metric, narrow) for metric in results.metrics]
    heads = [head for names, _ in of_metrics for head in names]
    by_origin: dict[str, list[str]] = {}
    for method in results.methods:
        by_origin.setdefault(results.methods[method].origin, []).append(method)
    for origin, methods in sorted(by_origin.items(), key=lambda item: item[0] == "lambdaplus"):
        if narrow:
            head = origin if origin in ("lambdaplus", "yours") else f"{origin}, built-in"
            rows.append([f"{head}:", *("" for _ in heads), ""])
        for method in methods:
            cells = [cell for _, by_method in of_metrics for cell in by_method[method]]
            more = [] if narrow else [origin]
            rows.append([method, *cells, f"{results.seconds.get(method, 0.0):.1f}s", *more])
    key = "* highest of its column"
    if comparison is not None and comparison.baseline is not None:
        key = f"{ABOVE} significantly above {comparison.baseline}"
    key += f"; {BELOW} significantly below it" if comparison is not None else ""
    means, *notes = summary.notes()
    foot = [means, f"{key}.", *notes]
    if "lambdaplus" in by_origin:
        foot.append(
            "lambdaplus: objectives and rankers of this library; lambda_X is the objective for the "
            "metric X."
        )
    if results.spreads:
        largest = (
            f"{label(metric)} {decimal(max(found))}"
            for metric in results.metrics
            if (found := [sd for (_, of), sd in results.spreads.items() if of == metric])
        )
        foot.append(f"Largest standard deviation (sd) over seeds: {', '.join(largest)}.")
    foot += [
        "time: training time, summed over folds, seeds and parameters.",
        *warnings_of(results),
    ]
    more = [] if narrow else ["by"]
    return Table(("method", *heads, "time", *more), rows, foot, narrow=narrow)


def _of_metric(
    summary: Summary, metric: str, narrow: bool
) -> tuple[list[str], dict[str, list[Any]]]:
    """The headings of a metric, and the cells of each method: means, intervals and spreads."""
    results, marks = summary.results, _marks(summary, metric)
    intervals = {} if summary.comparison is None else summary.comparison.intervals.get(metric, {})
    spread = not narrow and bool(results.spreads)
    heads = [label(metric).replace("@", "\n@" if narrow else "@")]
    if intervals:  # in the same column if tables may be split between columns
        heads = [f"{label(metric)}\n95 % interval"] if narrow else [*heads, "95 % interval"]
    cells: dict[str, list[Any]] = {}
    for method in results.methods:
        mark, mean = marks.get(method, " " * narrow), results.mean(method, metric)
        bounds = [range_of(intervals.get(method, (math.nan, math.nan)))] if intervals else []
        both = [Cell(" ".join([decimal(mean), *bounds]), mark)]
        cells[method] = both if bounds and narrow else [Cell(mean, mark), *bounds]
        if spread:
            cells[method].append(results.spreads.get((method, metric), math.nan))
    return [*heads, *(["sd"] if spread else [])], cells


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
