"""Metrics for LightGBM and XGBoost: feval, custom_metric, eval_metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import check_flag
from lambdaplus.evaluation.chosen_metrics import choose_metrics
from lambdaplus.frameworks.call_stack import maximise_early_stopping
from lambdaplus.frameworks.calls import read_call
from lambdaplus.frameworks.trainings import Training
from lambdaplus.lists.own_rows import OwnRows
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.vectors import as_labels
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.means import mean_values, one_class_in_words
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of, sum_of, terms_of

_UNSET: Any = object()  # LightGBM's estimators pass a group or None; XGBoost's omit the argument
_NO_VALUE = (
    "no query has a relevant document (for AUC and rank correlations, labels that differ), or all "
    "weights are 0"
)


@dataclass(frozen=True, repr=False)
class EvalMetric:
    """One or several metrics as a callable for both frameworks, made by `eval_metric`.

    The frameworks call it with ``(scores, data set)`` or with ``(labels, scores)``, and perhaps
    weights and query sizes.  For LightGBM the result is ``(name, value, True)`` (higher is better),
    for XGBoost ``(name, value)``, for several metrics a list of these, and for XGBoost's estimators
    only the value.

    Attributes
    ----------
    metrics : tuple of RankingMetric or WeightedSum
    one_group : bool

    Examples
    --------
    >>> from lambdaplus import eval_metric
    >>> metric = eval_metric("map")
    >>> metric([1, 0, 0], [0.1, 0.3, 0.2], None, [3])
    ('map', 0.3333333333333333, True)
    """

    metrics: tuple[RankingMetric | WeightedSum, ...]
    one_group: bool = False
    own: tuple[OwnRows, ...] = field(default=(), compare=False)  # of data sets of several sizes
    suffix: str = ""

    @property
    def __name__(self) -> str:
        return "_".join(map(str, self.metrics)) + self.suffix

    def on(self, *labels: ArrayLike, name: str = "own") -> EvalMetric:
        """The same metrics for other labels of the data sets that are evaluated.

        Parameters
        ----------
        *labels : (n,) array_like
            A label for each row of a data set, in its order; of several data sets, if their numbers
            of rows differ.
        name : str
            What the names of the metrics end in, after an underscore.

        Returns
        -------
        EvalMetric

        Raises
        ------
        ValueError
            For invalid labels or two data sets of the same number of rows; and in an evaluation, if
            no labels are of its number of rows, or they were used for another data set before.
        """
        checked = [as_labels(given) for given in labels]
        if not checked or len({own.size for own in checked}) < len(checked):
            raise ValueError(
                "on() needs labels of data sets with different numbers of rows, got "
                f"{[own.size for own in checked]}: make a metric for each of them"
            )
        return replace(self, own=tuple(map(OwnRows, checked)), suffix=f"_{name}")

    def _queries(self, queries: Queries, training: Training) -> Queries:
        by_size = {one.labels.size: one for one in self.own if one.labels is not None}
        if not by_size:
            return queries
        own = by_size.get(queries.n_documents, self.own[0])
        return own.of(queries, repr(self), training)

    def __call__(
        self,
        y_true_or_preds: ArrayLike,
        y_pred_or_data: Any,
        sample_weight: ArrayLike | None = None,
        group: Any = _UNSET,
    ) -> Any:
        """Evaluate the metrics, with the arguments that the frameworks pass.

        Raises
        ------
        ValueError
            For invalid input, if no query has a value, without queries where the training data has
            some (unless ``one_group``), and on several LightGBM machines.
        TypeError
            If an estimator of XGBoost, which supports one metric, calls several, or if LightGBM or
            XGBoost was given it as an objective.

        Notes
        -----
        XGBRanker's ``eval_metric=`` calls a metric query by query, and averages by query size: use
        `XGBoostRanker` or ``xgboost.train(custom_metric=)``.

        If XGBoost trains on several workers, each calls this with its own rows and gets the value
        over all rows.  With queries, it equals the value on one machine.  Without, scores are
        rounded to cells first, and documents in the same cell are tied.
        """
        sizes = None if group is _UNSET else group
        with read_call(y_true_or_preds, y_pred_or_data, sample_weight, sizes, of=self) as call:
            if call.caller.takes_it_for == "objective":
                name = str(self.metrics[0])
                raise TypeError(f"{self!r} is no objective: pass lambda_objective({name!r})")
            call.check_evaluation_set(self.one_group)
            queries = self._queries(call.queries, call.training)
            mean = mean_values(self.metrics, queries, call.scores, self.one_group)
        for name, value in mean.items():
            if math.isnan(value):
                parts = [part for metric in self.metrics for part, _ in parts_of(metric)]
                why = next(filter(None, (one_class_in_words(part, queries) for part in parts)), "")
                raise ValueError(
                    f"{name} has no value on any query of this data set: {why or _NO_VALUE}. "
                    "XGBRanker calls a metric query by query: use XGBoostRanker or "
                    "xgboost.train(custom_metric=)"
                )
        values = {f"{metric}{self.suffix}": mean[str(metric)] for metric in self.metrics}
        if call.framework == "arrays" and group is _UNSET:
            maximise_early_stopping(self, [self.__name__], call.training, call.caller)
            if len(self.metrics) > 1:
                raise TypeError(
                    "XGBoost's estimators support a single metric: pass one name to eval_metric()"
                )
            return next(iter(values.values()))
        higher_is_better = () if call.framework == "xgboost" else (True,)
        shown = call.reported_names(values)
        maximise_early_stopping(self, shown.values(), call.training, call.caller)
        results = [(shown[name], value, *higher_is_better) for name, value in values.items()]
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        names = ", ".join(repr(str(metric)) for metric in self.metrics)
        relabelled = f".on(<labels>, name={self.suffix[1:]!r})" if self.own else ""
        return f"eval_metric({names}{', one_group=True' if self.one_group else ''}){relabelled}"


def eval_metric(
    *metrics: Metric | WeightedSum, one_group: bool = False, **options: Any
) -> EvalMetric:
    """Create metrics for LightGBM's ``feval=`` and XGBoost's ``custom_metric=``.

    Parameters
    ----------
    *metrics : str, RankingMetric, Declaration or WeightedSum
        For example ``"auc", "map", "ndcg@10"``, or a weighted sum such as ``"ndcg@10 + 0.5*map"``,
        which is the sum of the means of the metrics times their weights.
    one_group : bool
        Treat data without queries as one query, for metrics other than AUC, MAUC and MAP.
    **options
        Parameters for the metrics that have them, such as ``gain="linear"``.

    Returns
    -------
    EvalMetric

    Raises
    ------
    ValueError
        Without metrics, for unknown names, and for options that none of the metrics has.

    Notes
    -----
    XGBoost's early stopping minimises custom metrics unless their names start with auc, aucpr, pre,
    map or ndcg.  As the ``custom_metric=`` of a training, those of this function are maximised,
    unless early stopping has ``maximize=`` or watches another metric.  If a function of your own
    calls them, pass ``maximize=True``.

    Examples
    --------
    >>> from lambdaplus import eval_metric
    >>> eval_metric("map", "ndcg@10")([1, 0], [0.2, 0.1], None, [2])
    [('map', 1.0, True), ('ndcg@10', 1.0, True)]
    """
    check_flag(one_group=one_group)
    terms = [terms_of(metric) for metric in metrics]
    parsed = iter(choose_metrics([name for sum_ in terms for name, _ in sum_], options))
    sums = [sum_of([(next(parsed), weight) for _, weight in sum_]) for sum_ in terms]
    return EvalMetric(tuple(sums), one_group)


eval_auc, eval_mauc = eval_metric("auc"), eval_metric("mauc")
eval_map, eval_mrr, eval_ndcg = eval_metric("map"), eval_metric("mrr"), eval_metric("ndcg")
