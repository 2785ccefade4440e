"""Objectives for LightGBM and XGBoost: of a metric, or of a weighted sum of metrics."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.arguments import check_flag, number, number_of
from lambdaplus.compute.array_types import Floats
from lambdaplus.frameworks.calls import Call, SignatureOfCalls, read_call
from lambdaplus.metrics import Declaration, RankingMetric, parse_metric
from lambdaplus.metrics.declared_arrays import scope
from lambdaplus.metrics.names import share_options
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.weighted_sum import WeightedSum, terms_of
from lambdaplus.objectives.lambda_gradient import (
    LambdaGradient,
    check_pair_options,
    objective_metric,
)
from lambdaplus.objectives.log_loss import log_loss_derivatives
from lambdaplus.ranking.queries import Queries

# XGBoost's own ranking objectives double Hessians, and ours do so there, for equal step sizes.
HESSIAN_FACTOR_IN_XGBOOST = 2.0

# Defaults; docs/results/options.md has the measurements.
BALANCE = 0.5

_LOG_LOSS = re.compile(r"\s*(?:binary_)?log_?loss\s*(?:\(\s*relevant\s*=([^()]*)\))?\s*", re.I)


class Objective(ABC):
    """Base class of custom objectives for all interfaces of LightGBM and XGBoost.

    These are LightGBM's ``params["objective"]`` (4.x) and ``fobj=`` (3.x),
    ``LGBMRanker(objective=)``, ``xgb.train(obj=)`` and ``XGBRegressor(objective=)``.

    Attributes
    ----------
    metric : RankingMetric or WeightedSum
        The metric of its name, which is the one to evaluate.
    one_group : bool
        Whether data without queries is treated as a single query, for any metric.
    """

    metric: RankingMetric | WeightedSum
    one_group: bool
    uses_positions = False  # whether it needs the positions of documents
    has_own_labels = False  # whether it, or a part of it, was made by `on`
    __signature__ = SignatureOfCalls()

    @property
    def __name__(self) -> str:
        return f"lambda_{self.metric}"

    @abstractmethod
    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute gradient and Hessian from the arguments that LightGBM or XGBoost pass.

        Parameters
        ----------
        y_true_or_preds : (n,) array_like
            Scores, if the second argument is a data set; labels otherwise.
        y_pred_or_data : lightgbm.Dataset, xgboost.DMatrix or (n,) array_like
            Data set, or scores.
        sample_weight, group : (n,) and (n_queries,) array_like, optional
            Row weights and query sizes, if labels and scores are passed.

        Returns
        -------
        gradient, hessian : (n,) float32
            With queries, XGBoost gets twice the Hessian, as from its own objectives.

        Raises
        ------
        ValueError
            For NaN or infinite scores or labels, missing or split queries, invalid weights,
            LightGBM's bagging_by_query, and data without queries on several LightGBM machines.
        FailedWorkerError, LostWorkerError
            If another worker of the training raised an error or was stopped.
        """
        with read_call(y_true_or_preds, y_pred_or_data, sample_weight, group) as call:
            if not self.uses_positions:
                call.warn_of_positions(self)
            gradient, hessian = self._derivatives_of(call)
            if call.framework == "xgboost" and self.compares_within_queries(call.queries):
                hessian = HESSIAN_FACTOR_IN_XGBOOST * hessian
        return gradient.astype(np.float32, copy=False), hessian.astype(np.float32, copy=False)

    def on(self, labels: ArrayLike) -> ObjectiveOn:
        """The same objective for other labels of the training data, as a part of `combine`.

        Parameters
        ----------
        labels : (n,) array_like
            A label for each row of the training data, in its order, which are used instead of
            those that LightGBM or XGBoost pass.

        Returns
        -------
        ObjectiveOn

        Raises
        ------
        ValueError
            For invalid labels; and in a training, if the number of rows is another.
        """
        return ObjectiveOn(self, labels)

    def compares_within_queries(self, queries: Queries) -> bool:
        """Whether pairs are within queries, or within all rows as one query."""
        return queries.grouped

    def _derivatives_of(self, call: Call) -> tuple[Any, Any]:
        return self.derivatives(call.queries, call.scores)

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Any:
        """Raise a TypeError: CatBoost calls this method of custom objectives."""
        raise TypeError(
            "CatBoost calls an objective with blocks of at most 1000 rows and without their "
            "queries, so it cannot optimise a ranking metric: use LightGBM or XGBoost, or "
            "CatBoost's YetiRank"
        )


