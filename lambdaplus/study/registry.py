"""The methods that a study knows by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.metrics import Metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import search_spaces as spaces
from lambdaplus.study.estimator_trainer import train_estimator
from lambdaplus.study.methods import Method, Trainer
from lambdaplus.study.trainers import (
    OBJECTIVE_OPTIONS,
    train_catboost,
    train_lightgbm,
    train_xgboost,
)

BOOSTED: dict[str, tuple[Trainer, spaces.Space]] = {
    "lightgbm": (train_lightgbm, spaces.LIGHTGBM),
    "xgboost": (train_xgboost, spaces.XGBOOST),
    "catboost": (train_catboost, spaces.CATBOOST),
}
WITH_OURS = ("lightgbm", "xgboost")
_METRICS = ("auc", "mauc", "map", "ndcg", "spearman", "gini")  # MRR has the pairs of MAP


def native(
    framework: str,
    objective: str,
    own: spaces.Space | None = None,
    criterion: str = "ndcg@10",
    **fixed: Any,
) -> Method:
    """A method with an objective of a framework."""
    trainer, trees = BOOSTED[framework]
    space = {**trees, **(own or {})}
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


def ours(framework: str, metric: Metric, **options: Any) -> Method:
    """A method with the objective of lambdaplus for a metric, or a sum, and options."""
    objective = lambda_objective(metric)
    of_objective = {k: v for k, v in options.items() if k in OBJECTIVE_OPTIONS}
    lambda_objective(metric, **of_objective)  # which raises an error for what cannot be
    name = objective.__name__.removeprefix("lambda_")
    # All NDCG objectives, ours and the frameworks' own, are validated with NDCG@10.
    criterion = "ndcg@10" if str(objective.metric) == "ndcg" else objective.metric
    trainer, trees = BOOSTED[framework]
    # Sums with log-loss have no options that a study could try.
    plain = objective == lambda_objective(objective.metric)
    space = {**trees, **(spaces.LAMBDA_OBJECTIVE if plain else {})}
    method = Method(f"{framework}:lambda_{name}", trainer, objective, criterion, space=space)
    return with_options(method, options)


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
    native("lightgbm", "binary", criterion="map"),
    native("xgboost", "binary:logistic", criterion="map"),
    native("lightgbm", "lambdarank", spaces.LAMBDARANK),
    native("lightgbm", "rank_xendcg", spaces.BY_QUERY),
    native("xgboost", "rank:ndcg", spaces.XGBOOST_PAIRS),
    native("xgboost", "rank:map", spaces.XGBOOST_PAIRS, "map"),
    native("xgboost", "rank:pairwise", spaces.XGBOOST_PAIRS),
    native("catboost", "YetiRank:mode=NDCG", spaces.YETIRANK),
    native("catboost", "YetiRank:mode=MAP", spaces.YETIRANK, "map"),
    native("catboost", "YetiRank:mode=MRR", spaces.YETIRANK, "mrr"),
    native("catboost", "YetiRank:mode=Classic", spaces.YETIRANK),
    native("catboost", "QueryRMSE"),
    native("lightgbm", "regression"),
    native("lightgbm", "regression", labels="ranks"),
    native("xgboost", "reg:squarederror"),
    native("xgboost", "reg:squarederror", labels="ranks"),
    *(ours(framework, metric) for framework in WITH_OURS for metric in _METRICS),
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
