"""The gradient and Hessian of a ranking metric as a plain function.

Queries are ranked and merged into entries (`sort`), or the scores of long ones are rounded.  The
entries are put into ranked lists with potentials (`lists`); sums over pairs (`sums`) are
normalised; a part of them is replaced by log-loss (`pointwise`); and rows get those of their entry.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_batches
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import metric_arrays, scope
from lambdaplus.objectives.exponentials import PairShape
from lambdaplus.objectives.label_tree import rising, split_labels
from lambdaplus.objectives.lists import Sums, no_sums, ranked_lists, share_near_top
from lambdaplus.objectives.pair_options import PairOptions, PairWeights, refuse_pairs_of
from lambdaplus.objectives.pointwise import labels_from_gains, mix_log_loss
from lambdaplus.objectives.rounded_tree import ManyLabels
from lambdaplus.objectives.sums import add_pairs
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.rounding import MOST_CLASSES, refuse_many_classes, round_scores
from lambdaplus.ranking.sort import Entries, merge_ties, rank_some

NOTHING = 1e-100  # sums below this consist of the TINY that the sweep adds


# The options of pairs in `gradients`.
TEXTBOOK = {"sigma", "normalize", "damping", "truncation", "pointwise", "pairs"}


def is_table(weights: PairWeights, queries: Queries) -> bool:
    """Whether the data is a table to the metric: its gradient has the size of that of log-loss."""
    return not queries.divided and (weights.equal or not queries.grouped)


class LambdaGradient:
    """The gradient of a metric on a data set, at any scores.

    ``all_pairs`` visits every pair instead of using the sweep.  The data set may keep it
    (`Queries.once`), so it has arrays of the data set, and is passed the data set itself.
    """

    def __init__(
        self,
        weights: PairWeights,
        queries: Queries,
        options: PairOptions,
        all_pairs: bool = False,
    ) -> None:
        self.weights, self.all_pairs = weights, all_pairs
        self.metric = metric = weights.metric
        self.arrays, self.copies = metric_arrays(metric, queries), queries.multiplicities
        self.workers = queries.list_workers  # those that have a part of the rows of one list
        self.table = is_table(weights, queries)
        # Not for concordances, which have no gains, and rank correlations.
        rise = metric.gains_rise and bool(self.arrays.gain.any())
        chosen = options.chosen_for(weights, self.table)
        self.normalize, self.truncation = chosen.normalize, chosen.truncation
        self.shape = PairShape(float(chosen.sigma), float(chosen.damping or 0.0))
        self.labels = labels_from_gains(self.arrays) if rise else np.empty(0)
        self.pointwise = float(chosen.pointwise) if self.labels.any() else 0.0
        self.of_class = np.empty(0)  # factors of the Hessians of each class
        if metric.compares_some and not queries.divided:
            self.total = queries.longest / 2  # as for log-loss of two equal classes
        elif not queries.divided:
            count = queries.strata(metric.relevant).count
            # That of log-loss at the base rates, so that bounds of Hessians mean the same.
            self.total = float((count * (1.0 - count / count.sum())).sum())
            # Of classes, not of many labels.
            if options.balance and not queries.grouped and count.size <= MOST_CLASSES:
                # Rows of weight 0 do not count, nor do classes of such rows.
                self.of_class = (count * ((count > 0).sum() / count.sum())) ** options.balance
        labels_differ = self.arrays.strata[-1] > queries.n_queries
        if options.pointwise not in ("default", 0.0) and labels_differ and not self.pointwise:
            raise ValueError(
                f"{metric} has no pointwise part, as its gains are no labels: leave out pointwise"
            )
        self._refuse(queries)
        self.long = self._find_long(queries)

    def _refuse(self, queries: Queries) -> None:
        """Raise a ValueError for metrics and data that have no gradient."""
        gain = self.arrays.gain
        largest = float(np.abs(gain).max(initial=0.0)) * max(queries.longest, 1)
        scaled = 0.0 if self.normalize else largest * float(self.arrays.scale.max(initial=0.0))
        if largest > 1e300 or scaled > 1e30:
            raise ValueError(
                f"{self.metric} has gains up to {np.abs(gain).max():g}, whose sums over a query "
                "would be too large for its gradient: divide the labels by a constant"
            )
        if self.copies is not None:
            count = queries.strata(self.metric.relevant).count
            if (count > 0).sum() == 1 < count.size:
                raise ValueError(
                    f"{self.metric}: the rows of all classes but one have weight 0, so there is "
                    "nothing to rank: pass weights above 0 for some rows of the others"
                )

    def _find_long(self, queries: Queries) -> list[int]:
        """The queries whose scores are rounded: of few classes, or as `ManyLabels`."""
        if self.workers.size > 1:  # each has a part of the scores
            on = f"{self.metric} over all rows on {self.workers.size} workers"
            refuse_many_classes(self.arrays.gain.size, on)
            return [0]
        long = queries.sizes >= THRESHOLDS.long_list
        if self.all_pairs or not long.any():
            return []
        strata, n_classes = self.arrays.strata, np.diff(self.arrays.strata)
        rounded = n_classes <= MOST_CLASSES
        one_list = self.weights.equal or not self.metric.declaration.form.potentials_by_classes
        plain = self.copies is None and not self.metric.compares_some
        if one_list and plain and not self.truncation and not self.pointwise:
            rounded |= rising(strata[:-1], n_classes, self._gains)
        found: list[int] = np.flatnonzero(long & rounded).tolist()
        return found

    @property
    def _gains(self) -> Floats:
        """Gains whose differences weight pairs; empty if all pairs of labels weigh the same."""
        by_classes = self.metric.declaration.form.potentials_by_classes
        return np.empty(0) if self.weights.equal and by_classes else self.arrays.gain

    def at(self, queries: Queries, scores: ArrayLike, dtype: type = np.float64) -> tuple[Any, Any]:
        """Gradient and Hessian of every row times its weight, (n,) of this type each."""
        boundaries = queries.boundaries
        # Rounding reads scores of either type.
        checked = queries.check_scores(scores, single=self.long == [0] and boundaries.size == 2)
        out: tuple[Any, Any] = np.empty(checked.size, dtype), np.empty(checked.size, dtype)
        start = 0
        for long in [*self.long, boundaries.size - 1]:
            if long > start:
                some = boundaries[start : long + 1]
                over_batches(partial(self._of_queries, queries, start, checked, out), some)
            if long < boundaries.size - 1:
                few = np.diff(self.arrays.strata)[long] <= MOST_CLASSES
                write = self._of_rounded if few else self._of_many_labels
                write(queries, long, checked, out)
            start = long + 1
        return out

    def _of_queries(
        self, queries: Queries, start: int, scores: Floats, out: Any, first: int, last: int
    ) -> None:
        """Write the gradient of the queries start + first to start + last - 1."""
        first, last = start + first, start + last
        boundaries, weights = queries.boundaries[first : last + 1], queries.weights
        order = queries.row_order[boundaries[0] : boundaries[-1]]
        ranking = rank_some(boundaries, scores, order)
        entries, first_rank = merge_ties(boundaries, *ranking, self.arrays.code, self.copies)
        values, factor = self.values(first, entries), np.empty(0) if weights is None else weights
        _write(ranking.row, first_rank, values, factor, *out)

    def _of_rounded(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of a long query of few classes."""
        rows, weights = slice(*queries.boundaries[q : q + 2]), queries.weights
        n_classes = int(np.diff(self.arrays.strata)[q])
        code, copies = self.arrays.code[rows], self.copies
        rounded = round_scores(scores[rows], code, n_classes, copies, self.workers)
        weight = None if weights is None else weights[rows]
        rounded.write_rows(self.values(q, rounded.entries), weight, *(part[rows] for part in out))

    def _of_many_labels(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of a long query of many labels."""
        arrays, rows = self.arrays, slice(*queries.boundaries[q : q + 2])
        strata = slice(*arrays.strata[q : q + 2])
        count = queries.strata(self.metric.relevant).count[strata].astype(np.int64)
        order, many = ManyLabels.of_list(
            scores[rows],
            queries.row_order[rows] - rows.start,
            arrays.code[rows],
            np.append(0, np.cumsum(count)),
            gain=self._gains[strata],
            discount=np.empty(0) if self.weights.equal else arrays.discount[: count.sum()],
            shape=self.shape,
        )
        sums = many.sums()
        factor = self.factor(sums, arrays.scale[q : q + 1])[0]
        for part, total in zip(out, (sums.gradient, sums.hessian), strict=True):
            values = factor * total
            if queries.weights is not None:
                values *= queries.weights[rows][order]
            part[rows][order] = values

    def values(self, first: int, entries: Entries) -> Floats:
        """Gradient and Hessian of a document of each entry, (m, 2), of queries from ``first``."""
        sums = self._sums(first, entries)
        factor = self.factor(sums, self.arrays.scale[first : first + entries.edges.size - 1])
        # Each document of an entry gets a share of its sums, unless its weight is 0.
        weight = np.where(entries.weight > 0.0, entries.weight, np.inf)
        share = np.repeat(factor, np.diff(entries.edges)) / weight
        values = np.column_stack([share * sums.gradient, share * sums.hessian])
        if self.of_class.size:
            values[:, 1] *= self.of_class[entries.code]
        if self.pointwise:
            strata, unit = self.arrays.strata[first : first + entries.edges.size], -1.0
            if self.table:  # the pairs have the size of log-loss at the base rate, with sigma 1
                unit = 1.0 / (self.shape.sigma if self.normalize else max(self.total, NOTHING))
            sigma = self.shape.sigma
            mix_log_loss(entries, strata, self.labels, sigma, self.pointwise, unit, values)
        return values

    def _sums(self, first: int, entries: Entries) -> Sums:
        sums = no_sums(entries.score.size, entries.edges.size - 1)
        spread = entries.score[entries.edges[:-1]] - entries.score[entries.edges[1:] - 1]
        weighted = self.copies is not None
        near_top = share_near_top(entries, self.truncation)
        for lists in ranked_lists(self.weights, self.arrays, first, entries, weighted, near_top):
            whole = self.all_pairs and lists.factors is None
            for few in [lists] if whole else split_labels(lists):
                add_pairs(few, spread, self.shape, self.all_pairs, sums)
        return sums

    def factor(self, sums: Sums, scale: Floats) -> Floats:
        """What multiplies the sums of each query; ``scale`` is 1 / Z."""
        if not self.normalize:
            return scale
        if self.table:
            size = float(np.abs(sums.gradient).sum())
            return np.full(1, self.total / size) if size * scale[0] > NOTHING else scale
        S = sums.received * scale
        return np.divide(np.log1p(S) / math.log(2.0), sums.received, out=scale.copy(), where=S > 0)


@compiled
def _write(
    row: Rows, first_rank: Ints, values: Floats, weight: Floats, gradient: Floats, hessian: Floats
) -> None:
    """Write the values of each entry to its rows."""
    for e in range(first_rank.size - 1):
        slope, bend = values[e, 0], values[e, 1]
        for r in range(first_rank[e], first_rank[e + 1]):
            times = weight[row[r]] if weight.size else 1.0
            gradient[row[r]] = slope * times
            hessian[row[r]] = bend * times


def gradients(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    metric: str | RankingMetric | Declaration,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    one_group: bool = False,
    all_pairs: bool = False,
    **options: Any,
) -> tuple[Floats, Floats]:
    """Compute the lambda-gradient and Hessian of a metric by the textbook definition.

    Each pair of documents with different labels adds ``-sigma * |delta M| * rho`` to the gradient
    of the better document and the opposite to that of the worse one, and
    ``sigma^2 * |delta M| * rho * (1 - rho)`` to both Hessians.  Here rho is
    ``1 / (1 + exp(sigma * d))``, d is the score of the better document minus that of the other, and
    delta M is the change of the metric if the two are swapped in the ranking (Burges 2010; for AUC
    and MAUC: Welleck 2016, eqs. 6-19).  For the normalised values of a training, call an objective:
    ``lambda_objective(metric)(labels, scores, None, group)``.

    Parameters
    ----------
    labels, scores : (n,) array_like
    metric : str, RankingMetric or Declaration
        For example ``"ndcg@10"``.
    group : (n_queries,) array_like of int, optional
        Query sizes.  If neither ``group`` nor ``qid`` is given, AUC, MAUC and MAP treat all rows
        as one ranking; other metrics require ``one_group=True``.
    qid : (n,) array_like, optional
        Query of each row; the rows of a query must be adjacent.
    weight : (n,) array_like, optional
        Row weights.  They multiply the gradients of the rows; for AUC, MAUC and MAP without
        queries they are multiplicities, see ``one_group`` of `lambda_objective`.
    one_group : bool, default=False
        Treat data without queries as a single ranking.
    all_pairs : bool, default=False
        Visit every pair, in O(n^2), instead of using the sweep.
    **options
        ``sigma=1.0``, ``normalize=False``, ``damping=None``, ``truncation=None``,
        ``pointwise=0.0`` and ``pairs="swap"`` of `lambda_objective`; and parameters of the metric,
        such as ``gain="linear"`` or ``relevant=2``.

    Returns
    -------
    gradient, hessian : (n,) float64

    Raises
    ------
    ValueError
        For invalid labels, scores, groups, weights or options, for a metric that is unknown or
        cannot be an objective, and for data without queries if the metric needs them.

    Examples
    --------
    >>> from lambdaplus.objectives import gradients
    >>> gradient, hessian = gradients([0, 1, 0], [2.0, 1.0, 0.0], metric="auc", group=[3])
    >>> gradient.round(4).tolist()
    [0.3655, -0.5, 0.1345]
    """
    check_flag(one_group=one_group, all_pairs=all_pairs)
    of_pairs = {name: options.pop(name) for name in TEXTBOOK & options.keys()}
    plain: dict[str, Any] = {"normalize": False, "damping": None, "pointwise": 0.0, "balance": 0.0}
    pairs = PairOptions(**{**plain, **of_pairs})
    optimised = parse_metric(metric, **options)
    if pairs.pairs != "default":
        refuse_pairs_of([optimised])
    queries = scope(optimised, Queries(labels, group=group, qid=qid, weight=weight), one_group)
    weights = PairWeights(optimised, pairs.pairs == "equal" or optimised.compares_some)
    return LambdaGradient(weights, queries, pairs, all_pairs).at(queries, scores)
