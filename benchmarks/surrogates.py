"""Choose what weighs the pairs of metrics that few swaps change, on validation queries.

    python benchmarks/surrogates.py SET [SET ...] [--draws 5]

MRR, success, precision, recall and F1 at a cutoff change only if a document crosses a rank, or if
the first relevant document moves, so most pairs have no weight.  Candidates weigh pairs by another
metric.  SET is named as in `ranking_sets.folds_by_name`.  Draws, folds, values and stored trainings
are those of `defaults.py`.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from defaults import PAIRS_ALONE, TRAINERS, Training, read_arguments, trained
from differences import FRAMEWORKS, Values, difference
from numpy.typing import ArrayLike
from one_line import OWN
from ranking_sets import KNOWN_ITEMS
from tables import Tested, keep

from lambdaplus import LambdaObjective, combine, lambda_objective
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Table
from lambdaplus.metrics import Declaration, components
from lambdaplus.objectives import Objective
from lambdaplus.ranking.queries import Queries
from lambdaplus.study import Method, find_methods

METRICS = (
    "mrr", "success@1", "success@5", "p@5", "p@10", "recall@10", "f1@10", "rprec",
    "top_precision(fraction=0.1)",
)  # fmt: skip
SAME_FOR_KNOWN_ITEMS = METRICS[3:]  # as MRR or success if one document is relevant
REFERENCE = "reciprocal_ranks"


@dataclass(unsafe_hash=True)
class OverNoisyRankings(Objective):
    """The mean gradient of an objective at scores with logistic noise."""

    of: LambdaObjective
    scale: float = 0.5
    rankings: int = 8

    def __post_init__(self) -> None:
        self.metric, self.one_group = self.of.metric, False

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        clean = np.asarray(scores, dtype=np.float64)
        rng = np.random.default_rng(zlib.crc32(clean.tobytes()))
        noisy = (
            clean + rng.logistic(scale=self.scale, size=clean.size) for _ in range(self.rankings)
        )
        both = [self.of.derivatives(queries, one) for one in noisy]
        return np.mean([one[0] for one in both], axis=0), np.mean([one[1] for one in both], axis=0)


def _weighed_by(metric: str | Declaration, **options: Any) -> Any:
    return lambda_objective(metric, **{**PAIRS_ALONE, "surrogate": metric, **options})


SUM = Declaration(
    name="reciprocal_ranks",
    title="Sum of the reciprocal ranks of all relevant documents, divided by its best value",
    source="NDCG with the discount 1 / rank; MRR for one relevant document",
    binary=True,
    discount=components.reciprocal,
    gain=components.relevance,
    normalizer=lambda counts: counts.ideal(components.relevance(counts)),
)

CANDIDATES: dict[str, Any] = {
    "reciprocal_ranks": _weighed_by(SUM),
    "reciprocal_ranks, damped": _weighed_by(SUM, damping=0.01),
    "reciprocal_ranks + auc": combine({_weighed_by(SUM): 1.0, _weighed_by("auc"): 1.0}),
    "mrr": _weighed_by("mrr"),
    "mrr, noisy": OverNoisyRankings(_weighed_by("mrr")),
    "map": _weighed_by("map"),
    "auc": _weighed_by("auc"),
    "ndcg": _weighed_by("ndcg"),
}


def contenders(framework: str) -> list[Method]:
    own = find_methods(",".join(f"{framework}:{name}" for name in OWN[framework]))
    trainer = TRAINERS[framework]
    ours = [Method(f"{framework}:{n}", trainer, c, "ndcg") for n, c in CANDIDATES.items()]
    return [*ours, *own]


def values_of(trainings: list[Training], metric: str) -> Values:
    """The values of each draw by "framework:candidate" and set, and of both frameworks' means."""
    values: Values = {}
    for one in trainings:
        if not (one.on.endswith(KNOWN_ITEMS) and metric in SAME_FOR_KNOWN_ITEMS):
            mine = values.setdefault(f"{one.framework}:{one.name}", {})
            mine[one.on] = np.append(mine.get(one.on, []), one.value[metric])
    for name in CANDIDATES:
        both = [values[f"{framework}:{name}"] for framework in TRAINERS]
        values[name] = {on: np.mean([one[on] for one in both], axis=0) for on in both[0]}
    return values


def table_of(trainings: list[Training], metric: str) -> Table:
    """The difference of each candidate, and of the frameworks' own objectives, from the reference.

    Columns of sets have the mean of both frameworks, or the framework of an objective of its own.
    """
    values = values_of(trainings, metric)
    sets = list(values[REFERENCE])
    kinds = {
        "all": sets,
        "graded": [on for on in sets if not on.endswith(KNOWN_ITEMS)],
        "known items": [on for on in sets if on.endswith(KNOWN_ITEMS)],
    }
    kinds = {kind: some for kind, some in kinds.items() if some and (kind == "all" or some != sets)}
    means = {name: np.mean([values[name][on].mean() for on in sets]) for name in CANDIDATES}
    own = [f"{framework}:{name}" for framework in TRAINERS for name in OWN[framework]]
    rows = []
    for name in [*sorted(CANDIDATES, key=lambda n: -means[n]), *own]:
        framework = name.partition(":")[0] if name in own else ""
        base = f"{framework}:{REFERENCE}" if framework else REFERENCE
        cells: list[Tested | str] = [
            difference(values, name, base, some).cell for some in kinds.values()
        ]
        for one in TRAINERS:
            pair = f"{one}:{name}", f"{one}:{REFERENCE}"
            cells.append("" if framework else difference(values, *pair, sets).cell)
        cells += [f"{difference(values, name, base, [on]).mean:+.4f}" for on in sets]
        rows.append([name, *cells])
    foot = (
        f"validation {metric} less that of {REFERENCE}, in the same framework or on the mean of "
        "both; ±: standard error over draws, each on a fold of its own; t-tests"
    )
    heads = [*kinds, *(f"{FRAMEWORKS[name]}, all" for name in TRAINERS), *sets]
    return Table(["pairs weighed by", *heads], rows, [foot])


def main() -> None:
    given = read_arguments("surrogates", __doc__.splitlines()[0])
    every = [method for framework in TRAINERS for method in contenders(framework)]
    trainings = []
    for data in given.sets:
        trainings += trained(data, every, METRICS, given.draws, given.kept, given.jobs)
    keep(
        given.results,
        " ".join(["python benchmarks/surrogates.py", *sys.argv[1:]]),
        {metric: table_of(trainings, metric) for metric in METRICS},
    )


if __name__ == "__main__":
    main()
