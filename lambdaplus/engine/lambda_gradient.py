"""The gradient of a metric on a data set, at any scores: one round from top to bottom.

Queries are ranked and merged into entries (`lambdaplus.ranking.sort`), or the scores of long ones
are rounded.  The entries are put into `ranked_lists` with potentials; sums over their pairs
(`sums`) are normalised; and rows get the values of their entry.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats, Ints, Rows
from lambdaplus.compute.collective import Workers
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_batches
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.engine.label_tree import rising, split_labels
from lambdaplus.engine.ranked_lists import NONE, Batch, Sums, no_sums, ranked_lists
from lambdaplus.engine.rounded_tree import RoundedLabelTree
from lambdaplus.engine.sums import add_pairs
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.forms.form import MetricArrays
from lambdaplus.ranking.rounding import MOST_CLASSES, refuse_many_classes, round_scores
from lambdaplus.ranking.sort import Entries, merge_ties, rank_some

NOTHING = 1e-100  # sums below this consist of the TINY that the sweep adds


@dataclass
class LambdaGradient:
    """The gradient of a metric on a data set, at any scores.

    The data set may keep it (`Queries.once`), so it has arrays of the data set, and is passed the
    data set itself.
    """

    metric: RankingMetric
    equal_pairs: bool  # whether all pairs of two classes have the same weight
    arrays: MetricArrays
    copies: Floats | None  # multiplicities of the rows
    workers: Workers  # those that have a part of the rows of one list
    as_log_loss: bool  # whether the sum of its absolute values is that of log-loss, ``total``
    total: float
    of_class: Floats  # factors of the Hessians of each class; empty if these are 1
    sigma: float
    normalize: bool
    all_pairs: bool  # visit every pair instead of using the sweep
    to_round: list[int]  # the queries whose scores are rounded
    batches: dict[tuple[int, int], Batch] = field(default_factory=dict)

    def at(self, queries: Queries, scores: ArrayLike, dtype: type = np.float64) -> tuple[Any, Any]:
        """Gradient and Hessian of every row times its weight, (n,) of this type each."""
        boundaries = queries.boundaries
        # Rounding reads scores of either type.
        checked = queries.check_scores(scores, single=self.to_round == [0] and boundaries.size == 2)
        out: tuple[Any, Any] = np.empty(checked.size, dtype), np.empty(checked.size, dtype)
        start = 0
        for q in [*self.to_round, boundaries.size - 1]:
            if q > start:
                of_batch = partial(self._of_queries, queries, start, checked, out)
                over_batches(of_batch, boundaries[start : q + 1])
            if q < boundaries.size - 1:
                few_classes = np.diff(self.arrays.strata)[q] <= MOST_CLASSES
                write = self._of_rounded if few_classes else self._of_many_labels
                write(queries, q, checked, out)
            start = q + 1
        return out

    def _of_queries(
        self, queries: Queries, start: int, scores: Floats, out: Any, first: int, last: int
    ) -> None:
        """Write the gradient of the queries start + first to start + last - 1."""
        batch = self._batch(queries, start + first, start + last)
        boundaries, weights = batch.boundaries, queries.weights
        ranking = rank_some(boundaries, scores, queries.row_order[boundaries[0] : boundaries[-1]])
        entries, first_rank = merge_ties(boundaries, *ranking, self.arrays.code, self.copies)
        sums, factor = self._of_entries(batch, entries), NONE if weights is None else weights
        write_rows(ranking.row, first_rank, sums.gradient, sums.hessian, factor, *out)

    def _of_rounded(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of a long query of few classes."""
        rows, weights = slice(*queries.boundaries[q : q + 2]), queries.weights
        n_classes = int(np.diff(self.arrays.strata)[q])
        code, copies = self.arrays.code[rows], self.copies
        rounded = round_scores(scores[rows], code, n_classes, copies, self.workers)
        sums = self._of_entries(self._batch(queries, q, q + 1), rounded.entries)
        weight = None if weights is None else weights[rows]
        rounded.write_rows(sums.gradient, sums.hessian, weight, *(part[rows] for part in out))

    def _of_many_labels(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of a long query of many labels."""
        arrays, rows = self.arrays, slice(*queries.boundaries[q : q + 2])
        strata = slice(*arrays.strata[q : q + 2])
        count = queries.strata(self.metric.relevant).count[strata].astype(np.int64)
        tree = RoundedLabelTree(
            scores[rows],
            queries.row_order[rows] - rows.start,
            arrays.code[rows],
            np.append(0, np.cumsum(count)),
            gain=weighing_gains(self.metric, self.equal_pairs, arrays)[strata],
            discount=NONE if self.equal_pairs else arrays.discount[: count.sum()],
            sigma=self.sigma,
        )
        sums = tree.sums()
        factor = self._factor(sums, arrays.scale[q : q + 1])
        weight = 1.0 if queries.weights is None else queries.weights[rows][tree.order]
        for part, total in zip(out, (sums.gradient, sums.hessian), strict=True):
            part[rows][tree.order] = factor * total * weight

    def _batch(self, queries: Queries, first: int, last: int) -> Batch:
        if (first, last) not in self.batches:
            some = first, last, queries.boundaries, self.arrays
            self.batches[first, last] = Batch.of(self.metric, self.equal_pairs, *some)
        return self.batches[first, last]

    def _of_entries(self, batch: Batch, entries: Entries) -> Sums:
        """Gradient and Hessian of a document of each entry."""
        sums, weighted = no_sums(entries.score.size, batch.scale.size), self.copies is not None
        for lists in ranked_lists(self.metric, self.equal_pairs, batch, entries, weighted):
            splits = batch.may_split and not self.all_pairs
            for part in split_labels(lists) if splits else [lists]:
                add_pairs(part, self.sigma, self.all_pairs, sums)
        share_out(entries, self._factor(sums, batch.scale), self.of_class, sums)
        return sums

    def _factor(self, sums: Sums, scale: Floats) -> Floats:
        """What multiplies the sums of each query; ``scale`` is 1 / Z."""
        if self.normalize and self.as_log_loss:
            size = float(np.abs(sums.gradient).sum())
            scale = np.full(1, self.total / size) if size * scale[0] > NOTHING else scale
        elif self.normalize:
            S, out = sums.received * scale, scale.copy()
            scale = np.divide(np.log1p(S) / math.log(2.0), sums.received, out=out, where=S > 0)
        return scale


def weighing_gains(metric: RankingMetric, equal_pairs: bool, arrays: MetricArrays) -> Floats:
    """Gains whose differences weight pairs; empty if all pairs of labels weigh the same."""
    return NONE if equal_pairs and metric.declaration.form.potentials_by_classes else arrays.gain


def queries_to_round(
    metric: RankingMetric, equal_pairs: bool, arrays: MetricArrays, queries: Queries
) -> list[int]:  # fmt: skip
    """The long queries whose scores are rounded: those of few classes, and some of many.

    `RoundedLabelTree` sums over the pairs of many labels.
    """
    workers = queries.workers_of_list
    if workers.size > 1:  # each has a part of the scores
        refuse_many_classes(arrays.gain.size, f"{metric} over all rows on {workers.size} workers")
        return [0]
    is_long = queries.sizes >= THRESHOLDS.long_list
    if not is_long.any():
        return []
    strata, n_classes = arrays.strata, np.diff(arrays.strata)
    rounded = n_classes <= MOST_CLASSES
    of_gains = equal_pairs or not metric.declaration.form.potentials_by_classes
    with_many_labels = of_gains and not metric.compares_some
    if with_many_labels and queries.multiplicities is None:
        gains = weighing_gains(metric, equal_pairs, arrays)
        longer = queries.sizes >= THRESHOLDS.long_list_of_labels
        rounded |= longer & rising(strata[:-1], n_classes, gains)
    found: list[int] = np.flatnonzero(is_long & rounded).tolist()
    return found


@compiled(error_model="numpy")
def share_out(entries: Entries, factor: Floats, of_class: Floats, sums: Sums) -> None:
    """Multiply sums by the factor of their query; each document of an entry gets its share."""
    (edges, _, code, _, weight), (gradient, hessian, _) = entries, sums
    for q in range(edges.size - 1):
        for e in range(edges[q], edges[q + 1]):
            # Of documents whose weight is 0, there is nothing to share.
            share = factor[q] / weight[e] if weight[e] > 0.0 else 0.0
            gradient[e] *= share
            hessian[e] *= share
            if of_class.size:
                hessian[e] *= of_class[code[e]]


@compiled
def write_rows(
    row: Rows, first_rank: Ints, slope: Floats, bend: Floats, weight: Floats, gradient: Floats,
    hessian: Floats,
) -> None:  # fmt: skip
    """Write the values of each entry to its rows."""
    for e in range(first_rank.size - 1):
        for r in range(first_rank[e], first_rank[e + 1]):
            times = weight[row[r]] if weight.size else 1.0
            gradient[row[r]] = slope[e] * times
            hessian[row[r]] = bend[e] * times
