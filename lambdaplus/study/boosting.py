"""The trainers of boosted trees: LightGBM's, XGBoost's and CatBoost's, with our objectives or theirs.

They are trained by the frameworks' own ``train``, and every round is shown to a `Validation`.  Here
parameters are dealt out: those with the name of an option of
`~lambdaplus.objectives.lambda_objective` make the objective, the others go to the framework.

Examples
--------
>>> from lambdaplus.study import Settings, find_methods
>>> from lambdaplus.study.boosting import train_lightgbm
>>> from lambdaplus.study.validation import Validation
>>> from lambdaplus.data import digits_queries
>>> fold, [method] = digits_queries()[0], find_methods("lightgbm:lambda_map")
>>> validation = Validation(fold.valid, ["map", "ndcg@10"], patience=5)
>>> predict = train_lightgbm.follow(
...     method, {"num_leaves": 4, "sigma": 2.0}, fold.train, Settings(rounds=6), 0, validation
... )
>>> len(validation.curves["ndcg@10"]), predict(fold.test, 3).shape == fold.test.labels.shape
(6, True)
"""  # noqa: E501

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.estimators.objective_names import NATIVE
from lambdaplus.objectives import lambda_objective
from lambdaplus.study.methods import Fitted, Method, Parameters, Settings
from lambdaplus.study.validation import Validation

Predict = Callable[[RankingData, int], Floats]
"""Scores of the documents, (n,) float64, by the trees of the first rounds."""

OBJECTIVE_OPTIONS = frozenset(
    name
    for name, parameter in inspect.signature(lambda_objective).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
)
"""Parameters of these names are options of our objective; others go to the framework."""

BINARY = {"rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR"}
"""Native objectives that take labels 0 and 1 only."""


def training_labels(objective: Any, labels: Floats) -> Floats:
    """The labels that an objective is trained on, (n,) float64.

    For a native objective that takes 0 and 1 only, 1 is what MAP and MRR call relevant: a label of
    at least 1.
    """
    binary = isinstance(objective, str) and objective in BINARY
    return (labels >= 1).astype(np.float64) if binary else labels


@dataclass(frozen=True)
class Job:
    """One training, in no framework's words.

    Attributes
    ----------
    objective : str or callable
        The name of a native objective, or one of ours.
    params : dict
        The framework's other parameters.
    train : RankingData
    validation : Validation
        Is shown the scores after every round, and says when the training is over.
    rounds, seed, threads : int
    """

    objective: Any
    params: dict[str, Any]
    train: RankingData
    validation: Validation
    rounds: int
    seed: int
    threads: int

    def labels(self, part: RankingData) -> Floats:
        return training_labels(self.objective, part.labels)

    def see(self, scores: Floats) -> float:
        """Let the validation look; the latest value of its first metric."""
        self.validation.see(scores)
        return self.validation.latest


@dataclass(frozen=True)
class Boosting:
    """A trainer of boosted trees.

    Attributes
    ----------
    run : callable
        Trains, and returns the function that predicts.
    words : callable
        The settings of a study in the framework's words.
    native : dict of str to str
        The framework's own objectives, and the metric of each.
    takes_ours : bool
        Whether it can be trained with our objectives.
    """

    run: Callable[[Job], Predict]
    words: Callable[[Settings], dict[str, Any]]
    native: Mapping[str, str]
    takes_ours: bool = True

    def follow(
        self,
        method: Method,
        parameters: Parameters,
        train: RankingData,
        settings: Settings,
        seed: int,
        validation: Validation,
    ) -> Predict:
        """Train and let a `Validation` look at every round.

        Raises
        ------
        ValueError
            For options of an objective that is not ours, or that was made with other ones.
        ImportError
            If the framework is not installed.
        """
        # CatBoost's losses have an option `noise` too.
        ours = OBJECTIVE_OPTIONS if self.takes_ours else frozenset()
        options = {k: v for k, v in parameters.items() if k in ours}
        others = {k: v for k, v in parameters.items() if k not in ours}
        objective = with_options(method.target, options) if options else method.target
        params = {**self.words(settings), **others}
        return self.run(
            Job(objective, params, train, validation, settings.rounds, seed, settings.threads)
        )

    def __call__(
        self,
        method: Method,
        parameters: Parameters,
        train: RankingData,
        valid: RankingData,
        settings: Settings,
        seed: int,
    ) -> Fitted:
        """Train and stop by the method's criterion."""
        validation = Validation(valid, [method.criterion], settings.patience)
        predict = self.follow(method, parameters, train, settings, seed, validation)
        rounds = validation.best_round(method.criterion)
        curve = tuple(validation.curves[method.criterion])
        return Fitted(lambda part: predict(part, rounds), rounds, curve)


