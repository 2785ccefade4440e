"""Objectives of a metric, by name."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.engine.gradient import LambdaGradient
from lambdaplus.frameworks.calls import Call
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.means import one_class_in_words
from lambdaplus.metrics.names import default_surrogate, share_options
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.lambda_gradient import gradient_on, is_as_log_loss
from lambdaplus.objectives.log_loss import LogLoss, find_log_loss
from lambdaplus.objectives.objective import Objective
from lambdaplus.objectives.pair_options import (
    PairOptions,
    WeighingMetric,
    allows_equal_pairs,
    refuse_pairs_of,
)
from lambdaplus.ranking.rounding import MOST_CLASSES

DEFAULT = PairOptions()
HALF = 0.5  # pairs and log-loss in AUC without queries: research/results/options.md
MANY_VISITS = 5e7  # of documents, which take about a second


@dataclass(frozen=True, repr=False)
class LambdaObjective(PairOptions, Objective):
    """A custom objective that optimises a ranking metric; create it with `lambda_objective`.

    Attributes
    ----------
    metric : RankingMetric
    surrogate : RankingMetric
        The metric whose swap deltas weight the pairs; ``metric`` itself if there is no other.
    sigma, balance : float
    normalize, one_group : bool

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> objective = lambda_objective("ndcg@10", sigma=2.0)
    >>> str(objective.metric), str(objective.surrogate), objective.sigma
    ('ndcg@10', 'ndcg', 2.0)
    """

    metric: RankingMetric
    surrogate: RankingMetric
    one_group: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(one_group=self.one_group)
        if self.metric != self.surrogate:
            for metric in (self.metric, self.surrogate):
                if metric.compares_some:
                    raise ValueError(
                        f"{metric} reads labels in a way of its own, so it needs the pairs of "
                        f"itself: surrogate={str(self.surrogate)!r} for {self.metric} is not "
                        "possible"
                    )
        object.__setattr__(self, "__doc__", self._in_words())  # for help()

    @property
    def __name__(self) -> str:
        """The metric and, if it is another's, the one whose swap deltas weight the pairs."""
        stands_in = self.surrogate.declaration != self.metric.declaration
        return super().__name__ + (f"(surrogate={self.surrogate})" if stands_in else "")

    def _in_words(self) -> str:
        """What the gradient is, for the help of this objective."""
        paragraphs = [
            f"{self.metric.declaration.title}, as an objective of LightGBM and XGBoost.",
            "In each query, a pair of documents with different labels, whose scores differ by d, "
            "that of the better document less that of the other, adds -w / (1 + exp(sigma d)) to "
            "the gradient of the better document, and the opposite to that of the other.  The "
            f"weight w is sigma times the change of {self.surrogate} if the two are swapped in the "
            "ranking.",
        ]
        if self.surrogate.declaration != self.metric.declaration:
            why = f"{self.surrogate} stands in for {self.metric}, which few swaps change."
            paragraphs.append(why)
        if self.of_rows is not self:
            paragraphs.append(f"Of data without queries, it is {self.of_rows!r}.")
        paragraphs.append("See `lambda_objective` for options, and for data without queries.")
        return "\n\n".join(textwrap.fill(paragraph, 88) for paragraph in paragraphs)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        return self._derivatives(queries, scores, np.float64)

    def _derivatives_of(self, call: Call) -> tuple[Any, Any]:
        return self._derivatives(call.queries, call.scores, np.float32)

    def _derivatives(self, queries: Queries, scores: ArrayLike, dtype: type) -> tuple[Any, Any]:
        ranked = self._lists(queries)
        if ranked.grouped or self.of_rows is self:
            return self._of_pairs(ranked, scores, dtype)
        return self.of_rows.derivatives(queries, scores)

    def as_term(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        return self._of_pairs(self._lists(queries), scores, np.float64)

    def _lists(self, queries: Queries) -> Queries:
        """What is ranked together."""
        return scope(self.metric, queries, self.one_group)

    @property
    def of_rows(self) -> Objective:
        """What it is on data without queries: a sum with log-loss, for AUC by default."""
        if not (self.metric.declaration.name == "auc" and self.normalize and self._is_default()):
            return self
        loss = LogLoss(self.metric.relevant, self.sigma)
        return CombinedObjective(((self, HALF), (loss, HALF)))

    def _is_default(self) -> bool:
        """Whether the weights of pairs are those that the metric has by default."""
        return self.pairs == "default" and self.surrogate == default_surrogate(self.metric)

    def _of_pairs(self, ranked: Queries, scores: ArrayLike, dtype: type) -> tuple[Any, Any]:
        if not ranked.n_queries:  # a worker without rows
            return np.empty(0), np.empty(0)
        gradient = ranked.once(self, lambda: self._gradient_on(ranked))
        return gradient.at(ranked, scores, dtype)

    def _gradient_on(self, ranked: Queries) -> LambdaGradient:
        """The gradient on these lists, with a warning if it is zero whatever the scores are."""
        weighing = self.weighed_by(ranked.grouped)
        gradient = gradient_on(weighing, ranked, self)
        n_strata = gradient.arrays.strata[-1]
        same = n_strata == ranked.n_queries or not gradient.arrays.scale.any()
        if same and ranked.workers.size == 1:
            where = "all labels of each query" if ranked.grouped else "all labels"
            why = f"{where} are the same, or no two of them differ in a way that matters to it"
            why = one_class_in_words(self.metric, ranked) or why
            warn(f"{self.metric} has nothing to rank, so its gradient is zero: {why}")
        _warn_of_price(gradient, ranked)
        return gradient

    def weighed_by(self, grouped: bool) -> WeighingMetric:
        """What weights the pairs of queries, or of one list."""
        if self.pairs != "default":
            return WeighingMetric(self.surrogate, self.pairs == "equal")
        # One list's largest swap deltas are those of outliers far down, which no split mends: the
        # section "Whole tables" of research/results/options.md.
        if not grouped and allows_equal_pairs(self.metric) and self._is_default():
            return WeighingMetric(self.metric, equal_pairs=True)
        # The swap deltas of concordance depend on all documents between the two.
        equal_pairs = (
            self.surrogate.declaration.name == "concordance" or self.surrogate.compares_some
        )
        return WeighingMetric(self.surrogate, equal_pairs)

    def compares_within_queries(self, queries: Queries) -> bool:
        ranked = self._lists(queries)
        return not is_as_log_loss(self.weighed_by(ranked.grouped), ranked)

    def __repr__(self) -> str:
        words = [
            f"{option.name}={repr(value) if isinstance(value, str) else as_text(value)}"
            for option in fields(PairOptions)
            if (value := getattr(self, option.name)) != option.default
        ]
        words += ["one_group=True"] if self.one_group else []
        # A metric that is its own, where another stands in by default, is said, too.
        if not self.metric == self.surrogate == default_surrogate(self.metric):
            words.append(f"surrogate={str(self.surrogate)!r}")
        return f"lambda_objective({', '.join([repr(str(self.metric)), *words])})"


def _warn_of_price(gradient: LambdaGradient, ranked: Queries) -> None:
    """Warn of many labels, if the metric visits the documents for each pair of labels."""
    if gradient.equal_pairs or not gradient.metric.declaration.form.potentials_by_classes:
        return
    n_labels = np.diff(gradient.arrays.strata)
    visits = float((n_labels * (n_labels - 1.0) / 2.0 * ranked.sizes).sum())
    if n_labels.max(initial=0) > MOST_CLASSES and visits > MANY_VISITS:
        warn(
            f"{gradient.metric} visits the documents of a query for each pair of its labels, of "
            f"which there are up to {n_labels.max()}: {visits / 1e6:,.0f} million visits in each "
            f"round, of which {MANY_VISITS / 1e6:.0f} million take about a second. Group the "
            "labels into grades"
        )


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = DEFAULT.sigma,
    normalize: bool = DEFAULT.normalize,
    one_group: bool = False,
    surrogate: str | RankingMetric | None = None,
    balance: float = DEFAULT.balance,
    pairs: str = DEFAULT.pairs,
    **options: Any,
) -> LambdaObjective | CombinedObjective:
    """Create an objective that optimises a ranking metric or a weighted sum of metrics.

    Parameters
    ----------
    metric : str, RankingMetric or Declaration
        For example ``"ndcg@10"``, ``"map"``, ``"mrr@5"`` or ``"auc"``;
        `~lambdaplus.metrics.metric_names` lists all names.  A sum such as ``"ndcg@10 + 0.5*map"``
        optimises several metrics; `combine` describes the meaning of the weights.  A part may be
        ``logloss``, see `LogLoss`.
    sigma : float, default=1.0
        Scale of score differences in the pairwise loss.  With a larger value, the gradient is
        concentrated earlier on pairs that are in the wrong order.
    normalize : bool, default=True
        Scale the gradient of each query by log2(1 + S) / S, where S is the sum over its pairs of
        ``2 |lambda|``, so that every query contributes and Hessians exceed the thresholds of the
        frameworks (``min_child_weight``, ``min_sum_hessian_in_leaf``).  One data set without
        queries is scaled so that the absolute gradients sum to those of log-loss at a constant
        prediction of the base rate: n times the sum over classes of p (1 - p), where p is the
        class's share of the n rows.
    one_group : bool, default=False
        Treat a data set without queries as a single query, which is always the case for AUC, MAUC
        and MAP.  For these metrics a row of weight k counts as k identical rows; for AUC, it gets
        the sum of their gradients (see the page "What is one ranking").  For other
        metrics, a weight multiplies the gradient of its row.
    surrogate : str, RankingMetric or Declaration, optional
        The metric whose swap deltas weight the pairs; ``metric`` is still the one that is
        evaluated.  By default it is ``metric`` without its cutoff (NDCG for ``"ndcg@10"``), except
        for metrics that few swaps change: ``"arhr"``, the reciprocal ranks of all relevant
        documents, stands in for MRR and success@k, and MAP for P@k, recall@k, F1@k, R-precision
        and ``top_precision``.  The name and the repr of the objective show it.
        ``surrogate=metric`` weights the pairs by the metric itself.  Metrics with the same
        surrogate train the same model: ``"ndcg@1"`` and ``"ndcg@100"``, or ``"p@5"``,
        ``"recall@10"`` and ``"map"``.
    balance : float, default=0.5
        For data without queries, the Hessians of class c are multiplied by
        ``(k n_c / n) ** balance``, where n_c of n rows are of that class and k is the number of
        classes (with weights, n_c and n are sums of weights).  With 0, the Hessians of the pairs
        are used, which are much larger for a rare class, so that its leaves take small steps; with
        1, all classes have the same mean Hessian, as in log-loss at the base rate.  It has no
        effect for data with queries, nor for metrics that need ``one_group``.
    pairs : {"default", "swap", "equal"}
        For AUC, MAUC and concordance, the weight of a pair: the change of the metric (or of the
        surrogate) if the two documents are swapped, or if they were neighbours, which is equal for
        all pairs of two labels.  The default is ``"equal"`` without queries and for concordance,
        and else ``"swap"``.  A ``surrogate`` that is set has ``"swap"``.  AUC without queries is by
        default the sum ``"0.5*auc + 0.5*logloss"``; with ``pairs="equal"``, in a sum, or with
        ``normalize=False``, it has no log-loss.
    **options
        Parameters of the metric: ``gain="linear"`` (NDCG), ``relevant=2`` (label from which a
        document counts as relevant), ``classes=`` and ``share=`` (MAUC).  For a sum, they are
        passed to the metrics that have them.

    Returns
    -------
    LambdaObjective, or CombinedObjective for a sum

    Raises
    ------
    ValueError
        For unknown metrics or options (the message lists the known ones), and values of the wrong
        type or out of range.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg", gain="linear")
    lambda_objective('ndcg(gain=linear)')
    >>> lambda_objective("ndcg@10")
    lambda_objective('ndcg@10', surrogate='ndcg')
    >>> lambda_objective("ndcg@10 + 0.5*map").metric.parts[1][1]
    0.5
    >>> lambda_objective("map", sigma=2.0, normalize=False).sigma
    2.0
    >>> lambda_objective("auc", balance=0.0).balance  # for data without queries
    0.0
    >>> lambda_objective("map + logloss").__name__
    'lambda_map+logloss'
    >>> lambda_objective("mauc", pairs="swap")
    lambda_objective('mauc', pairs='swap')
    >>> lambda_objective("err", one_group=True).one_group
    True
    >>> str(lambda_objective("mrr", surrogate="mrr").surrogate)
    'mrr'
    """
    terms = terms_of(metric)
    losses = [find_log_loss(name, options.get("relevant"), sigma) for name, _ in terms]
    names = [name for (name, _), loss in zip(terms, losses, strict=True) if loss is None]
    if not names:
        raise ValueError(
            f"{metric!r} does not rank: add a ranking metric, as in 'logloss + map', or use the "
            "framework's own log-loss, objective='binary' or 'binary:logistic'"
        )
    of_pairs = PairOptions(sigma=sigma, normalize=normalize, balance=balance, pairs=pairs)
    shares = iter(share_options(names, options) if len(names) > 1 else [options])
    parts: list[tuple[Objective | LogLoss, float]] = []
    weighing: list[RankingMetric] = []
    for (name, weight), loss in zip(terms, losses, strict=True):
        if loss is not None:
            parts.append((loss, weight))
            continue
        parsed = parse_metric(name, **next(shares))
        weighs = parsed if surrogate is None else parse_metric(surrogate)
        weighing.append(weighs)
        own = pairs if allows_equal_pairs(weighs) else "default"
        if own == "default" and surrogate is None:
            weighs = default_surrogate(parsed)
        elif own == "default" and allows_equal_pairs(weighs):
            own = "swap"
        made = LambdaObjective(parsed, weighs, one_group, **{**vars(of_pairs), "pairs": own})
        parts.append((made, weight))
    if pairs != "default":
        refuse_pairs_of(weighing)
    only, weight = parts[0]
    if len(parts) == 1 and weight == 1.0 and isinstance(only, LambdaObjective):
        return only
    return CombinedObjective(tuple(parts))


lambda_auc, lambda_mauc, lambda_map, lambda_mrr, lambda_ndcg = (
    cast(LambdaObjective, lambda_objective(name)) for name in ("auc", "mauc", "map", "mrr", "ndcg")
)
