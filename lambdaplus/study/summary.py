"""The conclusions of a study: significant differences, and the best methods."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from lambdaplus.evaluation import Evaluation, RunComparison, compare_runs
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.run_comparison import Pair
from lambdaplus.study.results import Results
from lambdaplus.study.words import count, label, range_of

ALPHA = 0.05  # of verdicts
OURS = "lambdaplus"


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
            value, bounds = decimal(results.mean(best, metric)), self.interval(best, metric)
            lines.append(f"{line}). On test data: {value} (95 % interval {range_of(bounds)}).")
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


def outcome(pair: Pair) -> str:
    """Whether the first of a pair is significantly better or worse; empty for neither."""
    if pair.p_corrected < ALPHA and pair.better:
        return "better" if pair.better == pair.first else "worse"
    return ""