@dataclass(unsafe_hash=True, repr=False)
class LambdaObjective(Objective):
    """A custom objective that optimises a ranking metric; create it with `lambda_objective`.

    Attributes
    ----------
    metric : RankingMetric
    surrogate : RankingMetric
        The metric whose swap deltas weight the pairs; ``metric`` itself if there is no other.
    sigma, damping, damped, noise, balance : float
        Damping and noise may be None.
    normalize, one_group : bool
    """

    metric: RankingMetric
    surrogate: RankingMetric
    sigma: float = 1.0
    normalize: bool = True
    damping: float | None = None
    noise: float | None = None
    one_group: bool = False
    balance: float = BALANCE
    damped: float = 1.0

    def __post_init__(self) -> None:
        check_pair_options(self.sigma, self.normalize, self.damping, self.damped)
        if self.noise is not None:
            self.noise = number("noise, if not None,", self.noise, least=0.0, most=1e100) or None
        self.balance = number("balance", self.balance, least=0.0, most=1.0)
        check_flag(one_group=self.one_group)
        if self.metric != self.surrogate:
            for metric in (self.metric, self.surrogate):
                if metric.declaration.labels is not None:
                    raise ValueError(
                        f"{metric} reads labels in a way of its own, so it needs the pairs of "
                        f"itself: surrogate={str(self.surrogate)!r} for {self.metric} is not "
                        "possible"
                    )

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        return self._at(queries, scores, np.float64)

    def _derivatives_of(self, call: Call) -> tuple[Any, Any]:
        return self._at(call.queries, call.scores, np.float32)

    def _at(self, queries: Queries, scores: ArrayLike, dtype: type) -> tuple[Any, Any]:
        ranked = scope(self.metric, queries, self.one_group)
        if not ranked.n_queries:  # a worker without rows
            return np.empty(0), np.empty(0)
        # A table's largest swap deltas of AUC are those of outliers far down, which no split mends;
        # half log-loss is level with log-loss by AUC, which pairs alone are not: the section
        # "Whole tables" of docs/results/options.md.
        surrogate = self.surrogate.with_pairs(of_table=not ranked.divided)
        gradient = LambdaGradient(
            surrogate, ranked, sigma=self.sigma, normalize=self.normalize,
            damping=self.damping, damped=self.damped, noise=self.noise, balance=self.balance,
        )  # fmt: skip
        return gradient.at(scores, dtype)

    def compares_within_queries(self, queries: Queries) -> bool:
        return scope(self.metric, queries, self.one_group).grouped

    def __repr__(self) -> str:
        noise = "" if self.noise is None else f", noise={shortest(self.noise)}"
        one = ", one_group=True" if self.one_group else ""
        other = "" if self.surrogate == self.metric else f", surrogate={str(self.surrogate)!r}"
        balance = "" if self.balance == BALANCE else f", balance={shortest(self.balance)}"
        share = "" if self.damped == 1.0 else f", damped={shortest(self.damped)}"
        return (
            f"lambda_objective({str(self.metric)!r}, sigma={shortest(self.sigma)}, "
            f"normalize={self.normalize}, damping={self.damping}"
            f"{share}{noise}{one}{other}{balance})"
        )


