"""A study from its configuration: data, methods and settings."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lambdaplus.data.table_files import NO_QUERIES
from lambdaplus.metrics import parse_metric
from lambdaplus.study.config import METRICS, METRICS_OF_ROWS, ROUNDS_OF_TRIALS, Config
from lambdaplus.study.estimator_trainer import refuse_unknown_parameters, train_estimator
from lambdaplus.study.folds import folds_and_notes
from lambdaplus.study.methods import Method
from lambdaplus.study.registry import METHODS_OF_ROWS, find_methods
from lambdaplus.study.settings import Settings
from lambdaplus.study.study import Study
from lambdaplus.study.table_input import data_in_words

DRAWN = ("leaves", "learning_rate", "documents_in_leaf")  # drawn in a random search
LOOKS = 200  # evaluations on validation data in a trial of full length


def study_of(config: Config, folder: Path | None = None, jobs: int = 1, threads: int = 1) -> Study:
    """Read the data and create the study.

    Parameters
    ----------
    config : Config
    folder : path, optional
        Where finished fits are stored; by default in a temporary folder.
    jobs, threads : int
        Number of parallel fits, and of threads of each.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        For unknown methods, metrics, folds or options, and invalid data.
    OSError
        If the data does not exist, or cannot be read.

    Examples
    --------
    >>> config = Config(methods=("lightgbm:lambda_map", "svm:map"), folds="1")
    >>> len(study_of(config))  # one fit, and one for each of four values of C
    5
    """
    methods, metrics = _methods_of(config), config.metrics
    if config.baseline and config.baseline not in [method.name for method in methods]:
        raise ValueError(f"baseline {config.baseline!r} is not one of the methods compared")
    folds, notes = folds_and_notes(config)
    if not folds[0].test.grouped:
        methods, metrics = _without_queries(config, methods)
    elif all(np.unique(fold.train.labels).size <= 2 for fold in folds):  # MAUC would be AUC
        if not config.methods:
            methods = [m for m in methods if str(m.criterion) != "mauc" or m.name in config.grid]
        if metrics == METRICS:
            metrics = tuple(metric for metric in metrics if metric != "mauc")
    return Study(
        folds,
        methods,
        [*dict.fromkeys(map(parse_metric, metrics))],
        _settings_of(config, threads),
        config.seeds,
        config.select or None,
        repeated=config.splits > 0,
        folder=folder,
        jobs=jobs,
        trials=config.trials,
        convention=config.convention,
        features=_features_in_words(config),
        data=tuple(data_in_words(folds, notes)),
    )


def _without_queries(config: Config, methods: list[Method]) -> tuple[list[Method], tuple[str, ...]]:
    """The methods and metrics of a table without queries; a ValueError for those that need them."""
    metrics = METRICS_OF_ROWS if config.metrics == METRICS else config.metrics
    names = ", ".join(method.name for method in METHODS_OF_ROWS)
    for metric in map(parse_metric, metrics):
        if not metric.ranks_tables:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the table has no queries: use "
                f"--metrics {','.join(METRICS_OF_ROWS)}"
            )
    for method in methods:
        if not method.without_queries:
            raise ValueError(
                f"{method.name} needs queries, but the table has none: use {names}, or an "
                "estimator as module:Class"
            )
    return methods, metrics


def completed(config: Config, study: Study) -> Config:
    """The configuration with the values that its defaults stand for in this study."""
    return replace(
        config,
        methods=tuple(method.name for method in study.methods),
        metrics=tuple(map(str, map(parse_metric, study.metrics))),
        rounds=study.settings.rounds,
        patience=study.settings.patience,
    )


def _methods_of(config: Config) -> list[Method]:
    given = ",".join(config.methods) if config.methods else None
    methods = find_methods(given, queries=config.qid != NO_QUERIES)
    names = [method.name for method in methods]
    for name, grid in config.grid.items():
        if name not in names:
            raise ValueError(f"grid of {name!r}, which is not one of {', '.join(names)}")
        place = names.index(name)
        methods[place] = replace(methods[place], grid=grid)
        if methods[place].trainer is train_estimator:
            refuse_unknown_parameters(methods[place])
    return methods


def _settings_of(config: Config, threads: int) -> Settings:
    trees = {name: getattr(config, name) for name in DRAWN}
    for name, value in trees.items():
        if config.trials and value != getattr(Settings, name):
            raise ValueError(
                f"{name} is drawn at random with trials: leave it out, or list values of the "
                "framework's parameter in the method's grid"
            )
    rounds, patience = ROUNDS_OF_TRIALS if config.trials else (Settings.rounds, Settings.patience)
    rounds, patience = config.rounds or rounds, config.patience or patience
    every = max(1, min(rounds // LOOKS, patience)) if config.trials else 1
    return Settings(rounds, patience, **trees, every=every, threads=threads)


def _features_in_words(config: Config) -> str:
    said = []
    if config.scaling == "query":
        said.append("Features are scaled to [0, 1] within each query.")
    if config.relative:
        said.append(
            "Beside each feature, methods have the same relative to its query: "
            f"{', '.join(config.relative)}."
        )
    return " ".join(said)
