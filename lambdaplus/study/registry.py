"""The list of methods for comparisons, and what a random search draws their parameters from."""

import ast
import contextlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.compute.messages import hint
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.names import split_names
from lambdaplus.objectives import lambda_objective
from lambdaplus.study.labels import Labels
from lambdaplus.study.methods import Method, Range, Space, Trainer
from lambdaplus.study.trainers import (
    OBJECTIVE_OPTIONS,
    find_class,
    train_catboost,
    train_estimator,
    train_lightgbm,
    train_xgboost,
)

# Parameters that all trees have in common ---------------------------------------------------------

LEAVES = Range(3, 64, log=True, whole=True, like="leaves")
RATE = Range(0.03, 0.3, log=True, like="rate")
DOCUMENTS = Range(1, 100, log=True, whole=True, like="documents")
FEATURES = Range(0.2, 1.0, like="features")
L2 = Range(0.01, 30.0, log=True, like="l2")
ROWS = Range(0.4, 1.0, like="rows")
YES_OR_NO = (False, True)

LIGHTGBM: Space = {
    "num_leaves": LEAVES,
    "learning_rate": RATE,
    "min_data_in_leaf": DOCUMENTS,
    "feature_fraction": FEATURES,
    "lambda_l2": L2,
    "bagging_fraction": ROWS,
    "bagging_freq": (1,),
    "extra_trees": YES_OR_NO,
    # With it, LightGBM drops features that it cannot split, and raises an error if none is left.
    "feature_pre_filter": (False,),
}
XGBOOST: Space = {
    "max_leaves": LEAVES,
    "learning_rate": RATE,
    # A bound on the sum of Hessians in a leaf, which are about 1/20 for most documents.
    "min_child_weight": Range(0.05, 5.0, log=True, like="documents"),
    "colsample_bytree": FEATURES,
    "lambda": L2,
    "subsample": ROWS,
}
CATBOOST: Space = {
    "depth": Range(2, 6, whole=True, like="leaves"),  # CatBoost's symmetric trees: 4 to 64 leaves
    "learning_rate": RATE,
    "rsm": FEATURES,
    "l2_leaf_reg": L2,
    "subsample": ROWS,
    "bootstrap_type": ("Bernoulli",),
    "random_strength": Range(0.1, 10.0, log=True),
}

# Options of single objectives ---------------------------------------------------------------------

LAMBDA_OBJECTIVE: Space = {
    "sigma": Range(0.3, 3.0, log=True),
    "damping": (None, 0.01, 0.1),
    "pointwise": (0.0, 0.5),
}
BY_QUERY: Space = {"bagging_by_query": YES_OR_NO}  # not ours
LAMBDARANK: Space = {
    **BY_QUERY,
    "lambdarank_truncation_level": Range(5, 100, log=True, whole=True),
    "sigmoid": Range(0.3, 3.0, log=True, like="sigma"),
    "lambdarank_norm": YES_OR_NO,
}
XGBOOST_PAIRS: Space = {
    "lambdarank_pair_method": ("topk", "mean"),
    "lambdarank_num_pair_per_sample": Range(1, 64, log=True, whole=True),
}
YETIRANK: Space = {
    "num_neighbors": Range(1, 8, log=True, whole=True),
    "noise": ("Gumbel", "Gauss"),
    "noise_power": Range(0.3, 3.0, log=True),  # only for Gauss
}


_TRAINERS: dict[str, tuple[Trainer, Space]] = {
    "lightgbm": (train_lightgbm, LIGHTGBM),
    "xgboost": (train_xgboost, XGBOOST),
    "catboost": (train_catboost, CATBOOST),
}
_WITH_OURS = ("lightgbm", "xgboost")
OWN_LOSSES = (
    "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie",
    "cross_entropy",
)  # fmt: skip
"""Losses of LightGBM that are no default; those of XGBoost have a colon in their names."""
_METRICS = ("auc", "mauc", "map", "ndcg", "spearman", "gini")  # MRR has the pairs of MAP


def _native(
    framework: str,
    objective: str,
    own: Space | None = None,
    criterion: str = "ndcg@10",
    **fixed: Any,
) -> Method:
    trainer, space = _TRAINERS[framework]
    space = {**space, **(own or {})}
    method = Method(f"{framework}:{objective}", trainer, objective, criterion, space=space)
    return with_options(method, fixed)


def with_options(method: Method, options: Mapping[str, Any]) -> Method:
    """The method with fixed parameters, which its name lists, in place of those to try."""
    if not options:
        return method
    given = ",".join(f"{name}={value}" for name, value in options.items())
    return replace(
        method,
        name=f"{method.name}({given})",
        fixed={**method.fixed, **options},
        grid={name: values for name, values in method.grid.items() if name not in options},
        space={name: values for name, values in method.space.items() if name not in options},
    )


