"""The trainers of boosted trees, with objectives of lambdaplus or of their framework.

Parameters with the name of an option of `~lambdaplus.objectives.lambda_objective` configure our
objective, others are passed to the framework.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.frameworks.ranking_trees import ranking_trees
from lambdaplus.objectives import LambdaObjective, lambda_objective
from lambdaplus.study import boosters
from lambdaplus.study.boosters import Boosted, Watch
from lambdaplus.study.methods import Criterion
from lambdaplus.study.tasks import Fitted, Task
from lambdaplus.study.validation import Validation

OBJECTIVE_OPTIONS = frozenset(lambda_objective.__kwdefaults__ or ())
OF_LAMBDAPLUS = OBJECTIVE_OPTIONS | {"labels", "trees"}
"""Parameters that are not passed to the framework."""

OF_THE_STUDY = {
    "objective", "loss_function", "metric", "eval_metric", "num_iterations", "n_estimators",
    "iterations", "num_boost_round", "early_stopping_round", "early_stopping_rounds", "seed",
    "random_seed", "random_state", "num_threads", "thread_count", "nthread", "n_jobs",
    "disable_default_eval_metric",
}  # fmt: skip
"""Parameters that the study sets itself."""

# The names by which `lightgbm.train` knows the parameters of its estimators.
NAMES_IN_LIGHTGBM = {
    "subsample": "bagging_fraction",
    "subsample_freq": "bagging_freq",
    "colsample_bynode": "feature_fraction_bynode",
    "reg_lambda": "lambda_l2",
}


@dataclass(frozen=True)
class BoostedTrainer:
    """Trains boosted trees; ``train`` is the function of `lambdaplus.study.boosters`."""

    framework: Any  # its name
    train: Callable[..., Boosted]

    def __call__(self, task: Task) -> dict[Criterion, Fitted]:
        """Train once; the ranker of each metric has the trees up to its best round."""
        config = task.config.with_defaults(grouped=task.valid.grouped)
        validation = Validation(task.valid, task.metrics, config.patience, config.every)
        model = self.model(task, validation.see)
        fitted = {}
        for metric, progress in validation.progress.items():
            best = validation.best_round(metric)
            scores = model.first(best)
            fitted[metric] = Fitted(scores, best, progress.values, validation.every)
        return fitted

    def model(self, task: Task, watch: Watch | None = None, rounds: int = 0) -> Boosted:
        """The trees of a task, of its training data alone if nothing watches."""
        of_ranks = task.parameters.get("labels") == "ranks"
        return self.train(
            objective_of(task),
            self.of_framework(task),
            ranks_in_queries(task.train) if of_ranks else task.train,
            task.valid if watch else None,
            watch,
            rounds=rounds or task.config.with_defaults(grouped=task.train.grouped).rounds,
            seed=task.seed,
            threads=task.threads,
        )

    def of_framework(self, task: Task) -> dict[str, Any]:
        """The parameters of the framework: those of the task, else of all trees of the study."""
        given = {k: v for k, v in task.parameters.items() if k not in OF_LAMBDAPLUS}
        if set_by_study := sorted(OF_THE_STUDY & given.keys()):
            raise ValueError(
                f"{set_by_study[0]} cannot be tried, since the study sets it for every method"
            )
        config, grouped = task.config.with_defaults(grouped=task.train.grouped), task.train.grouped
        trees = ranking_trees(self.framework, task.parameters.get("trees", config.trees[0]))
        if config.rate:
            trees["learning_rate"] = 2 * config.rate if self.framework == "xgboost" else config.rate
        objective = objective_of(task)
        doubled = boosters.ranks_queries(objective) and (grouped or isinstance(objective, str))
        if self.framework == "xgboost" and not doubled:  # Hessians, of rankings alone
            trees["learning_rate"] /= 2
        if self.framework == "lightgbm":
            trees = {NAMES_IN_LIGHTGBM.get(name, name): value for name, value in trees.items()}
        return {**trees, **given}


train_lightgbm = BoostedTrainer("lightgbm", boosters.fit_lightgbm)
train_xgboost = BoostedTrainer("xgboost", boosters.fit_xgboost)


def parameters_of(task: Task) -> dict[str, Any]:
    """All parameters of a fit: those of trees, of the objective, fixed ones, and those tried."""
    trainer = task.method.trainer
    if not isinstance(trainer, BoostedTrainer):
        return dict(task.parameters)
    options: dict[str, Any] = {}
    if isinstance(objective := objective_of(task), LambdaObjective):
        known = vars(objective)
        options = {name: known[name] for name in sorted(OBJECTIVE_OPTIONS & known.keys())}
        options["surrogate"] = str(objective.surrogate)
    labels = {name: value for name, value in task.parameters.items() if name == "labels"}
    return {**trainer.of_framework(task), **options, **labels}


def objective_of(task: Task) -> Any:
    """The objective, with the options among the parameters; without these it has the default."""
    target, given = task.method.target, task.parameters
    options = {name: value for name, value in given.items() if name in OBJECTIVE_OPTIONS}
    if not options:
        return target
    metric = getattr(target, "metric", None)
    if metric is None or target != lambda_objective(metric):
        raise ValueError(
            f"{', '.join(options)}: options of lambda_objective can only be tried for an objective "
            f"of lambdaplus with default options, not for {target!r}"
        )
    return lambda_objective(metric, **options)


def ranks_in_queries(data: RankingData) -> RankingData:
    """The data with the midrank of each label in its query, over the size of the query."""
    from scipy.stats import rankdata

    by_query = np.split(data.labels, data.queries.boundaries[1:-1])
    ranks = [rankdata(labels) / labels.size for labels in by_query]
    return replace(data, labels=np.concatenate(ranks))
