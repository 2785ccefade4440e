"""The model that a study leads to: trained on all queries, and saved in the framework's format."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.digests import versions_in_words
from lambdaplus.data import RankingData
from lambdaplus.data.output_folder import OutputFolder
from lambdaplus.data.ranking_data import joined
from lambdaplus.data.table_columns import read_features
from lambdaplus.study.boosters import Boosted
from lambdaplus.study.methods import Method, Task
from lambdaplus.study.predict_script import MODELS, SCORES, program
from lambdaplus.study.summary import Summary
from lambdaplus.study.trainers import BoostedTrainer, parameters_of

if TYPE_CHECKING:
    from lambdaplus.study.study import Study

ABOUT, SCRIPT = "about.json", "predict.py"
NAMES = (ABOUT, SCRIPT, *MODELS.values())
"""The files of a saved model."""


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
    names = [one.name for one in study.methods if isinstance(one.trainer, BoostedTrainer)]
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
    if lacking := {*study.folds[0].train.categories} - study.levels.keys():
        raise ValueError(f"the values of the categories {', '.join(sorted(lacking))} are unknown")
    return [method] if method else names


def train_final(study: Study, method: str = "", metric: str = "") -> Final:
    """Train the method that is best on validation data, or the one named, on all queries."""
    names, results = check_saveable(study, method), study.results
    metric, summary = metric or results.main_metric, Summary(results)
    if metric not in results.metrics:
        raise ValueError(f"{metric} is not one of the metrics: {', '.join(results.metrics)}")
    best = summary.chosen(metric, names)
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
    whole = study.whole if study.whole is not None else joined(study.folds[-1])
    threads = study.threads * study.jobs  # nothing else runs now
    return replace(task, train=whole, threads=threads), max(1, round(rounds))


def save_model(study: Study, folder: Path, method: str = "", metric: str = "") -> Final:
    """See `Study.save_model`."""
    check_saveable(study, method)
    with OutputFolder(folder) as output:
        output.refuse_foreign(NAMES)
        final = train_final(study, method, metric)
        _write(study, final, output.made)
        output.publish(outdated=NAMES, last=ABOUT)
    return final


def _write(study: Study, final: Final, folder: Path) -> None:
    task, config = final.task, study.config
    trainer: Any = task.method.trainer
    framework = trainer.framework
    data = task.train
    columns = [*data.feature_names] or [str(j) for j in range(1, data.features.shape[1] + 1)]
    about = {
        "method": task.method.name,
        "framework": framework,
        "versions": versions_in_words(),
        "parameters": parameters_of(task),
        "rounds": final.rounds,
        "seed": task.seed,
        "columns": columns,
        "categories": {name: [*study.levels[name]] for name in data.categories},
        "data": config.data,
        "qid": config.qid,
        "label": config.label,
        "rows": data.labels.size,
        "queries": data.n_queries if data.grouped else 0,
        "metric": final.metric,
        "value": final.value,
        "interval": final.interval,
    }
    final.model.save(str(folder / MODELS[framework]))
    table = not all(name.isdigit() for name in columns)  # svmlight files number their features
    (folder / SCRIPT).write_text(program(framework, table), encoding="utf-8")
    text = json.dumps(about, indent=1, default=str, ensure_ascii=False)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


def predict_file(folder: Path, file: Path) -> Floats:
    """The scores of the rows of a file by a saved model, (n,) float64, in the order of the file.

    Categories that the model has not seen are missing values, as empty cells are.

    Raises
    ------
    ValueError
        If the folder has no model, a column is missing, or text is among the numbers of a feature.
    """
    about_file = folder / ABOUT
    if not about_file.is_file():
        raise ValueError(
            f"{folder} has no {ABOUT}: it is no saved model, or the run that saved it was stopped, "
            "and can be repeated"
        )
    about = json.loads(about_file.read_text(encoding="utf-8"))
    columns, categories = about["columns"], about["categories"]
    X = read_features(file, columns, categories)
    framework = about["framework"]
    scores = SCORES[framework](X, folder / MODELS[framework], columns, categories)
    return np.asarray(scores, dtype=np.float64)