@dataclass(frozen=True)
class LogLoss:
    """Log-loss of the logistic function of scores, as a part of `combine`.

    It keeps scores log-odds, which a ranking metric alone does not.  Without queries, its absolute
    gradients at the base rate add up to those of a part that ranks.  With queries, it is the mean
    over the rows of each query, in bits.

    Attributes
    ----------
    relevant : float, optional
        Label from which a row is positive; by default, labels must be 0 and 1.
    """

    relevant: float | None = None

    def __post_init__(self) -> None:
        if self.relevant is not None:
            object.__setattr__(self, "relevant", number("relevant", self.relevant))

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        return log_loss_derivatives(queries, scores, self.relevant)

    def __str__(self) -> str:
        return "logloss" + (
            "" if self.relevant is None else f"(relevant={shortest(self.relevant)})"
        )


class ObjectiveOn(Objective):
    """An objective for labels that it carries, made by `Objective.on`.

    Attributes
    ----------
    objective : Objective
    labels : (n,) float64
    metric : RankingMetric or WeightedSum
    """

    has_own_labels = True

    def __init__(self, objective: Objective, labels: ArrayLike) -> None:
        if objective.uses_positions or isinstance(objective, ObjectiveOn):
            raise TypeError(f"{objective!r} cannot have labels of its own: call on() of its part")
        self.objective, self.labels = objective, Queries(labels).labels
        self.metric, self.one_group = objective.metric, objective.one_group
        self._kept: WeakKeyDictionary[Queries, Queries] = WeakKeyDictionary()

    def _own(self, queries: Queries) -> Queries:
        if queries not in self._kept:
            self._kept[queries] = queries.with_own_labels(self.labels, repr(self))
        return self._kept[queries]

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        return self.objective.derivatives(self._own(queries), scores)

    def compares_within_queries(self, queries: Queries) -> bool:
        return self.objective.compares_within_queries(queries)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept=WeakKeyDictionary())

    def __repr__(self) -> str:
        return f"{self.objective!r}.on(<{self.labels.size} labels>)"


