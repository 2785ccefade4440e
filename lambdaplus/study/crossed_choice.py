"""Which method validation data chooses, without the queries on which the choice is tested.

Validation queries of one fold are often test queries of another, as in rotated folds.  The best of
many methods by all validation values is then also the luckiest on the test queries, and a method is
luckiest with the seeds with which it was trained.  So for the test of a fold, methods are chosen by
the validation values of other folds, of which none has validation queries in this test part
(`docs/research/mathematics/trainings.md`).

With folds by time, and with three folds or fewer, there are too few such folds.  Tests are then
corrected for the number of choices instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Evaluation
from lambdaplus.study.results import Results
from lambdaplus.study.words import count

FEWEST = 2
"""Folds whose validation values choose for the test of another."""


@dataclass(frozen=True, eq=False)
class CrossedChoice:
    """The choice of a method by validation values, for a metric, among methods with these names.

    Methods that have not finished every fold are not chosen.
    """

    results: Results
    metric: str
    names: Sequence[str]

    @cached_property
    def ranking(self) -> list[str]:
        """The finished methods by their validation values on all folds, the best first."""
        means = self.results.validation_means
        names = self.results.finished_of(self.names)
        known = [name for name in names if (name, self.metric) in means]
        return sorted(known, key=lambda name: -means[name, self.metric])

    @property
    def best(self) -> str:
        """The best by all validation values, the first among equals; empty if there is none."""
        return self.ranking[0] if self.ranking else ""

    @cached_property
    def by_fold(self) -> dict[str, list[str]] | None:
        """For the test of each fold, the methods by validation values of others, the best first.

        None if too few folds have such values.
        """
        found = {}
        for fold, others in self.results.apart.items():
            values = {name: self._values(others, name) for name in self.ranking}
            if len(others) < FEWEST or any(len(each) < FEWEST for each in values.values()):
                return None
            means = {name: float(np.mean(each)) for name, each in values.items()}
            found[fold] = sorted(self.ranking, key=lambda name: -means[name])
        return found

    def _values(self, folds: Iterable[str], method: str) -> list[float]:
        values = self.results.validation_by_fold.get((method, self.metric), {})
        return [values[fold] for fold in folds if fold in values]

    @property
    def tests(self) -> int:
        """How many methods the chosen one is the best of, for a correction; 1 if it needs none."""
        return 1 if self.by_fold else max(1, len(self.ranking))

    def runs(self, place: int = 0) -> list[Evaluation]:
        """The test values of the chosen method, fold by fold; ``place`` 1 is the second best."""
        chosen = self.by_fold or dict.fromkeys(self.results.folds, self.ranking)
        return [
            run
            for fold, ranking in chosen.items()
            for run in self.results.runs_by_fold(ranking[place])[fold]
        ]

    def times_chosen(self, place: int = 0) -> dict[str, int]:
        """On how many folds each method is the one that is tested, the best of all folds first."""
        if self.by_fold is None:
            return {self.ranking[place]: len(self.results.folds)}
        chosen = [ranking[place] for ranking in self.by_fold.values()]
        return {name: chosen.count(name) for name in self.ranking if name in chosen}

    def in_words(self, place: int = 0) -> str:
        """The method that is tested, or those of the folds if other folds choose several."""
        times = self.times_chosen(place)
        if len(times) == 1 and self.ranking[place] in times:
            return self.ranking[place]
        each = ", ".join(f"{name} on {count(n, 'fold')}" for name, n in times.items())
        if (best := self.ranking[place]) not in times:
            each += f"; {best} by all folds"
        return f"the choice by other folds ({each})"


def validated_apart(folds: Sequence[Fold]) -> dict[str, list[str]]:
    """For each fold, the others whose validation data has none of its test queries.

    A query is the same if its identifier, its labels, and its first and last row are; rows of a
    table without queries are the same if all rows are.
    """
    tested = {fold.name: _identities(fold.test) for fold in folds}
    validated = {fold.name: _identities(fold.valid) for fold in folds}
    return {
        fold: [
            other
            for other, queries in validated.items()
            if other != fold and queries.isdisjoint(tested[fold])
        ]
        for fold in tested
    }


def _identities(part: RankingData) -> set[tuple[str, bytes, bytes]]:
    bounds = part.queries.boundaries if part.grouped else np.array([0, part.labels.size])
    features = part.features
    return {
        (
            str(part.qid[begin]),
            part.labels[begin:end].tobytes(),
            features[[begin, end - 1]].tobytes(),
        )
        for begin, end in itertools.pairwise(bounds.tolist())
    }