def _ours(framework: str, metric: str) -> Method:
    """A method for a metric, with its options and those of the objective in brackets."""
    base, given = _split(metric)
    if re.search("[+*]", base):  # a sum, whose parts may have options of their metrics
        base, given = metric, {}
    options = {name: given.pop(name) for name in [*given] if name in OBJECTIVE_OPTIONS}
    try:
        named = parse_metric(base, **given) if given else base
    except ValueError as error:
        known = f"; the objective has: {', '.join(sorted(OBJECTIVE_OPTIONS))}"
        raise ValueError(f"{error}{known if 'no option' in str(error) else ''}") from None
    objective = lambda_objective(named)
    lambda_objective(named, **options)  # which raises an error for what cannot be
    name = objective.__name__.removeprefix("lambda_")
    # All NDCG objectives, ours and the frameworks' own, are validated with NDCG@10.
    criterion = "ndcg@10" if str(objective.metric) == "ndcg" else objective.metric
    trainer, trees = _TRAINERS[framework]
    # Sums with log-loss have no options that a study could try.
    plain = objective == lambda_objective(objective.metric)
    space = {**trees, **(LAMBDA_OBJECTIVE if plain else {})}
    method = Method(f"{framework}:lambda_{name}", trainer, objective, criterion, space=space)
    return with_options(method, options)


def _split(name: str) -> tuple[str, dict[str, Any]]:
    """A name without its brackets, and the options in them."""
    options: dict[str, Any] = {}
    for inside in re.findall(r"\(([^()]*)\)", name):
        for option in filter(None, inside.split(",")):
            key, equals, value = (part.strip() for part in option.partition("="))
            if not equals or key in options:
                raise ValueError(f"{option.strip()!r} is not of the form option=value, or is twice")
            options[key] = _value(value)
    return re.sub(r"\([^()]*\)", "", name), options


def _value(text: str) -> Any:
    """A number, True, False or None, in any case, or else the text."""
    with contextlib.suppress(ValueError, SyntaxError):
        word = text.capitalize() if text.lower() in ("true", "false", "none") else text
        return ast.literal_eval(word)
    return text


def _estimator(
    name: str, target: str, criterion: str, grid: Mapping[str, Sequence[Any]], **fixed: Any
) -> Method:
    random = target in ("SVMAccuracy", "CommitteePerceptron", "McRank")
    return Method(
        name, train_estimator, f"lambdaplus.baselines:{target}", criterion, fixed, grid, random
    )


C = {"C": (1.0, 10.0, 100.0, 1000.0)}
SMALL_C = {"C": (0.01, 0.1, 1.0, 10.0)}  # for losses summed over documents

FEW_C = {"C": (0.01, 0.1)}
STOP = {"epsilon": 0.1}  # for losses whose minimum may be at w = 0
DORM = {"loss": "ndcg", "feature_map": "dorm"}
PRIMAL = {"loss": "squared_hinge"}  # with the hinge, liblinear needs minutes for 2,300 indicators

