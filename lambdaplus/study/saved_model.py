"""The model that a study leads to: trained on all queries, and saved in the framework's format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.digests import versions_in_words
from lambdaplus.data import RankingData
from lambdaplus.data.model_folder import model_folder, write_model
from lambdaplus.data.ranking_data import joined
from lambdaplus.data.scoring import LEFT_OUT, MODELS, Column
from lambdaplus.study.boosters import Boosted
from lambdaplus.study.methods import Method, Task
from lambdaplus.study.summary import Summary
from lambdaplus.study.trainers import BoostedTrainer, parameters_of

if TYPE_CHECKING:
    from lambdaplus.study.study import Study


@dataclass(frozen=True, eq=False)
class Final:
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
        Expected value of the metric: the mean of test values of the study.
    interval : (float, float)
        Its 95 % confidence interval.
    """

    task: Task
    rounds: int
    model: Boosted
    metric: str
    value: float
    interval: tuple[float, float]

    def predict(self, part: RankingData) -> Floats:
        """Scores of documents, (n,) float64."""
        return self.model.predict(part, self.rounds)


def check_saveable(study: Study, method: str = "") -> list[str]:
    """The methods that can be saved; a ValueError if there is none, or not the one named."""
    names = [
        one.name
        for one in study.methods
        if isinstance(one.trainer, BoostedTrainer) and one.trainer.framework in MODELS
    ]
    if method and method not in [one.name for one in study.methods]:
        raise ValueError(f"--method {method!r} is not one of the methods compared")
    if not names or (method and method not in names):
        raise ValueError(
            f"{method or 'none of the methods'} is a model of LightGBM or XGBoost, which "
            "can be saved: name one of these with --methods"
        )
    if study.config.scaling != "none":
        raise ValueError(
            f"a model of features with --scaling {study.config.scaling} cannot score single rows: "
            "leave out the scaling, which trees do not need"
        )
    known = {column.name for column in study.columns if column.kind == "category"}
    if lacking := {*study.folds[0].train.categories} - known:
        raise ValueError(f"the values of the categories {', '.join(sorted(lacking))} are unknown")
    return [method] if method else names


def train_final(study: Study, method: str = "", metric: str = "") -> Final:
    """Train the method that is best on validation data, or the one named, on all queries."""
    names, results = check_saveable(study, method), study.results
    metric, summary = metric or results.main_metric, Summary(results)
    if metric not in results.metrics:
        raise ValueError(f"{metric} is not one of the metrics: {', '.join(results.metrics)}")
    best = summary.best_on_validation(metric, names)
    if not best:
        raise ValueError(f"no fit of {', '.join(names)} has a value of {metric} on every fold")
    chosen = results.methods[best]
    by = {str(one): str(by) for one, by in study.plan.selects(chosen).items()}[metric]
    task, rounds = _task_of(study, chosen, by)
    trainer: Any = chosen.trainer  # a BoostedTrainer
    model = trainer.model(task, rounds=rounds)
    value, interval = results.mean(best, metric), summary.interval(best, metric)
    return Final(task, rounds, model, metric, value, interval)


def _task_of(study: Study, method: Method, by: str) -> tuple[Task, int]:
    """The training on all queries with the parameters that are best in the mean over the folds."""
    key = ["seed", "trial"]
    tried = study.results.fits.filter(method=method.name, metric=by).group_by(key)
    mean = (pl.col("validation").fill_nan(None).mean(), pl.col("round").mean(), pl.len())
    of_all = tried.agg(*mean).filter(pl.col("len") == len(study.folds))
    seed, trial, _, rounds, _ = of_all.sort("validation", *key, descending=[True, False, False],
                                            nulls_last=True).row(0)  # fmt: skip
    task = study.plan.groups[method.name, study.folds[0].name, seed][trial]
    all_rows = study.all_rows if study.all_rows is not None else joined(study.folds[-1])
    threads = study.threads * study.jobs  # nothing else runs now
    return replace(task, train=all_rows, threads=threads), max(1, round(rounds))


def save_model(study: Study, folder: Path, method: str = "", metric: str = "") -> Final:
    """See `Study.save_model`."""
    check_saveable(study, method)
    with model_folder(folder) as made:
        final = train_final(study, method, metric)
        task, config, data = final.task, study.config, final.task.train
        trainer: Any = task.method.trainer
        plan = {column.name: column for column in study.columns}
        names = [*data.feature_names] or [str(j) for j in range(1, data.features.shape[1] + 1)]
        left_out = [column for column in study.columns if column.kind == LEFT_OUT]
        write_model(
            made, trainer.framework, final.model.save,
            [*(plan.get(name, Column(name)) for name in names), *left_out],
            method=task.method.name, versions=versions_in_words(), parameters=parameters_of(task),
            rounds=final.rounds, seed=task.seed, data=config.data, qid=config.qid,
            label=config.label, rows=data.labels.size,
            queries=data.n_queries if data.grouped else 0, metric=final.metric, value=final.value,
            interval=final.interval,
        )  # fmt: skip
    return final