@dataclass(unsafe_hash=True, repr=False)
class CombinedObjective(Objective):
    """A weighted sum of objectives; create it with `combine`, or `lambda_objective` of a sum.

    Attributes
    ----------
    parts : tuple of (Objective or LogLoss, float)
    metric : WeightedSum or RankingMetric
        The sum of the parts that rank, or the metric of the only one.
    one_group : bool
        Whether it is set for all parts that rank.
    """

    parts: tuple[tuple[Objective | LogLoss, float], ...]
    metric: WeightedSum | RankingMetric = field(init=False)
    one_group: bool = field(init=False)

    def __post_init__(self) -> None:
        ranking = self._ranking()
        # The metric of the labels of the data set, if any part is of these.
        named = [each for each in ranking if not isinstance(each[0], ObjectiveOn)] or ranking[:1]
        terms = [(cast(RankingMetric, part.metric), weight) for part, weight in named]
        whole = WeightedSum(tuple(terms))
        pointwise = [weight for part, weight in self.parts if isinstance(part, LogLoss)]
        if len(pointwise) > 1:
            raise ValueError("log-loss occurs twice in the sum: give it one weight")
        for weight in pointwise:
            number("the weight of logloss", weight, above=0.0)
        self.metric = terms[0][0] if len(terms) == 1 < len(self.parts) else whole
        self.one_group = all(part.one_group for part, _ in ranking)

    def _ranking(self) -> list[tuple[Objective, float]]:
        return [(part, weight) for part, weight in self.parts if isinstance(part, Objective)]

    @property
    def __name__(self) -> str:
        if len(self._ranking()) == len(self.parts):
            return super().__name__
        terms = [
            f"{'' if weight == 1 else shortest(weight) + '*'}"
            f"{part.metric if isinstance(part, Objective) else part}"
            for part, weight in self.parts
        ]
        return f"lambda_{'+'.join(terms)}"

    @property
    def has_own_labels(self) -> bool:  # type: ignore[override]
        """Whether any part was made by `on`."""
        return any(isinstance(part, ObjectiveOn) for part, _ in self.parts)

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Gradient and Hessian of every row times its weight, (n,) float64 each."""
        gradient, hessian = np.zeros(queries.n_documents), np.zeros(queries.n_documents)
        for part, weight in self.parts:
            part_gradient, part_hessian = part.derivatives(queries, scores)
            gradient += weight * part_gradient
            hessian += weight * part_hessian
        return gradient, hessian

    def compares_within_queries(self, queries: Queries) -> bool:
        return any(part.compares_within_queries(queries) for part, _ in self._ranking())

    def __repr__(self) -> str:
        parts = ", ".join(f"{part!r}: {shortest(weight)}" for part, weight in self.parts)
        return f"combine({{{parts}}})"


def lambda_objective(
    metric: str | RankingMetric | Declaration | WeightedSum,
    *,
    sigma: float = 1.0,
    normalize: bool = True,
    damping: float | None = None,
    damped: float = 1.0,
    noise: float | None = None,
    one_group: bool = False,
    surrogate: str | RankingMetric | None = None,
    balance: float = BALANCE,
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
    damping : float or None, default=None
        Divide a share of each pair by ``damping + |score distance|`` (unless all scores of the
        query are equal), which gives more weight to pairs with close scores.  The built-in
        objectives of LightGBM and XGBoost have 0.01.
    damped : float, default=1.0
        The share that ``damping`` divides: the weight of a pair is multiplied by
        ``1 - damped + damped / (damping + |score distance|)``.
    noise : float or None, default=None
        Scale of logistic noise, for data with queries: half of the gradient comes from neighbours
        in rankings by noisy scores, as in CatBoost's YetiRank, where the scale is 1.
    one_group : bool, default=False
        Treat a data set without queries as a single query, which is always the case for AUC, MAUC
        and MAP.  For these metrics a row of weight k counts as k identical rows; for AUC, it gets
        the sum of their gradients (see the how-to page on weights).  For other metrics,
        a weight multiplies the gradient of its row.
    surrogate : str, RankingMetric or Declaration, optional
        The metric whose swap deltas weight the pairs; ``metric`` is still the one that is
        evaluated.  The default is that of the declaration (``reciprocal_ranks`` for MRR;
        MAP for success@k, P@k, recall@k, F1@k, R-precision and ``top_precision``, whose value few
        swaps change), or else ``metric`` without its cutoff (NDCG for ``"ndcg@10"``).
        ``surrogate=metric`` weights the pairs by the metric itself.  Metrics with the same
        surrogate train the same model on data with queries: ``"ndcg@1"`` and ``"ndcg@100"``, or
        ``"p@5"``, ``"recall@10"`` and ``"map"``.
        Without queries, the default of AUC is ``"auc(pairs=mixed)"``: half of the gradient is that
        of all pairs with the same weight, and half that of log-loss at the score plus the constant
        that makes it lowest.  The default of MAUC is ``"mauc(pairs=equal)"``: all pairs of two
        labels have the same weight, as those of concordance always have.
    balance : float, default=0.5
        For data without queries, the Hessians of class c are multiplied by
        ``(k n_c / n) ** balance``, where n_c of n rows are of that class and k is the number of
        classes (with weights, n_c and n are sums of weights).  With 0, the Hessians of the pairs
        are used, which are much larger for a rare class, so that its leaves take small steps; with
        1, all classes have the same mean Hessian, as in log-loss at the base rate.  It has no
        effect for data with queries, nor for metrics that need ``one_group``.
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
        For unknown metrics or options (the message lists the known ones), metrics that cannot be
        objectives, and values of the wrong type or out of range.

    Examples
    --------
    >>> from lambdaplus import lambda_objective
    >>> lambda_objective("ndcg", gain="linear")
    lambda_objective('ndcg(gain=linear)', sigma=1, normalize=True, damping=None)
    >>> lambda_objective("ndcg@10")
    lambda_objective('ndcg@10', sigma=1, normalize=True, damping=None, surrogate='ndcg')
    >>> lambda_objective("ndcg@10 + 0.5*map").metric.parts[1][1]
    0.5
    """
    terms = terms_of(metric)
    log_losses = [_log_loss(name, options.get("relevant")) for name, _ in terms]
    names = [name for (name, _), other in zip(terms, log_losses, strict=True) if other is None]
    if not names:
        raise ValueError(
            f"{metric!r} does not rank: add a ranking metric, as in 'logloss + map', or use the "
            "framework's own log-loss, objective='binary' or 'binary:logistic'"
        )
    shares = iter(share_options(names, options) if len(names) > 1 else [options])
    parts: list[tuple[Objective | LogLoss, float]] = []
    for (name, weight), part in zip(terms, log_losses, strict=True):
        if part is not None:
            parts.append((part, weight))
            continue
        parsed = objective_metric(name, **next(shares))
        other = _default_surrogate(parsed)
        if surrogate is not None:
            other = objective_metric(surrogate).with_pairs(of_table=False)
        shared = sigma, normalize, damping, noise, one_group, balance, damped
        parts.append((LambdaObjective(parsed, other, *shared), weight))
    only, weight = parts[0]
    if len(parts) == 1 and weight == 1.0 and isinstance(only, LambdaObjective):
        return only
    return CombinedObjective(tuple(parts))