METHODS: tuple[Method, ...] = (
    _native("lightgbm", "binary", criterion="map"),
    _native("xgboost", "binary:logistic", criterion="map"),
    _native("lightgbm", "lambdarank", LAMBDARANK),
    _native("lightgbm", "rank_xendcg", BY_QUERY),
    _native("xgboost", "rank:ndcg", XGBOOST_PAIRS),
    _native("xgboost", "rank:map", XGBOOST_PAIRS, "map"),
    _native("xgboost", "rank:pairwise", XGBOOST_PAIRS),
    _native("catboost", "YetiRank:mode=NDCG", YETIRANK),
    _native("catboost", "YetiRank:mode=MAP", YETIRANK, "map"),
    _native("catboost", "YetiRank:mode=MRR", YETIRANK, "mrr"),
    _native("catboost", "YetiRank:mode=Classic", YETIRANK),
    _native("catboost", "QueryRMSE"),
    _native("lightgbm", "regression"),
    _native("lightgbm", "regression", labels="ranks"),
    _native("xgboost", "reg:squarederror"),
    _native("xgboost", "reg:squarederror", labels="ranks"),
    *(_ours(framework, metric) for framework in _WITH_OURS for metric in _METRICS),
    _estimator("svm:auc", "StructuralSVM", "auc", C, loss="auc", relevant=1.0),
    _estimator("svm:map", "StructuralSVM", "map", C, loss="map"),
    _estimator("svm:ndcg@10", "StructuralSVM", "ndcg@10", C, loss="ndcg@10", relevant=1.0, **STOP),
    _estimator("svm:ndcg-nc", "StructuralSVM", "ndcg@10", C, loss="ndcg", relevant=1.0),
    _estimator("svm:mrr", "StructuralSVM", "mrr", C, loss="mrr", feature_map="mrr", **STOP),
    _estimator("svm:mrr-po", "StructuralSVM", "mrr", C, loss="mrr"),
    _estimator("svm:dorm", "StructuralSVM", "ndcg@10", C, **DORM, correct="fixed", **STOP),
    _estimator("svm:dorm-sorted", "StructuralSVM", "ndcg@10", C, **DORM, correct="sorted", **STOP),
    _estimator("svm:combo-shared", "SVMCombo", "map", C, slack="shared", **STOP),
    _estimator("svm:combo-separate", "SVMCombo", "map", C, slack="separate", **STOP),
    _estimator("svm:acc", "SVMAccuracy", "map", SMALL_C, variant="plain", **PRIMAL),
    _estimator("svm:acc2", "SVMAccuracy", "map", SMALL_C, variant="balanced", **PRIMAL),
    _estimator("svm:acc3", "SVMAccuracy", "map", FEW_C, variant="percentile", **PRIMAL),
    _estimator("svm:acc4", "SVMAccuracy", "map", FEW_C, variant="minmax", **PRIMAL),
    _estimator("perceptron:committee", "CommitteePerceptron", "ndcg@10", {}, committee_size=30),
    _estimator(
        "perceptron:borda", "CommitteePerceptron", "ndcg@10", {}, committee_size=30, combine="borda"
    ),
    _estimator("perceptron:pocket", "CommitteePerceptron", "ndcg@10", {}, variant="pocket"),
    _estimator("perceptron:average", "CommitteePerceptron", "ndcg@10", {}, variant="average"),
    _estimator("perceptron:last", "CommitteePerceptron", "ndcg@10", {}, variant="last"),
    _estimator("pairs:ranksvm", "RankSVM", "ndcg@10", SMALL_C),
    _estimator("pairs:rankboost", "RankBoost", "ndcg@10", {}),
    _estimator("mcrank:multiclass", "McRank", "ndcg@10", {}),
    _estimator("mcrank:ordinal", "McRank", "ndcg@10", {}, variant="ordinal"),
    _estimator("feature:best", "BestFeature", "map", {}),
)

_NAMED = {method.name: method for method in METHODS}


def find_methods(names: str | None, labels: Labels = Labels()) -> list[Method]:  # noqa: B008
    """Find methods by name.

    Parameters
    ----------
    names : str or None
        Comma-separated: names of methods, prefixes of them (``lightgbm``, ``xgboost:rank``), a
        framework and a metric or sum of metrics to optimise (``lightgbm:ndcg@10+0.5*map``), a
        framework and an objective of its own (``xgboost:reg:squarederror``), a
        scikit-learn compatible estimator as ``module:Class``, or ``all``.  None stands for the
        boosted trees.  CatBoost's methods are among ``all`` and the default if it is installed.
        Options are in brackets: those of a metric, of `~lambdaplus.objectives.lambda_objective`
        (``lightgbm:ndcg@10(truncation=30)``), of a framework beside its own objective
        (``xgboost:rank:map(lambdarank_pair_method=mean)``), or of an estimator
        (``svm:map(C=10)``).  With ``labels=ranks``, a framework's own objective is trained on
        the ranks of labels in their query.
    labels : Labels
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


def find_fitting(names: str | None, labels: Labels) -> tuple[list[Method], dict[str, list[str]]]:
    """See `find_methods`; also the methods that a name stands for and that do not fit, by why."""
    methods: dict[str, Method] = {}
    reasons: dict[str, str] = {}
    listed = [""] if names is None else split_names(names)
    for name in listed:
        if listed.count(name) > 1:
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
    without = "" if importlib.util.find_spec("catboost") else "catboost"
    families = {method.family for method in METHODS} if name else {*_TRAINERS}
    return [method for method in METHODS if method.family in families - {without}]


def _new(name: str) -> Method:
    """One method: of the list, one of these with options, FRAMEWORK:METRIC, or module:Class."""
    if name in _NAMED:
        return _NAMED[name]
    framework, _, rest = name.partition(":")
    base, options = _split(name)
    known = _NAMED.get(base)
    if known and not (framework in _WITH_OURS and callable(known.target)):
        return with_options(known, options)
    own = base.partition(":")[2]
    if (framework == "xgboost" and ":" in own) or (framework == "lightgbm" and own in OWN_LOSSES):
        return _native(framework, own, **options)
    try:
        if framework in _WITH_OURS and rest:
            return _ours(framework, rest.removeprefix("lambda_"))
    except ValueError as error:
        raise ValueError(f"method {name!r}: {error}") from None
    if rest and framework not in {method.family for method in METHODS}:
        find_class(base)
        return with_options(Method(base, train_estimator, base, "ndcg@10"), options)
    raise ValueError(
        f"unknown method {name!r}{hint(name, _NAMED)}; known: {', '.join(_NAMED)}; or "
        "FRAMEWORK:METRIC, or module:Class"
    )
