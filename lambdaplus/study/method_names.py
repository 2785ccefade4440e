"""Methods by their names, which may have options in brackets."""

import ast
from collections import Counter
from typing import Any

from lambdaplus.compute.messages import hint
from lambdaplus.compute.removed import removed
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.weighted_sum import terms_of
from lambdaplus.objectives.log_loss import find_log_loss
from lambdaplus.study.boosted_trainer import OBJECTIVE_OPTIONS
from lambdaplus.study.estimator_trainer import find_class, train_estimator
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.methods import Method
from lambdaplus.study.registry import BOOSTED, METHODS, built_in, of_lambdaplus, with_options

OWN_LOSSES = (
    "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie",
    "cross_entropy",
)  # fmt: skip
"""Losses of LightGBM that are no default; those of XGBoost have a colon in their names."""
# The frameworks' own objectives of a loss, by the names that people have for it.
_LOSSES = (
    ("logloss log_loss binary_logloss logistic binary binary:logistic", "binary",
     "binary:logistic"),
    ("l2 mse rmse squarederror squared_error regression reg:squarederror", "regression",
     "reg:squarederror"),
    ("l1 mae absoluteerror regression_l1 reg:absoluteerror", "regression_l1", "reg:absoluteerror"),
    ("lambdarank lambdamart rank:ndcg", "lambdarank", "rank:ndcg"),
    ("xendcg xe_ndcg rank_xendcg", "rank_xendcg", "rank:ndcg"),
    ("pairwise ranknet rank:pairwise", "lambdarank", "rank:pairwise"),
    ("poisson count:poisson", "poisson", "count:poisson"),
    ("gamma reg:gamma", "gamma", "reg:gamma"),
    ("tweedie reg:tweedie", "tweedie", "reg:tweedie"),
    ("huber pseudohuber reg:pseudohubererror", "huber", "reg:pseudohubererror"),
    ("cox survival:cox", "", "survival:cox"),
)  # fmt: skip
_NAMED = {method.name: method for method in METHODS}


def find_methods(names: str | None, labels: LabelKind = LabelKind()) -> list[Method]:  # noqa: B008
    """Find methods by name.

    Parameters
    ----------
    names : str or None
        Comma-separated: names of methods, prefixes of them (``lightgbm``, ``xgboost:rank``), a
        framework and a metric or sum of metrics to optimise (``lightgbm:ndcg@10+0.5*map``), a
        framework and an objective of its own (``xgboost:reg:squarederror``), a
        scikit-learn compatible estimator as ``module:Class``, or ``all``.  None stands for the
        boosted trees.
        Options are in brackets: those of a metric, of `~lambdaplus.objectives.lambda_objective`
        (``lightgbm:ndcg@10(sigma=2)``), of trees that a random search would draw
        (``xgboost:auc(max_leaves=8)``), of a framework beside its own objective
        (``xgboost:rank:map(lambdarank_pair_method=mean)``), or of an estimator
        (``svm:map(C=10)``).  With ``labels=ranks``, a framework's own objective is trained on
        the ranks of labels in their query.
    labels : LabelKind
        Of the data; without, grades in queries.  A prefix, ``all`` and the default stand for those
        of its methods that fit.

    Returns
    -------
    list of Method

    Raises
    ------
    ValueError
        For an unknown name (the message lists the known ones), invalid options, and if no method
        of a prefix fits.
    ImportError
        If a framework that an estimator of lambdaplus needs is not installed.

    Examples
    --------
    >>> [method.name for method in find_methods("lightgbm:lambdarank,xgboost:map@5(sigma=2)")]
    ['lightgbm:lambdarank', 'xgboost:lambda_map@5(sigma=2)']
    """
    return find_fitting(names, labels)[0]


def find_fitting(names: str | None, labels: LabelKind) -> tuple[list[Method], dict[str, list[str]]]:
    """See `find_methods`; also the methods that a name stands for and that do not fit, by why."""
    methods: dict[str, Method] = {}
    reasons: dict[str, str] = {}
    times = Counter([""] if names is None else split_names(names))
    for name in times:
        if times[name] > 1:
            raise ValueError(f"method {name!r} is given twice")
        several = _beginning_with(name)
        misfits = {one.name: why for one in several if (why := labels.misfit(one))}
        if several and len(misfits) == len(several):
            why = "; ".join(f"{other}: {why}" for other, why in misfits.items())
            raise ValueError(f"no method {name!r} fits the data: {why}")
        fitting = [one for one in several if one.name not in misfits]
        methods |= {one.name: one for one in fitting or [_new(name)]}
        reasons |= misfits
    if not methods:
        raise ValueError("no method was given")
    left_out: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if name not in methods:  # nor named itself
            left_out.setdefault(why, []).append(name)
    return list(methods.values()), left_out


