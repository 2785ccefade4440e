"""The conclusions of a study: significant differences, the best methods, and tables of these."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from lambdaplus.evaluation import Cell, Evaluation, RunComparison, Table, compare_runs
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.run_comparison import Pair
from lambdaplus.evaluation.significance import TESTS
from lambdaplus.study.results import Results

ALPHA = 0.05  # of verdicts
OURS = "lambdaplus"
ABOVE, BELOW = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"


@dataclass(frozen=True, eq=False)
class Summary:
    """Significant differences of a study, and the best methods.

    Parameters
    ----------
    results : Results
        If its configuration has a baseline, the others are compared with it, or else all pairs.  A
        baseline that has not finished every fold is not used.

    Examples
    --------
    >>> from lambdaplus.study import Config, Summary, study_of
    >>> study = study_of(Config(methods=("lightgbm:lambda_map",), folds="1", rounds=2))
    >>> study.finish()
    >>> Summary(study.results).best("map")
    'lightgbm:lambda_map'
    """

    results: Results

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """Values of all test queries, for each finished method."""
        return {
            method: evaluation
            for method in self.results.methods
            if (evaluation := self.results.evaluation(method)) is not None
        }

    @cached_property
    def comparison(self) -> RunComparison | None:
        """Significance of the differences; None for fewer than two finished methods."""
        if len(self.evaluations) < 2:
            return None
        baseline = self.results.config.baseline
        return compare_runs(
            self.evaluations, baseline=baseline if baseline in self.evaluations else None
        )

    @property
    def pair_table(self) -> Table | None:
        """The differences of all pairs; None for fewer than two finished methods."""
        return self.comparison.pair_table if self.comparison else None

    def has_queries(self, metric: str) -> bool:
        """Whether a metric has a value for each query, and not only for the whole data set."""
        return any(len(e.per_query[metric]) == e.n_queries for e in self.evaluations.values())

    def best(self, metric: str) -> str | None:
        """The finished method with the highest mean, the first among equals; None without means."""
        means = {method: self.results.mean(method, metric) for method in self.evaluations}
        defined = [method for method, mean in means.items() if not math.isnan(mean)]
        return max(defined, key=lambda method: means[method], default=None)

    def chosen(self, metric: str, names: Iterable[str]) -> str:
        """Of these methods, the finished one that is best on validation data; empty if none is."""
        means = self.results.validation_means
        finished = [name for name in names if name in self.evaluations and (name, metric) in means]
        return max(finished, key=lambda name: means[name, metric], default="")

    def decision(self) -> list[str]:
        """Which method validation data chooses and by what, its test value, and what it cost."""
        results, metric = self.results, self.results.main_metric
        best = self.chosen(metric, results.methods)
        lines = []
        if best:
            valid = results.validation_means[best, metric]
            line = f"Best by {label(metric)} on validation data: {best} ({decimal(valid)}"
            others = [name for name in results.methods if name != best]
            if second := self.chosen(metric, others):
                line += f"; next: {second}, {decimal(results.validation_means[second, metric])}"
            low, high = (decimal(bound, 3) for bound in self.interval(best, metric))
            value = decimal(results.mean(best, metric))
            lines.append(f"{line}). On test data: {value} (95 % interval {low} to {high}).")
        fits, seconds = count(results.finished, "fit"), sum(results.seconds.values())
        lines.append(
            f"{count(len(results.methods), 'method')} on {count(len(results.folds), 'fold')}: "
            f"{fits}, {seconds:,.0f} seconds of training."
        )
        return lines

    def interval(self, method: str, metric: str) -> tuple[float, float]:
        """The 95 % interval of a test mean; NaN for one value over data with queries."""
        evaluation = self.evaluations[method]
        whole = len(evaluation.per_query[metric]) != evaluation.n_queries
        if whole and metric not in evaluation.rows:
            return math.nan, math.nan
        return evaluation.interval(metric)

    def differences(self, metric: str) -> list[tuple[str, str]]:
        """The significant differences by a metric: the better method, and the worse one."""
        comparison = self.comparison
        return [] if comparison is None else [
            (pair.better, pair.second if pair.better == pair.first else pair.first)
            for pair in comparison.of(metric)
            if pair.better and pair.p_corrected < comparison.alpha
        ]  # fmt: skip

    @cached_property
    def verdicts(self) -> list[Pair]:
        """For each metric, the best of lambdaplus and the best other method.

        Validation values choose both.  P-values and intervals are corrected for the number of
        metrics, by Bonferroni's method, so that an interval leaves out 0 if and only if the
        difference is significant.
        """
        methods, chosen = self.results.methods, []
        for metric in self.results.metrics:
            sides = [
                self.chosen(metric, [n for n, m in methods.items() if (m.origin == OURS) == ours])
                for ours in (False, True)
            ]
            if all(sides):
                chosen.append((metric, *sides))
        m = len(chosen)
        return [
            pair._replace(p_corrected=min(1.0, m * pair.p_value))
            for metric, other, ours in chosen
            for pair in self._tested(metric, other, ours, 1.0 - ALPHA / m)
        ]

    def _tested(self, metric: str, other: str, ours: str, confidence: float) -> list[Pair]:
        """The test of one of lambdaplus's methods against another; none without values to test."""
        whole = self.evaluations
        two = {
            name: replace(whole[name], per_query={metric: whole[name].per_query[metric]})
            for name in (ours, other)
        }
        return compare_runs(two, confidence=confidence).of(metric)

    @property
    def other_side(self) -> str:
        """What the methods that are not of lambdaplus are, in words."""
        results = self.results
        origins = {results.methods[name].origin for name in self.evaluations} - {OURS}
        return "other" if "yours" in origins else "built-in"

    def notes(self) -> list[str]:
        """Notes below a table of means: what is averaged, and how differences were tested."""
        results, config = self.results, self.results.config
        seeds = ", ".join(map(str, config.seeds))
        over = f", and over the seeds {seeds}" if len(config.seeds) > 1 else ""
        folds = count(len(results.folds), "fold")
        if results.n_rows:
            lines = [
                f"Means over {folds}{over} of the value over all test rows of a fold "
                f"({count(results.n_rows, 'row')}). Higher is better."
            ]
            if "map" in results.metrics:
                lines.append("MAP of rows without queries is their average precision.")
        else:
            tested = count(results.queries, "test query", "test queries")
            lines = [
                f"Means of test values over the queries of each fold, then over {folds} "
                f"({tested}){over}. Higher is better."
            ]
        tool = find_convention(config.convention).tool.partition(":")[0]
        tied = "rows" if results.n_rows else "documents and queries without relevant documents"
        lines.append(f"Tied {tied} follow {tool}'s convention.")
        if (comparison := self.comparison) is not None:
            test = f"{TESTS[comparison.test]} test over queries"
            if results.n_rows:
                test = "DeLong test (AUC) or bootstrap over rows"
            lines.append(
                f"Significant: p < {decimal(comparison.alpha, 2)} in a two-tailed {test}, with "
                "Holm's correction for the number of tests in the table."
            )
        return lines


def outcome(pair: Pair) -> str:
    """Whether the first of a pair is significantly better or worse; empty for neither."""
    if pair.p_corrected < ALPHA and pair.better:
        return "better" if pair.better == pair.first else "worse"
    return ""


def label(metric: str) -> str:
    """The name of a metric for tables: MAP, NDCG@10, but auc(over=dataset)."""
    return metric if "(" in metric else metric.upper()


def count(n: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 fold, 1,000 folds."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


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


def range_of(interval: tuple[float, float], sign: str = "") -> str:
    """An interval, such as .703 to .773 or -.002..+.013; a dash if it has no bounds."""
    if any(map(math.isnan, interval)):
        return "-"
    return (".." if sign else " to ").join(decimal(bound, 3, sign) for bound in interval)


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