def _log_loss(name: Any, relevant: Any) -> LogLoss | None:
    """Log-loss, if this is its name, such as ``logloss`` or ``logloss(relevant=2)``."""
    found = _LOG_LOSS.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return None
    return LogLoss(relevant if found[1] is None else number_of(found[1]))


def _default_surrogate(metric: RankingMetric) -> RankingMetric:
    """The metric whose swap deltas weight the pairs; see `lambda_objective`."""
    declared = metric.declaration
    if declared.surrogate and "pairs" not in dict(metric.changed):
        options: dict[str, Any] = {"relevant": metric.relevant} if declared.binary else {}
        return parse_metric(declared.surrogate, **options)
    return declared(**dict[str, Any](metric.changed)) if declared.cutoff == "optional" else metric


def combine(parts: Mapping[Objective | LogLoss, float]) -> CombinedObjective:
    """Create an objective that optimises a weighted sum of metrics.

    Its gradient is the weighted sum of the gradients of the parts, and so is its Hessian.

    Parameters
    ----------
    parts : dict of LambdaObjective to float
        Positive weights.  One of the parts may be a `LogLoss`.

    Returns
    -------
    CombinedObjective

    Raises
    ------
    ValueError
        If no part ranks, a weight is not positive, or a metric or `LogLoss` occurs twice.
    TypeError
        For parts that are not lambda objectives.

    Notes
    -----
    Weights are comparable, since every part is normalised for each query (see ``normalize`` of
    `lambda_objective`): a metric with large swap deltas, such as DCG, does not dominate one with
    small deltas, such as P@10.  With ``normalize=False``, the parts have the units of their
    metrics.  The corresponding evaluation metric is ``eval_metric("ndcg@10 + 0.5*map")``.

    Examples
    --------
    >>> from lambdaplus import combine, lambda_map, lambda_objective
    >>> both = combine({lambda_objective("ndcg@10"): 1, lambda_map: 0.5})
    >>> str(both.metric)
    'ndcg@10+0.5*map'
    >>> both == lambda_objective("ndcg@10 + 0.5*map")
    True
    """
    if all(isinstance(part, LogLoss) for part in parts):
        raise ValueError("combine needs at least one objective that ranks")
    for part in parts:
        if isinstance(part, LogLoss):
            continue
        if not isinstance(part, Objective) or isinstance(part.metric, WeightedSum):
            shown = part.name if isinstance(part, Declaration) else part
            raise TypeError(
                f"{shown!r} is not a lambda objective: create parts with lambda_objective, or pass "
                "an expression such as 'ndcg@10 + 0.5*map' to lambda_objective"
            )
        if part.uses_positions:
            raise TypeError(f"{part!r} cannot be a part of a sum: pass the sum to PositionBias")
    return CombinedObjective(tuple((part, float(weight)) for part, weight in parts.items()))


lambda_auc, lambda_mauc, lambda_map, lambda_mrr, lambda_ndcg = (
    cast(LambdaObjective, lambda_objective(name)) for name in ("auc", "mauc", "map", "mrr", "ndcg")
)