def _beginning_with(name: str) -> list[Method]:
    """The methods of a prefix: all for ``all``, the boosted trees for an empty one."""
    if name in _NAMED:
        return []
    if name not in ("", "all"):
        return [method for method in METHODS if method.name.startswith(name)]
    return [method for method in METHODS if name or method.family in BOOSTED]


def _new(name: str) -> Method:
    """One method: of the list, one of these with options, FRAMEWORK:METRIC, or module:Class."""
    if name in _NAMED:
        return _NAMED[name]
    framework, _, rest = name.partition(":")
    try:
        base, options = _split(name)
        known = _NAMED.get(base)
        if known and not (framework in BOOSTED and callable(known.target)):
            return with_options(known, options)
        own = base.partition(":")[2]
        of_xgboost = framework == "xgboost" and ":" in own
        if of_xgboost or (framework == "lightgbm" and own in OWN_LOSSES):
            return with_options(built_in(framework, own), options)
        if framework in BOOSTED and (meant := _own_loss(framework, own)):
            raise ValueError(f"{framework} calls this loss {meant}: name {framework}:{meant}")
        if framework in BOOSTED and rest:
            return _of_lambdaplus(framework, rest.removeprefix("lambda_"))
    except ValueError as error:
        raise ValueError(f"method {name!r}: {error}") from None
    if rest and framework not in {method.family for method in METHODS}:
        try:
            find_class(base)
        except ValueError:
            if instead := removed(framework):
                raise ValueError(f"unknown method {name!r}{instead}") from None
            raise
        return with_options(Method(base, train_estimator, base), options)
    raise ValueError(
        f"unknown method {name!r}{removed(framework) or hint(name, _NAMED)}; known: "
        f"{', '.join(_NAMED)}; or FRAMEWORK:METRIC, or module:Class"
    )


def _own_loss(framework: str, name: str) -> str:
    """The objective of a framework for a loss that people call so; empty for other names."""
    place = [*BOOSTED].index(framework)
    found = [own[place] for names, *own in _LOSSES if name.lower() in names.split()]
    return next(iter(found), "")


def _of_lambdaplus(framework: str, name: str) -> Method:
    """A method for a metric or sum, with options of it, of the objective and of trees in brackets.

    Those of the objective and of trees are in the last brackets of a sum.
    """
    taken = OBJECTIVE_OPTIONS | BOOSTED[framework][1].keys() | {"trees"}
    terms: list[str] = []
    options: dict[str, Any] = {}
    for metric, weight in terms_of(name):
        base, given = _split(str(metric))
        if options:
            raise ValueError(f"{', '.join(options)} belong into the last brackets of the sum")
        options = {option: given.pop(option) for option in [*given] if option in taken}
        if find_log_loss(metric, None, 1.0) is not None:
            base, given = str(metric), {}
        try:
            parsed = str(parse_metric(base, **given)) if given else base
        except ValueError as error:
            known = f"; the objective and its trees have: {', '.join(sorted(taken))}"
            raise ValueError(f"{error}{known if 'no option' in str(error) else ''}") from None
        terms.append(parsed if weight == 1 else f"{shortest(weight)}*{parsed}")
    return of_lambdaplus(framework, "+".join(terms), **options)


def _split(name: str) -> tuple[str, dict[str, Any]]:
    """A name without its outermost brackets, and the options in them."""
    base, inside, depth = "", "", 0
    for letter in name:
        depth -= letter == ")"
        if depth > 0:
            inside += letter
        elif letter not in "()":
            base += letter
        elif letter == ")":
            inside += ","
        depth += letter == "("
    if depth:
        raise ValueError(f"{name!r} has brackets that are not closed, or not opened")
    options: dict[str, Any] = {}
    for option in split_names(inside):
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not equals or key in options:
            raise ValueError(f"{option!r} is not of the form option=value, or is twice")
        options[key] = _value(value)
    return base, options


def _value(text: str) -> Any:
    """A number, True, False or None, in any case, or else the text."""
    word = text.capitalize() if text.lower() in ("true", "false", "none") else text
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return text
    except (RecursionError, MemoryError):  # thousands of minus signs
        raise ValueError(f"a value of {len(text)} characters is too deeply nested") from None