def with_options(target: Any, options: Parameters) -> Any:
    """Our objective for the same metric with other options.

    Raises
    ------
    ValueError
        If the objective is not ours, or has options already, which would be lost.
    """
    metric = getattr(target, "metric", None)
    if metric is None or target != lambda_objective(metric):
        raise ValueError(
            f"{', '.join(options)}: options of lambda_objective can be tried where an objective "
            f"of ours has its default options, which {target!r} is not"
        )
    return lambda_objective(metric, **options)


def _of_lightgbm(settings: Settings) -> dict[str, Any]:
    return {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "deterministic": True,
        "verbose": -1,
    }


def _of_xgboost(settings: Settings) -> dict[str, Any]:
    return {
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        "base_score": 0.0,
    }


def _of_catboost(settings: Settings) -> dict[str, Any]:
    depth = max(1, round(np.log2(settings.leaves)))  # its trees are symmetric
    return {"depth": depth, "learning_rate": settings.learning_rate}


def _run_lightgbm(job: Job) -> Predict:
    import lambdaplus.lightgbm as lgb

    lengths: list[int] = []  # a round in which LightGBM finds no split leaves no tree

    def look(scores: Floats, _: Any) -> tuple[str, float, bool]:
        return "validation", job.see(scores), True

    def after_round(state: Any) -> None:
        lengths.append(state.model.current_iteration())
        if job.validation.over:
            raise lgb.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

    known = {}
    if callable(job.objective) and hasattr(lgb.Dataset, "get_position"):
        # For objectives that estimate the bias of positions: the order of a query's rows.
        known["position"] = np.concatenate([np.arange(size) for size in job.train.group])
    data = lgb.Dataset(job.train.features, job.labels(job.train), group=job.train.group, **known)
    valid = job.validation.data
    booster = lgb.train(
        {
            **job.params, "objective": job.objective, "metric": "None", "seed": job.seed,
            "num_threads": job.threads,
        },
        data,
        num_boost_round=job.rounds,
        valid_sets=[data.create_valid(valid.features, valid.labels, group=valid.group)],
        feval=look,
        callbacks=[after_round],
    )  # fmt: skip

    def predict(part: RankingData, rounds: int) -> Floats:
        trees = lengths[rounds - 1]
        if not trees:  # which LightGBM would take for all
            return np.zeros(len(part.labels))
        found = booster.predict(
            part.features, raw_score=True, num_iteration=trees, num_threads=job.threads
        )
        return np.asarray(found, dtype=np.float64)

    return predict


def _run_xgboost(job: Job) -> Predict:
    import lambdaplus.xgboost as xgb

    class AfterRound(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return job.validation.over

    def matrix(part: RankingData, labels: Floats | None = None) -> Any:
        group = None if labels is None else part.group
        return xgb.DMatrix(part.features, labels, group=group, nthread=job.threads)

    def look(scores: Floats, _: Any) -> tuple[str, float]:
        return "validation", job.see(scores)

    ours = callable(job.objective)
    valid = job.validation.data
    booster = xgb.train(
        {
            **job.params, "objective": "rank:ndcg" if ours else job.objective, "seed": job.seed,
            "nthread": job.threads, "disable_default_eval_metric": 1,
        },
        matrix(job.train, job.labels(job.train)),
        num_boost_round=job.rounds,
        obj=job.objective if ours else None,
        evals=[(matrix(valid, valid.labels), "valid")],
        custom_metric=look,
        callbacks=[AfterRound()],
        verbose_eval=False,
    )  # fmt: skip

    def predict(part: RankingData, rounds: int) -> Floats:
        found = booster.predict(matrix(part), output_margin=True, iteration_range=(0, rounds))
        return np.asarray(found, dtype=np.float64)

    return predict


def _run_catboost(job: Job) -> Predict:
    from lambdaplus.study.catboost import run

    return run(job)


def _native(*names: str) -> dict[str, str]:
    return {name: NATIVE[name] for name in names}


train_lightgbm = Boosting(_run_lightgbm, _of_lightgbm, _native("lambdarank", "rank_xendcg"))
train_xgboost = Boosting(
    _run_xgboost, _of_xgboost, _native("rank:ndcg", "rank:map", "rank:pairwise")
)
train_catboost = Boosting(
    _run_catboost,
    _of_catboost,
    {
        "YetiRank:mode=NDCG": "ndcg@10",
        "YetiRank:mode=MAP": "map",
        "YetiRank:mode=MRR": "mrr",
        "YetiRank:mode=Classic": "ndcg@10",
        "QueryRMSE": "ndcg@10",
    },
    takes_ours=False,
)
