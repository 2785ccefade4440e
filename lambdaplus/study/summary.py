"""The conclusions of a study: significant differences, and sentences about the best methods."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lambdaplus.evaluation import Evaluation, RunComparison, compare_runs
from lambdaplus.evaluation.significance import TESTS
from lambdaplus.study.results import Results

MOST_NAMES = 6  # in a sentence; with more methods, it counts them


@dataclass(frozen=True, eq=False)
class Summary:
    """Significant differences of a study, and sentences about them.

    Parameters
    ----------
    results : Results
    baseline : str, optional
        Method with which the others are compared; by default all pairs are compared.  A baseline
        that has not finished every fold is not used.

    Raises
    ------
    ValueError
        If the baseline is not one of the methods.
    """

    results: Results
    baseline: str | None = None

    def __post_init__(self) -> None:
        if self.baseline is not None and self.baseline not in self.results.methods:
            names = ", ".join(self.results.methods)
            raise ValueError(f"baseline={self.baseline!r} is not one of the methods: {names}")

    @cached_property
    def main_metrics(self) -> list[str]:
        """The metrics that some method optimises, or all if there is none."""
        wanted = set(self.results.about.criteria.values())
        metrics = self.results.metrics
        return [metric for metric in metrics if metric in wanted] or metrics

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
        baseline = self.baseline if self.baseline in self.evaluations else None
        return compare_runs(self.evaluations, baseline=baseline)

    def selector(self, method: str) -> str:
        """The metric that selected the models of a method, in words."""
        about = self.results.about
        if about.select:
            return label(str(about.select))
        return "each metric" if about.trials else label(about.criteria[method])

    def has_queries(self, metric: str) -> bool:
        """Whether a metric has a value for each query, and not only for the whole data set."""
        return any(len(e.per_query[metric]) == e.n_queries for e in self.evaluations.values())

    def best(self, metric: str, among: Sequence[str] | None = None) -> str | None:
        """The finished method with the highest mean, of all or of these; the first among equals."""
        names = self.evaluations if among is None else among
        means = {method: self.results.mean(method, metric) for method in names}
        finite = {method: mean for method, mean in means.items() if not math.isnan(mean)}
        return max(finite, key=lambda method: finite[method], default=None)

    def differences(self, metric: str) -> list[tuple[str, str]]:
        """The significant differences by a metric: the better method, and the worse one."""
        comparison = self.comparison
        return [] if comparison is None else [
            (pair.first, pair.second) if pair.difference > 0 else (pair.second, pair.first)
            for pair in comparison.of(metric)
            if pair.p_corrected < comparison.alpha
        ]  # fmt: skip

    def below(self, metric: str, method: str) -> list[str]:
        """The methods that are significantly worse than one by a metric."""
        return [worse for better, worse in self.differences(metric) if better == method]

    def above(self, metric: str, method: str) -> list[str]:
        """The methods that are significantly better than one by a metric."""
        return [better for better, worse in self.differences(metric) if worse == method]

    def sentences(self) -> list[str]:
        """The best method by each main metric; those with most significant differences first."""
        ranked = []
        for metric in self.main_metrics:
            best = self.best(metric)
            if best is not None:
                ranked.append((len(self.below(metric, best)), self._sentence(metric, best)))
        return [sentence for _, sentence in sorted(ranked, key=lambda item: -item[0])]

    def verdicts(self) -> list[str]:
        """What the comparison says of lambdaplus, in sentences."""
        return [said for said in (self.verdict(), self.below_by_own_metric()) if said]

    def verdict(self) -> str:
        """Whether the best of lambdaplus differs from the best of all others, in a sentence."""
        methods, comparison = self.results.about.methods, self.comparison
        sides = [
            [name for name in self.evaluations if (methods[name].origin == "lambdaplus") == ours]
            for ours in (True, False)
        ]
        if comparison is None or not all(sides):
            return ""
        by_outcome: dict[str, list[str]] = {}
        for metric in self.main_metrics:
            ours, others = (self.best(metric, side) or "" for side in sides)
            if any({pair.first, pair.second} == {ours, others} for pair in comparison.of(metric)):
                outcome = "no significant difference by "
                if others in self.below(metric, ours):
                    outcome = "significantly better by "
                elif others in self.above(metric, ours):
                    outcome = "significantly worse by "
                by_outcome.setdefault(outcome, []).append(label(metric))
        outcomes = sorted(by_outcome, key=lambda outcome: (outcome.startswith("no"), outcome))
        said = "; ".join(outcome + _listed(by_outcome[outcome]) for outcome in outcomes)
        return (
            f"Best lambdaplus method compared with the best other method: {said}." if said else ""
        )

    def below_by_own_metric(self) -> str:
        """Which objectives of lambdaplus are below the best by their own metric, and why."""
        methods = self.results.about.methods
        below = [
            f"{name} by {label(metric)}"
            for metric in self.results.metrics
            if (best := self.best(metric)) is not None
            for name in self.below(metric, best)
            if methods[name].origin == "lambdaplus" and name.partition(":lambda_")[2] == metric
        ]
        return (
            f"Significantly below the highest mean of its own metric: {_listed(below)}. An "
            "objective learns from the pairs that change its metric, so an objective that uses "
            "more pairs may be better even for this metric."
            if below
            else ""
        )

    def _sentence(self, metric: str, best: str) -> str:
        mean = self.results.mean(best, metric)
        highest = f"{label(metric)}: {best} has the highest mean ({mean:.4f})"
        comparison = self.comparison
        if comparison is None or not (pairs := comparison.of(metric)):
            return f"{highest}."
        if comparison.baseline is not None and len(pairs) > 1:
            above, below = (way(metric, comparison.baseline) for way in (self.above, self.below))
            return (
                f"{highest}. Significantly above the baseline {comparison.baseline}: "
                f"{_listed(above)}; significantly below: {_listed(below)}."
            )
        below = self.below(metric, best)
        others = [name for name in comparison.names if name != best]
        level = [name for name in others if name not in below]
        only = others[0] if len(others) == 1 else ""
        if not level:
            return f"{highest}, significantly above {only or 'every other method'}."
        if not below:
            return f"{highest}, but not significantly above {only or 'any other method'}."
        if len(others) > MOST_NAMES:
            return f"{highest}, significantly above {len(below)} of {len(others)} other methods."
        highest += f", significantly above {_listed(below)}"
        return f"{highest}; not significantly above {_listed(level)}."

    def notes(self) -> list[str]:
        """Notes below a table of means: what is averaged, and how differences were tested."""
        about = self.results.about
        unit = "split" if about.repeated else "fold"
        tested = f"{count(about.queries, 'test query', 'test queries')}"
        if about.repeated:
            tested += f", each tested {about.tested / about.queries:.3g} times on average"
        seeds = ", ".join(map(str, about.seeds))
        over = f", and over the seeds {seeds}" if len(about.seeds) > 1 else ""
        folds = count(len(self.results.folds), unit)
        lines = [
            f"Means of test values over the queries of each {unit}, then over {folds} ({tested})"
            f"{over}. Higher is better."
        ]
        if about.repeated:
            lines.append("Tests of significance count a query once, with its mean over the splits.")
        whose = about.convention.tool.partition(":")[0]
        lines.append(
            f"Ties and queries without relevant documents follow the convention of {whose}."
        )
        if (comparison := self.comparison) is not None:
            tail = "two-tailed" if comparison.alternative == "two-sided" else "one-tailed"
            lines.append(
                f"Significant: p < {comparison.alpha:g} in a {tail} {TESTS[comparison.test]} test "
                "over queries, with Holm's correction for the number of tests of each metric."
            )
        return lines


def label(metric: str) -> str:
    """The name of a metric for tables: MAP, NDCG@10, but auc(over=dataset)."""
    return metric if "(" in metric else metric.upper()


def count(n: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 fold, 1,000 folds."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
