"""The objective of one metric: what weights its pairs, and what it is of data without queries."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.engine.lambda_gradient import LambdaGradient
from lambdaplus.frameworks.calls import Call
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.means import one_class_in_words
from lambdaplus.metrics.names import default_surrogate
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.scope import scope
from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.gradient_on import gradient_on, is_as_log_loss
from lambdaplus.objectives.log_loss import LogLoss
from lambdaplus.objectives.objective import Objective
from lambdaplus.objectives.pair_options import PairOptions, WeighingMetric, allows_equal_pairs
from lambdaplus.ranking.rounding import MOST_CLASSES

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
