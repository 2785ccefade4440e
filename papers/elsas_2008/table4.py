"""Table 4: the committee perceptron beside RankSVM, RankBoost and other perceptrons."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lambdaplus.evaluation import Cell, Evaluation, Table, compare_runs, evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Choice, Method, Study
from lambdaplus.study.estimator_trainer import train_estimator

# The paper's discounts are 1, 1, 1/log2 3, ..., as its own toy example shows.
COLUMNS = {"MAP": "map", **{f"NDCG@{k}": f"ndcg(discount=letor)@{k}" for k in (1, 5, 10)}}
METRICS = tuple(str(parse_metric(name)) for name in COLUMNS.values())
NDCG_10 = METRICS[-1]
COMMITTEES = ("Com 30 A", "Com 30 B")
BASELINES = ("RankBoost", "RankSVM")
VARIANTS = ("Pocket", "Average")
MARKS = {"RankBoost": "*", "RankSVM": "†"}
LEVEL = 0.05

PAPER = {
    "RankSVM": ("0.447*", "0.495", "0.458", "0.441"),
    "RankBoost": ("0.440", "0.498", "0.450", "0.436"),
    "Com 30 A": ("0.447*", "0.539", "0.464", "0.450"),
    "Com 30 B": ("0.449*", "0.558†*", "0.464", "0.447"),
    "Pocket": ("0.440", "0.510", "0.426", "0.418"),
    "Average": ("0.443", "0.508", "0.445", "0.429"),
}


def perceptron(name: str, passes: int, **options: object) -> Method:
    """A perceptron that stops after the pass that is best on validation data."""
    target = "lambdaplus.baselines:CommitteePerceptron"
    return Method(name, train_estimator, target, NDCG_10, {"n_iter": passes, **options})


def systems(passes: int) -> list[Method]:
    """The rows of Table 4."""

    def other(name: str, fixed: dict[str, object], grid: dict[str, list[float]]) -> Method:
        target = f"lambdaplus.baselines:{name}"
        return Method(name, train_estimator, target, NDCG_10, fixed, grid, random=False)

    return [
        other("RankSVM", {}, {"C": np.logspace(-4, 4, 9).tolist()}),
        other("RankBoost", {"n_rounds": 300}, {}),
        perceptron("Com 30 A", passes, committee_size=30),
        perceptron("Com 30 B", passes, committee_size=30, combine="borda"),
        perceptron("Pocket", passes, variant="pocket"),
        perceptron("Average", passes, variant="average"),
    ]


def evaluations(study: Study, method: Method) -> list[Evaluation]:
    """All test queries by each seed; one without relevant documents counts 0, as in LETOR."""
    by_seed: dict[int, list[Choice]] = {}
    for choice in study.choices(method):
        by_seed.setdefault(choice.seed, []).append(choice)
    return [
        evaluate(
            np.concatenate([choice.fold.test.labels for choice in folds]),
            np.concatenate([choice.model.test_scores for choice in folds]),
            qid=[f"{choice.fold.name} {qid}" for choice in folds for qid in choice.fold.test.qid],
            metrics=METRICS,
            empty=0,
        )
        for folds in by_seed.values()
    ]


@dataclass(frozen=True, eq=False)
class Table4:
    """What Table 4 says, of our fits.

    Attributes
    ----------
    runs : dict of str to list of Evaluation
        By system, one for each seed; a system without a random number has one.
    passed : dict of (str, str) to list of int
        Of one system over another, by metric: seeds whose one-tailed paired t-test passes.
    n_seeds : int
    """

    runs: dict[str, list[Evaluation]]
    passed: dict[tuple[str, str], list[int]]
    n_seeds: int

    @classmethod
    def of(cls, study: Study) -> Table4:
        runs = {method.name: evaluations(study, method) for method in study.methods}
        n_seeds = max(map(len, runs.values()))
        passed = {pair: [0] * len(METRICS) for pair in itertools.permutations(runs, 2)}
        for seed in range(n_seeds):
            # A system without seeds meets each of the others'.
            at = {name: found[seed % len(found)] for name, found in runs.items()}
            compared = compare_runs(at, test="t", alternative="greater", correction="none")
            for pair in compared.pairs:
                if pair.p_value < LEVEL:
                    passed[pair.first, pair.second][METRICS.index(pair.metric)] += 1
        return cls(runs, passed, n_seeds)

    def means(self, name: str) -> list[float]:
        """By metric, over queries and seeds."""
        return [float(np.mean([run.mean[m] for run in self.runs[name]])) for m in METRICS]

    def mostly(self, better: str, worse: str) -> list[bool]:
        """By metric: whether the test passes with more than half of the seeds."""
        return [2 * n > self.n_seeds for n in self.passed[better, worse]]

    @property
    def table(self) -> Table:
        """Means, marked as the paper's are, with the paper's beside."""
        rows = []
        for name in self.runs:
            cells: list[object] = [name]
            for k, (mean, paper) in enumerate(zip(self.means(name), PAPER[name], strict=True)):
                marks = "".join(
                    mark
                    for other, mark in MARKS.items()
                    if other != name and self.mostly(name, other)[k]
                )
                cells += [Cell(mean, marks), paper]
            rows.append(cells)
        heads = [head for name in COLUMNS for head in (name, "paper")]
        return Table(
            ("", *heads),
            rows,
            (
                f"Means over test queries and {self.n_seeds} seeds. * and †: better than RankBoost "
                "and RankSVM by a one-tailed paired t-test at .05, with more than half of the "
                "seeds.",
            ),
            narrow=True,
        )

    @property
    def tests(self) -> Table:
        """Of the seeds, how many pass each test."""
        rows = [
            [f"{one} > {other}", *(f"{n}/{self.n_seeds}" for n in self.passed[one, other])]
            for one, other in self._tested()
        ]
        return Table(("better than", *COLUMNS), rows)

    def _tested(self) -> Iterator[tuple[str, str]]:
        for committee, other in itertools.product(COMMITTEES, BASELINES + VARIANTS):
            yield committee, other
            yield other, committee
        yield "RankSVM", "RankBoost"
        yield "RankBoost", "RankSVM"
