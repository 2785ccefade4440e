"""The methods that a study knows by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lambdaplus.metrics import Metric
from lambdaplus.objectives import LambdaObjective, lambda_objective
from lambdaplus.study import search_spaces as spaces
from lambdaplus.study.boosted_trainer import OBJECTIVE_OPTIONS, train_lightgbm, train_xgboost
from lambdaplus.study.estimator_trainer import train_estimator
from lambdaplus.study.methods import Method
from lambdaplus.study.tasks import Trainer

BOOSTED: dict[str, tuple[Trainer, spaces.Space]] = {
    "lightgbm": (train_lightgbm, spaces.LIGHTGBM),
    "xgboost": (train_xgboost, spaces.XGBOOST),
}
# MRR has the pairs of MAP. Validation data decides between pairs alone and with log-loss, of which
# each is better on some data: the section "Pairs and log-loss" of research/results/options.md.
_METRICS = ("auc", "mauc", "map", "0.25*map+0.75*logloss", "ndcg", "spearman", "gini")


def built_in(
    framework: str,
    objective: str,
    own: spaces.Space | None = None,
    **fixed: Any,
) -> Method:
    """A method with an objective of a framework."""
    trainer, trees = BOOSTED[framework]
    space = {**trees, **(own or {})}
    method = Method(f"{framework}:{objective}", trainer, objective, space=space)
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


def of_lambdaplus(framework: str, metric: Metric, **options: Any) -> Method:
    """A method with the objective of lambdaplus for a metric, or a sum, and options."""
    objective = lambda_objective(metric)
    of_objective = {k: v for k, v in options.items() if k in OBJECTIVE_OPTIONS}
    configured = lambda_objective(metric, **of_objective)  # an error for what cannot be
    name = objective.__name__
    if "surrogate" in options and isinstance(configured, LambdaObjective):
        # The name says the surrogate once, also one that is the default.
        others = {k: v for k, v in of_objective.items() if k != "surrogate"}
        if lambda_objective(metric, **others) == configured:
            del options["surrogate"]
        else:
            options["surrogate"], name = str(configured.surrogate), f"lambda_{objective.metric}"
    trainer, trees = BOOSTED[framework]
    # Sums with log-loss have no options that a study could try.
    has_options = objective == lambda_objective(objective.metric)
    if of_objective and not has_options:
        raise ValueError(f"a sum with log-loss takes no {', '.join(of_objective)}")
    space = {**trees, **(spaces.LAMBDA_OBJECTIVE if has_options else {})}
    method = Method(f"{framework}:{name}", trainer, objective, space=space)
    return with_options(method, options)


def _estimator(name: str, target: str, grid: Mapping[str, Sequence[Any]], **fixed: Any) -> Method:
    random = target in ("SVMAccuracy", "CommitteePerceptron", "McRank")
    target = f"lambdaplus.baselines:{target}"
    return Method(name, train_estimator, target, fixed=fixed, grid=grid, random=random)


C = {"C": (1.0, 10.0, 100.0, 1000.0)}
SMALL_C = {"C": (0.01, 0.1, 1.0, 10.0)}  # for losses summed over documents

FEW_C = {"C": (0.01, 0.1)}
STOP = {"epsilon": 0.1}  # for losses whose minimum may be at w = 0
DORM = {"loss": "ndcg", "feature_map": "dorm"}
PRIMAL = {"loss": "squared_hinge"}  # with the hinge, liblinear needs minutes for 2,300 indicators

METHODS: tuple[Method, ...] = (
    built_in("lightgbm", "binary"),
    built_in("xgboost", "binary:logistic"),
    built_in("lightgbm", "lambdarank", spaces.LAMBDARANK),
    built_in("lightgbm", "rank_xendcg", spaces.BY_QUERY),
    built_in("xgboost", "rank:ndcg", spaces.XGBOOST_PAIRS),
    built_in("xgboost", "rank:map", spaces.XGBOOST_PAIRS),
    built_in("xgboost", "rank:pairwise", spaces.XGBOOST_PAIRS),
    built_in("lightgbm", "regression"),
    built_in("lightgbm", "regression", labels="ranks"),
    built_in("xgboost", "reg:squarederror"),
    built_in("xgboost", "reg:squarederror", labels="ranks"),
    *(of_lambdaplus(framework, metric) for framework in BOOSTED for metric in _METRICS),
    _estimator("svm:auc", "StructuralSVM", C, loss="auc", relevant=1.0),
    _estimator("svm:map", "StructuralSVM", C, loss="map"),
    _estimator("svm:ndcg@10", "StructuralSVM", C, loss="ndcg@10", relevant=1.0, **STOP),
    _estimator("svm:ndcg-nc", "StructuralSVM", C, loss="ndcg", relevant=1.0),
    _estimator("svm:mrr", "StructuralSVM", C, loss="mrr", feature_map="mrr", **STOP),
    _estimator("svm:mrr-po", "StructuralSVM", C, loss="mrr"),
    _estimator("svm:dorm", "StructuralSVM", C, **DORM, **STOP),
    _estimator("svm:combo-shared", "SVMCombo", C, slack="shared", **STOP),
    _estimator("svm:combo-separate", "SVMCombo", C, slack="separate", **STOP),
    _estimator("svm:acc", "SVMAccuracy", SMALL_C, variant="plain", **PRIMAL),
    _estimator("svm:acc2", "SVMAccuracy", SMALL_C, variant="balanced", **PRIMAL),
    _estimator("svm:acc3", "SVMAccuracy", FEW_C, variant="percentile", **PRIMAL),
    _estimator("svm:acc4", "SVMAccuracy", FEW_C, variant="minmax", **PRIMAL),
    _estimator("perceptron:committee", "CommitteePerceptron", {}, committee_size=30),
    _estimator("perceptron:borda", "CommitteePerceptron", {}, committee_size=30, combine="borda"),
    _estimator("perceptron:pocket", "CommitteePerceptron", {}, variant="pocket"),
    _estimator("perceptron:average", "CommitteePerceptron", {}, variant="average"),
    _estimator("perceptron:last", "CommitteePerceptron", {}, variant="last"),
    _estimator("pairs:ranksvm", "RankSVM", SMALL_C),
    _estimator("pairs:rankboost", "RankBoost", {}),
    _estimator("mcrank:multiclass", "McRank", {}),
    _estimator("mcrank:ordinal", "McRank", {}, variant="ordinal"),
    _estimator("feature:best", "BestFeature", {}),
)
