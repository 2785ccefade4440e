"""Names of metrics that LightGBM knows; it ignores others without a word."""

from collections.abc import Iterable, Iterator
from typing import Any

from lambdaplus.evaluation.feval import eval_metric
from lambdaplus.metrics.names import split_names

# LightGBM has no list of its metrics.  These are those of its documentation, with their aliases.
_OF_LIGHTGBM = {
    "none", "null", "na", "custom", "l1", "mean_absolute_error", "mae", "regression_l1", "l2",
    "mean_squared_error", "mse", "regression_l2", "regression", "rmse", "root_mean_squared_error",
    "l2_root", "quantile", "mape", "mean_absolute_percentage_error", "huber", "fair", "poisson",
    "gamma", "gamma_deviance", "tweedie", "r2", "ndcg", "lambdarank", "rank_xendcg", "xendcg",
    "xe_ndcg", "xe_ndcg_mart", "xendcg_mart", "map", "mean_average_precision", "auc",
    "average_precision", "binary_logloss", "binary", "binary_error", "auc_mu", "multi_logloss",
    "multiclass", "softmax", "multiclassova", "multiclass_ova", "ova", "ovr", "multi_error",
    "cross_entropy", "xentropy", "cross_entropy_lambda", "xentlambda", "kullback_leibler", "kldiv",
}  # fmt: skip
# LightGBM's classifier translates these, but only as eval_metric.
_OF_ITS_CLASSIFIER = {"logloss", "error"}


def refuse_unknown_to_lightgbm(names: Iterable[Any], by_classifier: bool = False) -> None:
    """Raise a ValueError for names of metrics that LightGBM would silently ignore."""
    for given, name in _unknown(names):
        if by_classifier and given in _OF_ITS_CLASSIFIER:
            continue
        try:
            eval_metric(name)
        except ValueError as error:
            raise ValueError(f"{error}; LightGBM has no metric {name!r} either") from None
        raise ValueError(f"eval_metric={given!r}: pass several metrics as a list")


def refuse_metrics_lightgbm_ignores(metric: Any, how: str, evaluated: Iterable[str] = ()) -> None:
    """Raise a ValueError for a parameter ``metric`` with a name that LightGBM does not know.

    ``how`` says how to pass our metrics, as in "eval_metric={name}".  Names of those that are
    ``evaluated`` anyway may be there for tuners, which watch them.
    """
    of_ours = {*evaluated}
    for _, name in _unknown(metric if isinstance(metric, list | tuple | set) else [metric]):
        if name in of_ours:
            continue
        try:
            [ours] = eval_metric(name).metrics
            if str(ours) in of_ours:
                said = f"lambdaplus evaluates it as {str(ours)!r}: use that name"
            else:
                said = f"pass {how.format(name=repr(name))}, of lambdaplus"
        except ValueError as error:
            said = f"of lambdaplus: {error}"
        if name in _OF_ITS_CLASSIFIER:
            said = f"pass 'binary_{name}' or 'multi_{name}'"
        if (cutoff := name.partition("@"))[0].lower() in _OF_LIGHTGBM and cutoff[1]:
            said += f"; LightGBM's own {cutoff[0]} has its cutoffs in eval_at"
        raise ValueError(f"metric={name!r}: LightGBM has no such metric; {said}")


def _unknown(names: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """What was given, and the names in it that LightGBM does not know, cutoffs with them."""
    for given in names:
        for name in split_names(given) if isinstance(given, str) and given else ():
            if name.lower() not in _OF_LIGHTGBM:
                yield given, name
