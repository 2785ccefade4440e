"""From a configuration to the study that it asks for: folds, methods and metrics by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lambdaplus.data.table_files import NO_QUERIES
from lambdaplus.estimators.boosters import POINTWISE
from lambdaplus.metrics import Metric, parse_metric
from lambdaplus.study.config import METRICS, METRICS_OF_ROWS, TREES, Config
from lambdaplus.study.folds import data_in_words, folds_and_notes
from lambdaplus.study.methods import Method
from lambdaplus.study.registry import METHODS_OF_ROWS, find_methods
from lambdaplus.study.study import Study


def study_of(config: Config, folder: Path | None = None, jobs: int = 1, threads: int = 1) -> Study:
    """Read the data and create the study.

    Parameters
    ----------
    config : Config
        The study's ``config`` names the methods and metrics that its defaults stand for.
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
    for name in TREES if config.trials else ():
        if getattr(config, name) != getattr(Config, name):
            raise ValueError(
                f"{name} is drawn at random with trials: leave it out, or list values of the "
                "framework's parameter in the method's grid"
            )
    folds, notes = folds_and_notes(config)
    if not folds[0].test.grouped:
        metrics = METRICS_OF_ROWS if metrics == METRICS else metrics
        _refuse_what_needs_queries(methods, metrics, bool(config.weight))
    else:
        two = all(np.unique(fold.train.labels).size <= 2 for fold in folds)  # MAUC would be AUC
        if not config.methods:
            both = all(np.unique(fold.train.labels >= 1).size == 2 for fold in folds)
            methods = [
                method
                for method in methods
                if (both or method.target not in POINTWISE)
                and (not two or str(method.criterion) != "mauc" or method.name in config.grid)
            ]
        if two and metrics == METRICS:
            metrics = tuple(metric for metric in metrics if metric != "mauc")
    evaluated = dict.fromkeys(map(parse_metric, metrics))
    names = tuple(method.name for method in methods)
    config = replace(config, methods=names, metrics=tuple(map(str, evaluated)))
    lines = tuple(data_in_words(folds, notes))
    return Study(folds, methods, [*evaluated], config, folder, jobs, threads, lines)


def _methods_of(config: Config) -> list[Method]:
    given = ",".join(config.methods) if config.methods else None
    methods = find_methods(given, queries=config.qid != NO_QUERIES)
    names = [method.name for method in methods]
    for name, grid in config.grid.items():
        if name not in names:
            raise ValueError(f"grid of {name!r}, which is not one of {', '.join(names)}")
        place = names.index(name)
        methods[place] = replace(methods[place], grid=grid)
    return methods


def _refuse_what_needs_queries(
    methods: Sequence[Method], metrics: Sequence[Metric], weighted: bool
) -> None:
    for metric in map(parse_metric, metrics):
        if not metric.ranks_tables:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the table has no queries: use "
                f"--metrics {','.join(METRICS_OF_ROWS)}"
            )
        if weighted and not metric.weighs_rows:
            raise ValueError(
                f"{metric} does not weight rows: leave out --weight, or use "
                f"--metrics {','.join(METRICS_OF_ROWS)}"
            )
    for method in methods:
        if not method.without_queries:
            names = ", ".join(method.name for method in METHODS_OF_ROWS)
            raise ValueError(
                f"{method.name} needs queries, but the table has none: use {names}, or an "
                "estimator as module:Class"
            )
