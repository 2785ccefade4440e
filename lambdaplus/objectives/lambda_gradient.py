"""The gradient and Hessian of a ranking metric as a plain function.

Queries are ranked and merged into entries (`sort`), or rounded if they are long (`rounding`);
entries are put into ranked lists with potentials (`lists`); sums over pairs (`sums`) are normalised
and written to rows.
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
from lambdaplus.compute.warn_once import warn
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import metric_arrays, scope
from lambdaplus.objectives.exponentials import PairShape
from lambdaplus.objectives.label_tree import rising, split_labels
from lambdaplus.objectives.lists import ranked_lists
from lambdaplus.objectives.log_loss import log_loss_of_classes
from lambdaplus.objectives.noise import NOTHING, mixed, neighbour_sums
from lambdaplus.objectives.pair_options import PairOptions
from lambdaplus.objectives.rounded_tree import (
    ManyLabels,
    rows_by_label,
    sums_of_many_labels,
)
from lambdaplus.objectives.sums import Sums, add_pairs, no_sums
from lambdaplus.ranking.queries import Queries
from lambdaplus.ranking.rounding import (
    LONG_LIST,
    MOST_CLASSES,
    refuse_many_classes,
    round_scores,
    round_to_cells,
)
from lambdaplus.ranking.sort import Entries, each_alone, merge_ties, rank_some

# Of a document and a pair of labels, with lists of their own; and when to warn.
SECONDS_BY_PAIR_OF_LABELS, MOST_SECONDS = 1e-8, 5.0


def objective_metric(metric: str | RankingMetric | Declaration, **options: Any) -> RankingMetric:
    """Parse the name of a metric; a ValueError if it cannot be an objective."""
    parsed = parse_metric(metric, **options)
    if parsed.declaration.refusal:
        raise ValueError(f"{parsed} is not available as an objective: {parsed.declaration.refusal}")
    return parsed


TEXTBOOK = {"sigma", "normalize", "damping", "damped"}  # the options of pairs in `gradients`


def is_table(metric: RankingMetric, queries: Queries) -> bool:
    """Whether the data is a table to the metric: its gradient has the size of that of log-loss."""
    return not queries.divided and (metric.equal_pairs or not queries.grouped)


class LambdaGradient:
    """The gradient of a metric on a data set, at any scores.

    ``all_pairs`` visits every pair instead of using the sweep.  The data set may keep it
    (`Queries.once`), so it has arrays of the data set, and is passed the data set itself.
    """

    def __init__(
        self,
        metric: RankingMetric,
        queries: Queries,
        options: PairOptions,
        all_pairs: bool = False,
    ) -> None:
        self.metric, self.all_pairs = metric, all_pairs
        self.normalize, self.noise = options.normalize, options.noise if queries.grouped else None
        damping = float(options.damping or 0.0) if options.damped else 0.0
        self.shape = PairShape(float(options.sigma), damping, float(options.damped))
        self.arrays, self.copies = metric_arrays(metric, queries), queries.multiplicities
        self.of_class = np.empty(0)  # factors of the Hessians of each class
        self.table = is_table(metric, queries)
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
        self.workers = queries.list_workers
        self._refuse(queries)
        self._warn_of_many_labels(queries)
        self.long_queries = self._long_queries(queries)

    def at(self, queries: Queries, scores: ArrayLike, dtype: type = np.float64) -> tuple[Any, Any]:
        """Gradient and Hessian of every row times its weight, (n,) of this type each."""
        boundaries, rounded = queries.boundaries, self.long_queries
        # Rounding reads scores of either type.
        checked = queries.check_scores(scores, single=rounded == [0] and boundaries.size == 2)
        out: tuple[Any, Any] = np.empty(checked.size, dtype), np.empty(checked.size, dtype)
        start = 0
        for long in [*rounded, boundaries.size - 1]:
            if long > start:
                some = boundaries[start : long + 1]
                over_batches(partial(self._of_queries, queries, start, checked, out), some)
            if long < boundaries.size - 1:
                self._of_long_query(queries, long, checked, out)
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
        values, factor = self._values(first, entries), np.empty(0) if weights is None else weights
        _write(ranking.row, first_rank, values, factor, *out)

    def _of_long_query(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        rows, weights = slice(*queries.boundaries[q : q + 2]), queries.weights
        n_classes = int(self.arrays.strata[q + 1] - self.arrays.strata[q])
        if n_classes > MOST_CLASSES:
            self._of_many_labels(queries, q, scores, out)
            return
        rounded = round_scores(
            scores[rows], self.arrays.code[rows], n_classes, self.copies, self.workers
        )
        weight = None if weights is None else weights[rows]
        values = self._values(q, rounded.entries)
        rounded.write_rows(values, weight, *(part[rows] for part in out))

    def _of_many_labels(self, queries: Queries, q: int, scores: Floats, out: Any) -> None:
        """Write the gradient of one long query with a tree of labels."""
        arrays = self.arrays
        rows, strata = slice(*queries.boundaries[q : q + 2]), slice(*arrays.strata[q : q + 2])
        cell_score, cell = round_to_cells(scores[rows])
        count = queries.strata(self.metric.relevant).count[strata].astype(np.int64)
        edge = np.append(0, np.cumsum(count))
        order = queries.row_order[rows] - rows.start
        if edge.size <= order.size:  # some labels have several rows
            order = rows_by_label(arrays.code[rows], cell, edge, cell_score.size)
        many = ManyLabels(
            cell[order],
            cell_score,
            edge,
            gain=np.empty(0) if self._counts_pairs else arrays.gain[strata],
            discount=np.empty(0) if self.metric.equal_pairs else arrays.discount[: order.size],
        )
        sums = sums_of_many_labels(many, self.shape)
        factor = self._factor(sums, arrays.scale[q : q + 1])[0]
        for part, total in zip(out, (sums.gradient, sums.hessian), strict=True):
            values = factor * total
            if queries.weights is not None:
                values *= queries.weights[rows][order]
            part[rows][order] = values

    @property
    def _counts_pairs(self) -> bool:
        """Whether all pairs of different labels have the same weight."""
        return self.metric.equal_pairs and self.metric.declaration.form.potentials_by_classes

    def _long_queries(self, queries: Queries) -> list[int]:
        """The queries whose scores are rounded."""
        if self.workers.size > 1:  # each has a part of the scores
            return [0]
        if self.all_pairs or self.noise or self.metric.declaration.signed_deltas:
            return []
        if queries.longest < LONG_LIST:
            return []
        strata, n_classes = self.arrays.strata, np.diff(self.arrays.strata)
        possible = n_classes <= MOST_CLASSES
        one_list = self.metric.equal_pairs or not self.metric.declaration.form.potentials_by_classes
        if one_list and self.copies is None and not self.metric.compares_some:
            gain = np.empty(0) if self._counts_pairs else self.arrays.gain
            possible |= rising(strata[:-1], n_classes, gain)
        return np.flatnonzero((queries.sizes >= LONG_LIST) & possible).tolist()

    def _refuse(self, queries: Queries) -> None:
        """Raise a ValueError for metrics and data that have no gradient."""
        if self.metric.pairs == "mixed" and queries.divided:
            raise ValueError(
                f"{self.metric} is for a table without queries: use {self.metric.declaration.name}"
            )
        if self.noise and self.metric.compares_some:
            raise ValueError(
                f"{self.metric} has no noisy rankings, whose neighbours may not be comparable: "
                "pass noise=None"
            )
        gain, added = self.arrays.gain, self.arrays.coupling.within_class
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
        if self.copies is not None and added.any() and (gain < added).any():
            raise ValueError(
                f"{self.metric} of weighted rows without queries has swap deltas of both signs, "
                "since the gain of a document is smaller than what each document above it adds: "
                "leave out the weights"
            )
        if self.workers.size > 1:  # only rounded scores are known to all of them
            on = f"{self.metric} over all rows on {self.workers.size} workers"
            if self.noise:
                raise ValueError(f"{on} has no noisy rankings: pass noise=None")
            if self.metric.declaration.signed_deltas:
                raise ValueError(f"{on} would have to visit every pair: train on one machine")
            refuse_many_classes(self.arrays.gain.size, on)

    def _warn_of_many_labels(self, queries: Queries) -> None:
        """Warn if each pair of labels has a list of its own, which takes long for many labels."""
        form, metric = self.metric.declaration.form, self.metric
        if not form.potentials_by_classes or metric.equal_pairs or metric.declaration.binary:
            return
        sizes, labels = queries.sizes, np.diff(self.arrays.strata)
        took = SECONDS_BY_PAIR_OF_LABELS * float((sizes * labels.astype(np.float64) ** 2 / 2).sum())
        if took > MOST_SECONDS:
            warn(
                f"{metric} has a list for each pair of labels, and a query has up to "
                f"{labels.max():,} of them: each round takes about {took:.0f} s. Group the labels "
                "into grades, or use a metric whose cost is O(n log L), such as "
                "concordance(pairs=equal) or ndcg(gain=linear)",
                stacklevel=2,
            )

    def _values(self, first: int, entries: Entries) -> Floats:
        """Gradient and Hessian of a document of each of these entries, (m, 2)."""
        sums = self._sums(first, entries)
        factor = self._factor(sums, self.arrays.scale[first : first + entries.edges.size - 1])
        if self.noise:
            sigma = self.shape.sigma
            near = neighbour_sums(self.metric, self.arrays, first, entries, self.noise, sigma)
            sums = mixed(sums, near, entries)
        values = np.empty((entries.score.size, 2))
        _share(entries, sums.gradient, sums.hessian, factor, self.of_class, values)
        return self._mixed(entries, values) if self.metric.pairs == "mixed" else values

    def _mixed(self, entries: Entries, values: Floats) -> Floats:
        """Half of these values, and half of those of log-loss."""
        sigma, unit = self.shape.sigma, 1.0 if self.normalize else 1.0 / max(self.total, NOTHING)
        weight = np.bincount(entries.code, entries.weight, minlength=2)
        if not weight.all():  # no pairs
            return values
        scores = sigma * entries.score
        pointwise = log_loss_of_classes(scores, entries.code == 1, entries.weight)
        return 0.5 * values + 0.5 * unit * np.array([sigma, sigma**2]) * pointwise

    def _sums(self, first: int, entries: Entries) -> Sums:
        # Swap deltas of both signs do not add up over the documents of an entry.
        signed = self.metric.declaration.signed_deltas
        compared = each_alone(entries) if signed else entries
        sums = no_sums(compared.score.size, entries.edges.size - 1)
        spread = entries.score[entries.edges[:-1]] - entries.score[entries.edges[1:] - 1]
        weighted = self.copies is not None
        all_pairs = self.all_pairs or signed
        for lists in ranked_lists(self.metric, self.arrays, first, compared, weighted):
            whole = all_pairs and lists.factors is None
            for few in [lists] if whole else split_labels(lists):
                add_pairs(few, spread, self.shape, all_pairs, sums)
        return sums.of_entries(entries.size) if signed else sums

    def _factor(self, sums: Sums, scale: Floats) -> Floats:
        if not self.normalize:
            return scale
        if self.table:
            size = float(np.abs(sums.gradient).sum())
            return np.full(1, self.total / size) if size * scale[0] > NOTHING else scale
        S = sums.received * scale
        return np.divide(np.log1p(S) / math.log(2.0), sums.received, out=scale.copy(), where=S > 0)


@compiled(error_model="numpy")
def _share(
    entries: Entries, gradient: Floats, hessian: Floats, factor: Floats, of_class: Floats,
    values: Floats,
) -> None:  # fmt: skip
    """Divide the sums of each entry by its documents."""
    edges, _, code, _, weight = entries
    for q in range(edges.size - 1):
        for e in range(edges[q], edges[q + 1]):
            share = factor[q] / weight[e] if weight[e] > 0.0 else 0.0
            values[e, 0] = share * gradient[e]
            values[e, 1] = share * hessian[e] * (of_class[code[e]] if of_class.size else 1.0)


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
        ``sigma=1.0``, ``normalize=False``, ``damping=None`` and ``damped=1.0`` of
        `lambda_objective`; and parameters of the metric, such as ``gain="linear"`` or
        ``relevant=2``.

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
    pairs = PairOptions(**{"normalize": False, "balance": 0.0, **of_pairs})
    optimised = objective_metric(metric, **options)
    queries = scope(optimised, Queries(labels, group=group, qid=qid, weight=weight), one_group)
    return LambdaGradient(optimised, queries, pairs, all_pairs).at(queries, scores)
