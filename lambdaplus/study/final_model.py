"""The model that a study leads to: trained on all queries, and saved in the framework's format."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.versions import versions_in_words
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.model_folder import write_model
from lambdaplus.saved_model.boosters import MODELS
from lambdaplus.saved_model.columns import LEFT_OUT, Column
from lambdaplus.study.boosted_trainer import BoostedTrainer, parameters_of
from lambdaplus.study.boosters import Boosted
from lambdaplus.study.config import Config
from lambdaplus.study.fits import Fit
from lambdaplus.study.methods import Method, criterion_of
from lambdaplus.study.probabilities import (
    Probabilities,
    has_log_odds,
    learned_from,
    refuse_labels,
    score_in_words,
)
from lambdaplus.study.results import Results
from lambdaplus.study.summary import Summary
from lambdaplus.study.tasks import Task


@dataclass(frozen=True, eq=False)
class FinalModel:
    """A method trained again on all queries.

    Attributes
    ----------
    task : Task
        The training, with the parameters that were chosen.
    rounds : int
        The mean over the folds of the best rounds.
    model : Boosted
    metric : str
        The metric by which validation data chose the method and its parameters.
    value : float
        Expected value of the metric: the mean over folds of the test value of the method that the
        validation data of other folds chooses, so that the choice does not make it better.
    interval : (float, float)
        Its 95 % confidence interval; NaN if there are too few trainings.
    scores : str
        What its scores are: log-odds, for example.
    probabilities : Probabilities or str
        How its scores become probabilities, or why they do not.
    """

    task: Task
    rounds: int
    model: Boosted
    metric: str
    value: float
    interval: tuple[float, float]
    scores: str
    probabilities: Probabilities | str

    def predict(self, part: RankingData) -> Floats:
        """Scores of documents, (n,) float64."""
        return self.model.predict(part, self.rounds)


def saveable(
    methods: Sequence[Method], config: Config, folds: Sequence[Fold], columns: Sequence[Column],
    method: str = "",
) -> list[str]:  # fmt: skip
    """The methods that can be saved; a ValueError if there is none, or not the one named."""
    names = [
        one.name
        for one in methods
        if isinstance(one.trainer, BoostedTrainer) and one.trainer.framework in MODELS
    ]
    if method and method not in [one.name for one in methods]:
        raise ValueError(f"--method {method!r} is not one of the methods compared")
    if not names or (method and method not in names):
        raise ValueError(
            f"{method or 'none of the methods'} is a model of LightGBM or XGBoost, which "
            "can be saved: name one of these with --methods"
        )
    if config.scaling != "none":
        raise ValueError(
            f"a model of features with --scaling {config.scaling} cannot score single rows: "
            "leave out the scaling, which trees do not need"
        )
    known = {column.name for column in columns if column.kind == "category"}
    if lacking := {*folds[0].train.categories} - known:
        raise ValueError(f"the values of the categories {', '.join(sorted(lacking))} are unknown")
    return [method] if method else names


def train_final(
    results: Results, tasks: Sequence[Task], names: Sequence[str], metric: str,
    data: RankingData, threads: int, folds: Sequence[Fold],
    chosen: Callable[[str, str], Sequence[Fit]],
) -> FinalModel:  # fmt: skip
    """Train the method of the conclusion, or the best of those with these names, on all data.

    ``chosen`` gives the fits of a method that a metric selects, from whose test scores
    probabilities are learned.
    """
    metric, summary = metric or results.main_metric, Summary(results)
    if metric not in results.metrics:
        raise ValueError(f"{metric} is not one of the metrics: {', '.join(results.metrics)}")
    choice = summary.choice(metric, names)
    # The method that the conclusion names first, if it can be saved.
    favoured = summary.favoured[0] if metric == results.main_metric and summary.favoured else ""
    best = favoured if favoured in names else choice.best
    if not best:
        raise ValueError(f"no fit of {', '.join(names)} has a value of {metric} on every fold")
    by = str(criterion_of(results.methods[best], metric, results.config))
    # The parameters that are best in the mean over the folds.
    key = ["seed", "trial"]
    tried = results.fits.filter(method=best, metric=by).group_by(key)
    mean = (pl.col("validation").fill_nan(None).mean(), pl.col("round").mean(), pl.len())
    of_all = tried.agg(*mean).filter(pl.col("len") == len(results.folds))
    seed, trial, _, rounds, _ = of_all.sort("validation", *key, descending=[True, False, False],
                                            nulls_last=True).row(0)  # fmt: skip
    group = best, results.folds[0], seed
    [task] = [task for task in tasks if task.group == group and task.trial == trial]
    task, rounds = replace(task, train=data, threads=threads), max(1, round(rounds))
    trainer: Any = task.method.trainer  # a BoostedTrainer
    model = trainer.model(task, rounds=rounds)
    if best != choice.best:
        choice = summary.choice(metric, [best])
    value, interval = summary.expected(choice)
    fits = [fit for fit in chosen(best, metric) if fit.seed == seed]
    log_odds = has_log_odds(task.method, task.parameters)
    probabilities = learned_from(fits, folds, log_odds)
    scores = score_in_words(task.method, task.parameters, not refuse_labels(folds))
    return FinalModel(task, rounds, model, metric, value, interval, scores, probabilities)


def write_final(folder: Path, final: FinalModel, config: Config, columns: Sequence[Column]) -> None:
    """Write the model to an empty folder, with what scoring needs to know."""
    task, data = final.task, final.task.train
    trainer: Any = task.method.trainer
    plan = {column.name: column for column in columns}
    names = [*data.feature_names] or [str(j) for j in range(1, data.n_features + 1)]
    left_out = [column for column in columns if column.kind == LEFT_OUT]
    write_model(
        folder, trainer.framework, final.model.booster.save_model,
        [*(plan.get(name, Column(name)) for name in names), *left_out],
        method=task.method.name, versions=versions_in_words(), parameters=parameters_of(task),
        rounds=final.rounds, seed=task.seed, data=config.data, qid=config.qid,
        label=config.label, rows=data.labels.size,
        queries=data.n_queries if data.grouped else 0, metric=final.metric, value=final.value,
        interval=None if math.isnan(final.interval[0]) else final.interval, scores=final.scores,
        **_as_data(final.probabilities),
    )  # fmt: skip


def _as_data(found: Probabilities | str) -> dict[str, Any]:
    """Probabilities by the names that a saved model reads, as of an exported classifier."""
    if isinstance(found, str):
        return {"a": None, "b": None, "no_probabilities": found}
    how_good = {name: value for name, value in asdict(found).items() if name not in ("a", "b")}
    bins = [one._asdict() for one in found.reliability]
    about = {"learned_from": "test rows", **how_good, "reliability": bins}
    return {"classes": [0, 1], "pos_label": 1, "a": found.a, "b": found.b, "probabilities": about}
