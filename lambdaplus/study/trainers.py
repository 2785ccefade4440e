"""The trainers of methods: boosted trees, and scikit-learn compatible estimators.

Parameters with the name of an option of `~lambdaplus.objectives.lambda_objective` configure our
objective, others are passed to the framework.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.arrays import numbers
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import numeric_part
from lambdaplus.frameworks.ranking_trees import ranking_trees
from lambdaplus.metrics.means import mean_values
from lambdaplus.metrics.progress import Progress
from lambdaplus.objectives import LambdaObjective, lambda_objective
from lambdaplus.study import boosters, catboost_trainer
from lambdaplus.study.boosters import Boosted
from lambdaplus.study.config import Config
from lambdaplus.study.methods import Criterion, Fitted, Task

OBJECTIVE_OPTIONS = frozenset(lambda_objective.__kwdefaults__ or ())
"""Names of parameters that configure our objective; others are passed to the framework."""

OF_THE_STUDY = {
    "objective", "loss_function", "metric", "eval_metric", "num_iterations", "n_estimators",
    "iterations", "num_boost_round", "early_stopping_round", "early_stopping_rounds", "seed",
    "random_seed", "random_state", "num_threads", "thread_count", "nthread", "n_jobs",
    "disable_default_eval_metric",
}  # fmt: skip
"""Parameters that the study sets itself."""


def values_of(
    metrics: Sequence[Criterion], data: RankingData, scores: ArrayLike
) -> dict[Criterion, float]:
    """Means of metrics, or of sums of metrics, over queries; NaN if no query has a value."""
    means = mean_values(metrics, data.queries, scores)
    return {metric: means[str(metric)] for metric in metrics}


class Validation:
    """Evaluates a training every few rounds, and ends it when no metric improves any more."""

    def __init__(
        self, data: RankingData, metrics: Sequence[Criterion], patience: int, every: int = 1
    ) -> None:
        self.data = data
        self.every = every
        self.progress = {metric: Progress(patience) for metric in metrics}
        self._round = 0

    def see(self, scores: ArrayLike) -> bool:
        """Evaluate validation scores after one more round; return whether training may stop."""
        self._round += 1
        if self._round % self.every:
            return False
        values = values_of(list(self.progress), self.data, scores)
        if np.isnan(list(values.values())).all():
            raise ValueError(
                f"no validation query has a value of {', '.join(map(str, values))}, since none "
                "has both relevant and other documents"
            )
        for metric, value in values.items():
            self.progress[metric].add(self._round, value)
        return all(one.over for one in self.progress.values())

    def best_round(self, metric: Criterion) -> int:
        """The first round with the best value of a metric; the last round if it has no value."""
        return self.progress[metric].best_round or self.progress[metric].rounds[-1]


# The names by which `lightgbm.train` knows the parameters of its estimators.
_LIGHTGBM = {
    "subsample": "bagging_fraction",
    "subsample_freq": "bagging_freq",
    "colsample_bytree": "feature_fraction",
}


def trees_of(framework: Any, config: Config, size: Any = None) -> dict[str, Any]:
    """The parameters of trees that all boosted methods of a study have in common."""
    given: Any = size or config.trees[0]
    trees = ranking_trees(framework, given)
    if config.leaves:
        depth = max(1, round(np.log2(config.leaves)))  # CatBoost's trees are symmetric
        trees |= {
            name: depth if name == "depth" else config.leaves
            for name in ("num_leaves", "max_leaves", "depth")
            if name in trees
        }
    if config.learning_rate:
        trees["learning_rate"] = config.learning_rate
    if framework == "lightgbm":
        trees = {_LIGHTGBM.get(name, name): value for name, value in trees.items()}
        trees["min_data_in_leaf"] = config.documents_in_leaf
    return trees


@dataclass(frozen=True)
class BoostedTrainer:
    """Trains boosted trees with our objectives or those of their framework."""

    framework: Any  # its name
    train: Callable[..., Boosted]

    def __call__(self, task: Task) -> dict[Criterion, Fitted]:
        """Train once; the ranker of each metric has the trees up to its best round."""
        validation = Validation(task.valid, task.metrics, task.config.patience, task.config.every)
        model = self.model(task, validation.see)

        def fitted(metric: Criterion) -> Fitted:
            best, curve = validation.best_round(metric), validation.progress[metric].values
            return Fitted(lambda part: model(part, best), best, curve, validation.every)

        return {metric: fitted(metric) for metric in task.metrics}

    def model(self, task: Task, watch: Any = None, rounds: int = 0) -> Boosted:
        """The trees of a task, of its training data alone if nothing watches."""
        objective, given = task.method.target, {**task.method.fixed, **task.parameters}
        options = {} if self.framework == "catboost" else _of_objective(given)
        labels, size = given.pop("labels", "as given"), given.pop("trees", None)
        others = {name: value for name, value in given.items() if name not in options}
        for name in sorted(OF_THE_STUDY & others.keys()):
            raise ValueError(f"{name} cannot be tried, since the study sets it for every method")
        return self.train(
            _with_options(objective, options),
            {**trees_of(self.framework, task.config, size), **others},
            ranks_in_queries(task.train) if labels == "ranks" else task.train,
            task.valid if watch else None,
            watch,
            rounds=rounds or task.config.rounds,
            seed=task.seed,
            threads=task.threads,
        )


train_lightgbm = BoostedTrainer("lightgbm", boosters.fit_lightgbm)
train_xgboost = BoostedTrainer("xgboost", boosters.fit_xgboost)
train_catboost = BoostedTrainer("catboost", catboost_trainer.train_catboost)


def parameters_of(task: Task) -> dict[str, Any]:
    """All parameters of a fit: those of trees, of the objective, fixed ones, and those tried."""
    trainer, objective = task.method.trainer, task.method.target
    given = {**task.method.fixed, **task.parameters}
    if not isinstance(trainer, BoostedTrainer):
        return given
    options = {}
    if isinstance(objective, LambdaObjective):
        known = vars(_with_options(objective, _of_objective(given)))
        options = {name: known[name] for name in sorted(OBJECTIVE_OPTIONS & known.keys())}
        options["surrogate"] = str(known["surrogate"])
    size = given.pop("trees", None)
    return {**trees_of(trainer.framework, task.config, size), **options, **given}


def _of_objective(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name in OBJECTIVE_OPTIONS}


def ranks_in_queries(data: RankingData) -> RankingData:
    """The data with the midrank of each label in its query, over the size of the query."""
    from scipy.stats import rankdata

    parts = np.split(data.labels, data.queries.boundaries[1:-1])
    return replace(data, labels=np.concatenate([rankdata(part) / part.size for part in parts]))


def _with_options(target: Any, options: Mapping[str, Any]) -> Any:
    """Our objective for the same metric with other options; it must have the default ones."""
    if not options:
        return target
    metric = getattr(target, "metric", None)
    if metric is None or target != lambda_objective(metric):
        raise ValueError(
            f"{', '.join(options)}: options of lambda_objective can only be tried for an objective "
            f"of lambdaplus with default options, not for {target!r}"
        )
    return lambda_objective(metric, **options)


def train_estimator(task: Task) -> Fitted:
    """Fit the estimator ``task.method.target``, passing the arguments that its signatures accept.

    Constructor: ``random_state``, ``n_jobs``, ``metric`` and ``eval_metric``; fit: ``qid`` or
    ``group``, and ``eval_set=(X, y, qid)``, or ``eval_set=[(X, y)]`` with ``eval_qid=[qid]``;
    predict: ``qid``; also ``sample_weight`` if there are weights.  A classifier ranks by its
    ``decision_function`` or ``predict_proba``.  Categories are left out.
    """
    train, valid = numeric_part(task.train), numeric_part(task.valid)
    # With several selecting metrics, each chooses among the same fits.
    by = task.method.criterion if len(task.metrics) > 1 else task.metrics[0]
    criterion = str(by)
    estimator = find_class(task.method.target)
    offered = {
        "random_state": task.seed,
        "n_jobs": task.threads,
        **dict.fromkeys(("metric", "eval_metric"), criterion),
    }
    accepted = inspect.signature(estimator).parameters
    model = estimator(**{**{k: v for k, v in offered.items() if k in accepted}, **task.parameters})
    fit_arguments = inspect.signature(model.fit).parameters
    data: dict[str, Any] = {"qid": train.qid} if "qid" in fit_arguments else {"group": train.group}
    if train.weights is not None:
        data["sample_weight"] = train.weights
    data["eval_set"] = valid.features, valid.labels, valid.qid
    if "eval_qid" in fit_arguments:  # as LightGBM's and XGBoost's rankers take evaluation sets
        data |= {"eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid]}
    passed = {name: value for name, value in data.items() if name in fit_arguments}
    model.fit(train.features, train.labels, **passed)
    takes_queries = "qid" in inspect.signature(model.predict).parameters

    def predict(part: RankingData) -> Floats:
        features = numeric_part(part).features
        # Of rankers, such as McRank, `predict` returns scores; of classifiers, classes.
        if hasattr(model, "decision_function"):
            return numbers(model.decision_function(features), "scores")
        if hasattr(model, "predict_proba"):
            return numbers(model.predict_proba(features)[:, -1], "scores")
        queries = {"qid": part.qid} if takes_queries else {}
        return numbers(model.predict(features, **queries), "scores")

    return Fitted(predict, _rounds(model), _curve(model, criterion))


def _rounds(model: Any) -> int:
    """Number of passes or rounds of the model, from the attributes that estimators have."""
    for name in ("n_iter_", "n_rounds_", "best_iteration_", "n_estimators_", "n_passes_"):
        rounds = getattr(model, name, None)
        if rounds is not None and np.ndim(rounds) == 0 and rounds > 0:  # LightGBM: -1 without one
            return int(rounds)
    return 0


def _curve(model: Any, criterion: str) -> list[float]:
    curve = getattr(model, "learning_curve_", ())
    return list(map(float, getattr(model, "learning_curves_", {}).get(criterion, curve)))


def find_class(target: Any) -> Any:
    """The class itself, or that given as ``module:Class``."""
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        if isinstance(error, ImportError) and module.startswith("lambdaplus"):
            raise
        raise ValueError(f"{target!r} cannot be imported as module:Class: {error}") from None
