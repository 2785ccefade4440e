"""Metrics for LightGBM and XGBoost: feval, custom_metric, eval_metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from lambdaplus.data.arguments import check_flag
from lambdaplus.evaluation.scoring import choose_metrics, mean_values
from lambdaplus.frameworks.calls import read_call
from lambdaplus.frameworks.internals import is_called_by_xgb_ranker, maximise_early_stopping
from lambdaplus.frameworks.metric_names import reported_names
from lambdaplus.metrics import Metric, RankingMetric
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of, sum_of, terms_of, value_of

_UNSET: Any = object()  # LightGBM's estimators pass a group or None; XGBoost's omit the argument


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
    """

    metrics: tuple[RankingMetric | WeightedSum, ...]
    one_group: bool = False

    @property
    def __name__(self) -> str:
        return "_".join(map(str, self.metrics))

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
            For invalid input, if no query has a value, and on several LightGBM machines.
        TypeError
            If called by XGBRanker, which evaluates each query and averages by query size, or with
            several metrics by another estimator of XGBoost, which supports one.

        Notes
        -----
        If XGBoost trains on several workers, each calls this with its own rows and gets the value
        over all rows.  With queries, it equals the value on one machine.  Without, scores are
        rounded to cells first, and documents in the same cell are tied.
        """
        if is_called_by_xgb_ranker():
            raise TypeError(
                "XGBRanker averages a callable metric by query size, which is not the mean over "
                "queries: use xgboost.train(custom_metric=...) instead"
            )
        sizes = None if group is _UNSET else group
        parts = dict.fromkeys(part for metric in self.metrics for part, _ in parts_of(metric))
        with read_call(y_true_or_preds, y_pred_or_data, sample_weight, sizes) as call:
            mean = mean_values(list(parts), call.queries, call.scores, self.one_group)
        for name, value in mean.items():
            if math.isnan(value):
                raise ValueError(
                    f"{name} has no value on any query of this data set: no query has a relevant "
                    "document (and, for AUC, another one), or all weights are 0"
                )
        values = {str(metric): value_of(metric, mean) for metric in self.metrics}
        if call.framework == "arrays" and group is _UNSET:
            maximise_early_stopping(self, [self.__name__])
            if len(self.metrics) > 1:
                raise TypeError(
                    "XGBoost's estimators support a single metric: pass one name to eval_metric()"
                )
            return next(iter(values.values()))
        higher_is_better = () if call.framework == "xgboost" else (True,)
        shown = reported_names(values)
        maximise_early_stopping(self, shown.values())
        results = [(shown[name], value, *higher_is_better) for name, value in values.items()]
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        names = ", ".join(repr(str(metric)) for metric in self.metrics)
        return f"eval_metric({names}{', one_group=True' if self.one_group else ''})"


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
    calls them, pass ``maximize=True``; where it is missing, an error is raised in the second round.

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
