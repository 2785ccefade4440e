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
from lambdaplus.study.summary import OURS, Summary, outcome
from lambdaplus.study.verdict import ALPHA, UNKNOWN
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
        ``*`` marks what validation data chooses in each column; arrows mark what is significantly
        above and below it or, with a baseline, the baseline.  Without queries, each metric has a
        column with its interval.

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
    results, comparisons, config = summary.results, summary.comparisons, summary.results.config
    over = f", and over the seeds {', '.join(map(str, config.seeds))}"
    over = over if len(config.seeds) > 1 else ""
    folds, nouns = count(len(results.folds), "fold"), results.nouns
    if results.n_rows:
        yield (
            f"Means over {folds}{over} of the value over all test rows of a fold "
            f"({count(results.n_rows, 'row')}). Higher is better."
        )
    else:
        yield (
            f"Means of test values over the {nouns.queries} of each fold, then over {folds} "
            f"({count(results.queries, f'test {nouns.query}', f'test {nouns.queries}')}){over}. "
            "Higher is better."
        )
        yield from _without_value(results)
    if summary.baseline and comparisons:
        yield f"{ABOVE} significantly above {summary.baseline}; {BELOW} significantly below it."
    else:
        arrows = f"; {ABOVE} {BELOW} significantly above or below it" if comparisons else ""
        yield f"* chosen by validation data{arrows}."
    if results.n_rows and "map" in results.metrics:
        yield "MAP of all rows in one ranking is their average precision."
    tool = find_convention(config.convention).tool.partition(":")[0]
    tied = "rows"
    if not results.n_rows:
        tied = f"{nouns.rows} and {nouns.queries} without a value"
    yield f"Tied {tied} follow {tool}'s convention."
    tested = (pair for one in comparisons.values() for pair in one.pairs)
    if any(not math.isnan(pair.p_value) for pair in tested):
        yield (
            f"Significant: p < {decimal(ALPHA, 2)} in a two-tailed t-test over {_over(summary)}, "
            "with Holm's correction over the methods of a column."
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
    seeds = bool(summary.results.spreads)
    of_fold = "rows" if summary.results.n_rows else summary.results.nouns.queries
    return f"{of_fold} and seeds" if seeds else "the means of folds"


def _without_value(results: Results) -> Iterator[str]:
    """How many test queries have no value, by the metrics of which that holds."""
    by_number: dict[int, list[str]] = {}
    for metric in results.metrics:
        if n := results.without_value(metric):
            by_number.setdefault(n, []).append(label(metric))
    of = count(results.queries, results.nouns.query, results.nouns.queries)
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
    compared = summary.comparisons.get(metric)
    if compared and compared.intervals:
        intervals = {name: summary.interval(name, metric) for name in summary.runs}
        bounds = {method: range_of(intervals.get(method, UNKNOWN)) for method in results.methods}
        columns[f"{name}\n95 % interval"] = bounds
    if results.spreads:
        spreads = {m: results.spreads.get((m, metric), math.nan) for m in results.methods}
        columns[f"{name}\nsd"] = spreads
    return columns


def _marks(summary: Summary, metric: str) -> dict[str, str]:
    """By method: * for the chosen one, arrows for what differs significantly from a reference."""
    arrows = {"better": ABOVE, "worse": BELOW, "": " "}
    compared = summary.comparisons.get(metric)
    marks = {pair.first: arrows[outcome(pair)] for pair in compared.pairs} if compared else {}
    if not summary.baseline:
        marks[summary.choice(metric).best] = "*"
    return marks


def verdict_table(summary: Summary) -> Table | None:
    """The best of lambdaplus and of the others by each metric, and their difference."""
    if not summary.verdicts:
        return None
    arrows = {"better": ABOVE, "worse": BELOW, "": " "}
    rows = [
        (
            label(one.metric),
            Cell((one.first, one.second)),
            Cell(decimal(one.difference, sign="+"), arrows[one.outcome]),
            range_of(one.interval, "+"),
            p_text(one.p_corrected, narrow=True),
        )
        for one in summary.verdicts
    ]
    heads, foot = _pair_in_words(summary)
    main = label(summary.results.main_metric)
    if len(summary.verdicts) > 1:
        foot.append(
            f"p of {main}, the main metric, is not corrected for others; theirs is, by Holm."
        )
    foot += _choices_in_words(summary)
    foot += _without_value(summary.results)
    return Table(("metric", heads, "diff.", "95 % interval", "p"), rows, foot, narrow=True, names=2)


def _pair_in_words(summary: Summary) -> tuple[str, list[str]]:
    """The heading of the two methods, and what is compared."""
    significant = (
        f"{ABOVE} {BELOW}: significant, which is p < {decimal(ALPHA, 2)}. Without an arrow, the "
        "difference can be chance."
    )
    if summary.baseline:
        head = "best other,\nthen the baseline"
        what = f"Validation data chooses the other method; diff.: it minus {summary.baseline}"
    elif all(map(summary.results.finished_of, summary.sides)):
        head = f"best lambdaplus,\nthen best {summary.other_side}"
        what = f"Both are chosen on validation data; diff.: lambdaplus minus {summary.other_side}"
    else:
        head = "best,\nthen next"
        what = "Both are chosen on validation data; diff.: the best minus the next"
    yours = "" if summary.baseline else " --baseline names the method that you use today."
    return head, [f"{what}, on test data. {significant}{yours}"]


def _choices_in_words(summary: Summary) -> list[str]:
    """How methods were chosen for the tests of each fold, if there was a choice."""
    results, main = summary.results, summary.main
    choices = summary.contenders(results.main_metric)
    if main is None or all(len(one.ranking) < 2 for one in choices):
        return []
    if main.tests > 1:
        return [
            "Folds in time, and fewer than four folds, leave no other folds to choose by: p and "
            "intervals are corrected for the number of choices, and test values of the best of "
            "many methods are a little too high."
        ]
    lines = [
        "For the test of each fold, methods are chosen by the validation data of other folds, "
        f"without {'rows' if results.n_rows else results.nouns.queries} that are tested there."
    ]
    vary = [one for one in summary.verdicts if one.words != (one.first, one.second)]
    lines += [f"By {label(one.metric)}: {one.words[0]} less {one.words[1]}." for one in vary]
    if vary:
        lines.append("There, diff. is not that of two means of the table of methods.")
    return lines


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
