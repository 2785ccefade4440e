"""The conclusions of a study: significant differences, and the best methods."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lambdaplus.evaluation import Evaluation, RunComparison, compare_runs
from lambdaplus.evaluation.compare import mean_effect
from lambdaplus.evaluation.effects import ROUNDING
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.run_comparison import RunPair
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
    def runs(self) -> dict[str, list[Evaluation]]:
        """The values of each training of the finished methods."""
        runs = {method: self.results.runs(method) for method in self.results.methods}
        return {method: trained for method, trained in runs.items() if trained}

    @cached_property
    def comparison(self) -> RunComparison | None:
        """Significance of the differences; None for fewer than two finished methods."""
        if len(self.runs) < 2:
            return None
        baseline = self.results.config.baseline
        found = compare_runs(self.runs, baseline=baseline if baseline in self.runs else None)
        return replace(found, pairs=tuple(map(self._of_methods, found.pairs)))

    def replicated(self, metric: str, *methods: str) -> bool:
        """Whether there is more than one training to compare: folds, or seeds that change it."""
        spreads = [self.results.spreads.get((method, metric), 0.0) for method in methods]
        return len(self.results.folds) > 1 or max(spreads) > ROUNDING

    def _of_methods(self, pair: RunPair) -> RunPair:
        """The pair; without a test if it is of two models, with one training of each method."""
        if self.replicated(pair.metric, pair.first, pair.second):
            return pair
        nothing = math.nan
        return pair._replace(interval=(nothing,) * 2, p_value=nothing, p_corrected=nothing)

    def has_queries(self, metric: str) -> bool:
        """Whether a metric has a value for each query, and not only for the whole data set."""
        return len(self.results.values.filter(metric=metric)["query"].unique()) > 1

    def best(self, metric: str) -> str | None:
        """The finished method with the highest mean, the first among equals; None without means."""
        means = {method: self.results.mean(method, metric) for method in self.runs}
        defined = [method for method, mean in means.items() if not math.isnan(mean)]
        return max(defined, key=lambda method: means[method], default=None)

    def best_on_validation(self, metric: str, names: Iterable[str]) -> str:
        """Of these methods, the finished one that is best on validation data; empty if none is."""
        means = self.results.validation_means
        finished = [name for name in names if name in self.runs and (name, metric) in means]
        return max(finished, key=lambda name: means[name, metric], default="")

    def decision(self) -> list[str]:
        """Which method validation data chooses and by what, its test value, and what it cost."""
        results, metric = self.results, self.results.main_metric
        best = self.best_on_validation(metric, results.methods)
        lines = []
        if best:
            valid = results.validation_means[best, metric]
            line = f"Best by {label(metric)} on validation data: {best} ({decimal(valid)}"
            others = [name for name in results.methods if name != best]
            if second := self.best_on_validation(metric, others):
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
        """The 95 % interval of a test mean, over trainings if there are several."""
        return mean_effect(self.runs[method], metric).interval()

    @cached_property
    def verdicts(self) -> list[RunPair]:
        """For each metric, the best of lambdaplus and the best other method.

        Validation values choose both.  P-values and intervals are corrected for the number of
        metrics, by Bonferroni's method, so that an interval leaves out 0 if and only if the
        difference is significant.
        """
        methods, chosen = self.results.methods, []
        for metric in self.results.metrics:
            sides = [
                self.best_on_validation(
                    metric, [n for n, m in methods.items() if (m.origin == OURS) == ours]
                )
                for ours in (False, True)
            ]
            if all(sides):
                chosen.append((metric, *sides))
        m = len(chosen)
        return [
            pair._replace(p_corrected=float(np.minimum(1.0, m * pair.p_value)))
            for metric, other, ours in chosen
            for pair in self._tested(metric, ours, other, 1.0 - ALPHA / m)
        ]

    def _tested(self, metric: str, first: str, second: str, confidence: float) -> list[RunPair]:
        """The test of a method against another; none without values to test."""
        two = {name: [_with(metric, run) for run in self.runs[name]] for name in (first, second)}
        return [*map(self._of_methods, compare_runs(two, confidence=confidence).of(metric))]

    def conclusion(self) -> str:
        """Whether to leave the baseline, or else the best built-in method, in one sentence."""
        metric, baseline = self.results.main_metric, self.results.config.baseline
        pairs = [pair for pair in self.verdicts if pair.metric == metric]
        if baseline in self.runs:
            best = self.best_on_validation(metric, [name for name in self.runs if name != baseline])
            pairs = self._tested(metric, best, baseline, 1.0 - ALPHA) if best else []
        if not pairs:
            return ""
        [pair] = pairs
        if not self.replicated(metric, pair.first, pair.second):
            how = "pass --seeds 3, or use more folds"
            if not any(self.results.methods[name].random for name in pair[1:3]):
                how = "use more folds, since no seed changes them"
            return (
                f"One training of {pair.first} and of {pair.second} cannot tell the methods from "
                f"chance: {how}."
            )
        by = f"{decimal(abs(pair.difference), 3)} {label(metric)}"
        bounds = sorted(map(abs, pair.interval))
        said = f"by {by} ({decimal(bounds[0], 3)} to {decimal(bounds[1], 3)})"
        if outcome(pair) == "better":
            return f"{pair.first} is better than {pair.second} {said}."
        if outcome(pair) == "worse":
            return f"{pair.second} is better than {pair.first} {said}: keep it."
        return f"No significant difference from {pair.second}: keep it."

    @property
    def other_side(self) -> str:
        """What the methods that are not of lambdaplus are, in words."""
        results = self.results
        origins = {results.methods[name].origin for name in self.runs} - {OURS}
        return "other" if "yours" in origins else "built-in"


def _with(metric: str, run: Evaluation) -> Evaluation:
    """A run with the values of one metric."""
    return replace(run, per_query={metric: run.per_query[metric]})


def outcome(pair: RunPair) -> str:
    """Whether the first of a pair is significantly better or worse; empty for neither."""
    if pair.p_corrected < ALPHA and pair.better:
        return "better" if pair.better == pair.first else "worse"
    return ""
