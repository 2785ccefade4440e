"""The methods of a comparison, each listed once."""

from __future__ import annotations

from lambdaplus.comparison.boosting import train_lightgbm, train_xgboost
from lambdaplus.comparison.estimators import find_class, train_estimator
from lambdaplus.comparison.methods import Method, Trainer
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective

_TRAINERS: dict[str, Trainer] = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}
_OURS = ("auc", "mauc", "map", "mrr", "ndcg")


def _native(framework: str, objective: str, criterion: str) -> Method:
    return Method(f"{framework}:{objective}", _TRAINERS[framework], objective, criterion)


def _ours(framework: str, metric: str) -> Method:
    # An NDCG objective is judged by NDCG@10, ours and the frameworks' own alike.
    criterion = "ndcg@10" if metric == "ndcg" else str(parse_metric(metric))
    return Method(
        f"{framework}:lambda_{metric}", _TRAINERS[framework], lambda_objective(metric), criterion
    )


METHODS: tuple[Method, ...] = (
    _native("lightgbm", "lambdarank", "ndcg@10"),
    _native("lightgbm", "rank_xendcg", "ndcg@10"),
    _native("xgboost", "rank:ndcg", "ndcg@10"),
    _native("xgboost", "rank:map", "map"),
    *(_ours(framework, metric) for framework in _TRAINERS for metric in _OURS),
)


def find_methods(names: str | None) -> list[Method]:
    """Methods by comma-separated names; all for None.

    A name is that of a method, the beginning of some (``lightgbm``, ``xgboost:rank``), a framework
    and a metric that becomes its objective (``lightgbm:ndcg@10``), or a scikit-learn style
    estimator as ``module:Class``.

    Raises
    ------
    ValueError
        For a name that is none of these, with the known ones.

    Examples
    --------
    >>> [method.name for method in find_methods("lightgbm:lambdarank,xgboost:map@5")]
    ['lightgbm:lambdarank', 'xgboost:lambda_map@5']
    """
    if names is None:
        return list(METHODS)
    found: dict[str, Method] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        exact = [method for method in METHODS if method.name == name]
        by_beginning = [method for method in METHODS if method.name.startswith(name)]
        for method in exact or by_beginning or [_new(name)]:
            found[method.name] = method
    if not found:
        raise ValueError("no method was named")
    return list(found.values())


def _new(name: str) -> Method:
    """A method that the list does not have: FRAMEWORK:METRIC or module:Class."""
    framework, _, rest = name.partition(":")
    try:
        if framework in _TRAINERS and rest:
            return _ours(framework, rest.removeprefix("lambda_"))
        if rest:
            find_class(name)
            return Method(name, train_estimator, name, "ndcg@10")
    except ValueError as error:
        raise ValueError(f"method {name!r}: {error}") from None
    known = ", ".join(method.name for method in METHODS)
    raise ValueError(
        f"unknown method {name!r}; known: {known}; or FRAMEWORK:METRIC, or module:Class"
    )
