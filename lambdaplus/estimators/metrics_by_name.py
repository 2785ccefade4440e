"""The metrics that a fit evaluates, by name: those of lambdaplus or of the framework."""

from collections.abc import Callable, Iterable
from typing import Any

from lambdaplus.compute.messages import warn
from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.metrics.weighted_sum import parts_of
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import NATIVE, Named, may_be_native

_OF_RANKINGS = ("auc", "average_precision", "map", "mean_average_precision", "ndcg", "lambdarank",
                "pre", "rank_xendcg", "xendcg", "xe_ndcg")  # fmt: skip


def find_metrics(
    metrics: Any, objective: Any = None, one_group: bool = False
) -> tuple[EvalMetric | None, list[Any]]:
    """The metrics of lambdaplus among those given, and all others, for the framework.

    With ``one_group``, as in classifiers, they treat all rows as one ranking.
    """
    ours: list[Any] = []
    native: list[Any] = []
    one_group |= bool(getattr(objective, "one_group", False))
    for metric in metrics if isinstance(metrics, list | tuple) else [metrics]:
        if isinstance(metric, EvalMetric):
            if metric.own:
                raise ValueError(
                    f"eval_metric={metric!r} has labels of its own, which estimators do not pass "
                    "on: use lightgbm.train(feval=) or xgboost.train(custom_metric=)"
                )
            ours += metric.metrics
            one_group |= metric.one_group
        elif isinstance(metric, Named):
            try:
                ours += eval_metric(metric).metrics
            except ValueError:
                if not isinstance(metric, str) or not all(map(may_be_native, split_names(metric))):
                    raise
                native.append(metric)
        elif callable(metric) and not isinstance(metric, Objective):
            native.append(metric)
        elif metric is not None:
            raise ValueError(f"eval_metric={metric!r} is neither a metric nor a function")
    return (eval_metric(*ours, one_group=one_group) if ours else None), native


def refuse_reversed(metrics: EvalMetric, objective: Any) -> None:
    """Raise a ValueError for a metric that falls as the objective's ranking gets better.

    Early stopping and searches would choose the worst model.
    """
    if objective == "survival:cox" or getattr(objective, "has_own_labels", False):
        return  # XGBoost's ranks by risk
    aim = getattr(objective, "metric", None)
    low_first = aim is not None and parts_of(aim)[0][0].low_labels_first
    for metric in metrics.metrics:
        if parts_of(metric)[0][0].low_labels_first != low_first:
            first, other = ("high", "low") if low_first else ("low", "high")
            raise ValueError(
                f"eval_metric={str(metric)!r} is higher with {first} labels first, and the "
                f"objective ranks {other} ones first, so early stopping would choose the worst "
                "round: pass a metric and an objective of the same order (cindex(higher=life) has "
                "long times first)"
            )


def warn_of_watched_losses(names: Iterable[Any], objective: Any) -> None:
    """Warn if early stopping watches a loss of the framework, which takes scores at face value."""
    for name in names:
        if isinstance(name, str) and not name.lower().startswith(_OF_RANKINGS):
            warn(
                f"early stopping watches {name!r}, which takes scores for predictions of labels. "
                f"Those of {objective.__name__} only rank, so it stops at the wrong round: "
                "evaluate metrics of rankings only"
            )


def warn_of_minimised(watched: Iterable[Any], stops: Callable[[str], bool]) -> None:
    """Warn if XGBoost's early stopping minimises a function that may be one to maximise."""
    for metric in watched:
        name = getattr(metric, "__name__", "")
        known = name.startswith(("auc", "map", "ndcg", "pre")) and name != "mape"  # to XGBoost
        loss = name.endswith(("_error", "_loss", "_deviance"))  # as scikit-learn calls them
        if callable(metric) and not known and not loss and stops(name):
            warn(
                f"XGBoost's early stopping minimises {name or metric!r}. To maximise it, pass "
                "callbacks=[xgboost.callback.EarlyStopping(rounds=..., maximize=True)] in place of "
                "early_stopping_rounds; for a loss, the same with maximize=False"
            )


def function_of_score(metrics: Any) -> Any:
    """The function among metrics of which none is of lambdaplus; None without any.

    A ValueError is raised if the framework alone knows the metrics.
    """
    ours, native = find_metrics(metrics)
    functions = [metric for metric in native if callable(metric)]
    if ours is None and native and not functions:
        raise ValueError(
            f"score has no value of eval_metric={metrics!r}, which the framework evaluates: pass a "
            "metric of lambdaplus first, or call lambdaplus.evaluate"
        )
    return functions[-1] if ours is None and functions else None


def metric_of_score(objective: Any, preferred: Any = None) -> EvalMetric:
    """The metric of `score`: the first of lambdaplus among those given, or the objective's."""
    native = NATIVE.get(objective) if isinstance(objective, str) else None
    for candidate in (preferred, getattr(objective, "metric", native)):
        metrics, _ = find_metrics(candidate, objective)
        if metrics is not None:
            return EvalMetric(metrics.metrics[:1], metrics.one_group)
    raise ValueError(
        f"no metric is known for the objective {objective!r}: pass eval_metric, such as 'ndcg@10'"
    )
