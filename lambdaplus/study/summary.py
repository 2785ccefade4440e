"""The conclusions of a study: significant differences, and the best methods."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lambdaplus.evaluation import Evaluation, RunComparison, compare_runs
from lambdaplus.evaluation.compare import bounds_of, effect_of
from lambdaplus.evaluation.effects import of_difference, within
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.evaluation.run_comparison import RunPair
from lambdaplus.evaluation.significance import holm
from lambdaplus.study.conclusion import conclusion
from lambdaplus.study.crossed_choice import CrossedChoice
from lambdaplus.study.results import Results
from lambdaplus.study.verdict import ALPHA, LEAST_FREEDOM, UNKNOWN, Interval, Verdict
from lambdaplus.study.words import count, label, range_of

OURS = "lambdaplus"


@dataclass(frozen=True, eq=False)
class Summary:
    """Significant differences of a study, and the best methods.

    Parameters
    ----------
    results : Results
        If its configuration has a baseline, the others are compared with it, or else with the
        method that validation data chooses.  A baseline that has not finished every fold is not
        used.

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
        names = self.results.finished_of(self.results.methods)
        return {method: self.results.runs(method) for method in names}

    @property
    def baseline(self) -> str:
        """The baseline, if it has finished every fold, or else empty."""
        baseline = self.results.config.baseline
        return baseline if baseline in self.runs else ""

    # What validation data chooses -----------------------------------------------------------------

    def choice(self, metric: str, names: Iterable[str] | None = None) -> CrossedChoice:
        """The choice among methods with these names, by default all."""
        return CrossedChoice(
            self.results, metric, [*(self.results.methods if names is None else names)]
        )

    def best_on_validation(self, metric: str, names: Iterable[str]) -> str:
        """Of these methods, the finished one that is best on validation data; empty if none is."""
        return self.choice(metric, names).best

    def best(self, metric: str) -> str | None:
        """The finished method with the highest mean, the first among equals; None without means."""
        means = {method: self.results.mean(method, metric) for method in self.runs}
        defined = [method for method, mean in means.items() if not math.isnan(mean)]
        return max(defined, key=lambda method: means[method], default=None)

    @property
    def others(self) -> list[str]:
        """All methods but the baseline."""
        return [name for name in self.results.methods if name != self.baseline]

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The methods of lambdaplus, and the others."""
        methods = self.results.methods.items()
        ours = [name for name, method in methods if method.origin == OURS]
        return ours, [name for name, _ in methods if name not in ours]

    # Differences ----------------------------------------------------------------------------------

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """For each metric, the best of lambdaplus less the best other method, or the baseline.

        Validation values choose both.  The main metric, named beforehand, is not corrected for
        others; the p-values of the others are, by Holm's method.
        """
        found = [one for metric in self.results.metrics if (one := self._verdict(metric))]
        main = [one for one in found if one.metric == self.results.main_metric]
        secondary = [one for one in found if one not in main]
        corrected = holm(np.array([one.p_value for one in secondary]))
        p_values = dict(zip((one.metric for one in secondary), corrected.tolist(), strict=True))
        return [replace(one, p_corrected=p_values.get(one.metric, one.p_value)) for one in found]

    def contenders(self, metric: str) -> list[CrossedChoice]:
        """The choices whose best methods are compared; a single one of its two best methods."""
        if self.baseline:
            return [self.choice(metric, self.others)]
        both = [self.choice(metric, names) for names in self.sides]
        return both if all(one.best for one in both) else [self.choice(metric)]

    def _verdict(self, metric: str) -> Verdict | None:
        """The pair to decide on; None for fewer than two methods."""
        first, *others = self.contenders(metric)
        if not first.best:
            return None
        tests = first.tests
        if self.baseline:
            names, words = (first.best, self.baseline), (first.in_words(), self.baseline)
            runs = first.runs(), self.runs[self.baseline]
        elif others:
            [other] = others
            names, words = (first.best, other.best), (first.in_words(), other.in_words())
            runs, tests = (first.runs(), other.runs()), first.tests * other.tests
        elif len(first.ranking) > 1:
            names, words = (first.best, first.ranking[1]), (first.in_words(0), first.in_words(1))
            runs, tests = (first.runs(0), first.runs(1)), max(1, tests * (tests - 1) // 2)
        else:
            return None
        return self._tested(metric, names, words, runs, tests)

    def _tested(
        self, metric: str, names: tuple[str, str], words: tuple[str, str],
        runs: tuple[Sequence[Evaluation], Sequence[Evaluation]], tests: int,
    ) -> Verdict:  # fmt: skip
        effect = effect_of(metric, *([_with(metric, run) for run in of_one] for of_one in runs))
        tested = self.replicated(metric, *names) and effect.freedom >= LEAST_FREEDOM
        bounds = of_difference(bounds_of(runs[0][0], metric))
        return Verdict(metric, *names, effect, tested and effect.error > 0, words, tests, bounds)

    def replicated(self, metric: str, *methods: str) -> bool:
        """Whether there is more than one training to compare: folds, or seeds that change it."""
        several = self.results.n_seeds(*methods) > 1
        return len(self.results.folds) > 1 or (
            several and self.results.changed_by_seeds(metric, *methods)
        )

    @cached_property
    def comparisons(self) -> dict[str, RunComparison]:
        """By metric, each method compared with the baseline, or with the choice of validation data.

        P-values have Holm's correction over the methods of a column.  There are none for fewer than
        two finished methods.
        """
        found = {}
        for metric in self.results.metrics if len(self.runs) > 1 else ():
            choice = self.choice(metric)
            if reference := self.baseline or choice.best:
                runs = {name: [_with(metric, run) for run in self.runs[name]] for name in self.runs}
                tests = 1.0
                if not self.baseline:
                    runs[reference] = [_with(metric, run) for run in choice.runs()]
                    # Without a choice by other folds, the tests are those of all pairs.
                    tests = 1.0 if choice.by_fold else len(self.runs) / 2
                compared = compare_runs(runs, baseline=reference)
                pairs = (self._of_methods(pair, tests) for pair in compared.pairs)
                found[metric] = replace(compared, pairs=tuple(pairs))
        return found

    def _of_methods(self, pair: RunPair, tests: float) -> RunPair:
        """The pair; without a test if it is of two models, or has one degree of freedom."""
        if (
            not self.replicated(pair.metric, pair.first, pair.second)
            or pair.freedom < LEAST_FREEDOM
        ):
            return pair._replace(interval=UNKNOWN, p_value=math.nan, p_corrected=math.nan)
        return pair._replace(p_corrected=float(np.minimum(1.0, tests * pair.p_corrected)))

    def has_queries(self, metric: str) -> bool:
        """Whether a metric has a value for each query, and not only for the whole data set."""
        return len(self.results.values.filter(metric=metric)["query"].unique()) > 1

    # Values ---------------------------------------------------------------------------------------

    def expected(self, choice: CrossedChoice) -> tuple[float, Interval]:
        """The test value of a choice, and its 95 % interval over trainings and queries."""
        return _value(choice.metric, choice.runs())

    def interval(self, method: str, metric: str) -> Interval:
        """The 95 % interval of a test mean, over trainings if there are several."""
        return _value(metric, self.runs[method])[1]

    # Words ----------------------------------------------------------------------------------------

    @property
    def main(self) -> Verdict | None:
        """The verdict on the main metric."""
        main = self.results.main_metric
        return next((one for one in self.verdicts if one.metric == main), None)

    def conclusion(self) -> str:
        """Whether one method is better, both are equal, or what it would take to know."""
        return conclusion(self.main, self.results, self.baseline) if self.main else ""

    @property
    def favoured(self) -> list[str]:
        """The two methods of the conclusion: the better one first, or else that of validation."""
        if (main := self.main) is None:
            return []
        names = [main.first, main.second]
        if main.outcome:
            return names if main.outcome == "better" else names[::-1]
        return self.choice(main.metric, names).ranking

    def decision(self) -> list[str]:
        """Which method validation data chooses and by what, its test value, and what it cost."""
        results, metric = self.results, self.results.main_metric
        choice = self.choice(metric)
        lines = []
        if choice.best:
            means = results.validation_means
            line = f"Best by {label(metric)} on validation data: {choice.best} "
            line += f"({decimal(means[choice.best, metric])}"
            if choice.ranking[1:]:
                second = choice.ranking[1]
                line += f"; next: {second}, {decimal(means[second, metric])}"
            value, bounds = self.expected(choice)
            said = "" if math.isnan(bounds[0]) else f" (95 % interval {range_of(bounds)})"
            own = decimal(value) == decimal(results.mean(choice.best, metric))
            by = "" if own else ", if other folds choose the method for each"
            lines.append(f"{line}). On test data{by}: {decimal(value)}{said}.")
        fits, seconds = count(results.finished, "fit"), sum(results.seconds.values())
        lines.append(
            f"{count(len(results.methods), 'method')} on {count(len(results.folds), 'fold')}: "
            f"{fits}, {seconds:,.0f} seconds of training."
        )
        return lines

    @property
    def other_side(self) -> str:
        """What the methods that are not of lambdaplus are, in words."""
        results = self.results
        origins = {results.methods[name].origin for name in self.runs} - {OURS}
        return "other" if "yours" in origins else "built-in"


def _with(metric: str, run: Evaluation) -> Evaluation:
    """A run with the values of one metric."""
    return replace(run, per_query={metric: run.per_query[metric]})


def _value(metric: str, runs: Sequence[Evaluation]) -> tuple[float, Interval]:
    """The mean of test values, and its 95 % interval; NaN with one degree of freedom."""
    effect = effect_of(metric, [_with(metric, run) for run in runs])
    if effect.freedom < LEAST_FREEDOM:
        return effect.mean, UNKNOWN
    return effect.mean, within(effect.interval(), bounds_of(runs[0], metric))


def outcome(pair: RunPair) -> str:
    """Whether the first of a pair is significantly better or worse; empty for neither."""
    if pair.p_corrected < ALPHA and pair.better:
        return "better" if pair.better == pair.first else "worse"
    return ""
