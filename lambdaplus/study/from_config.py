"""From a configuration to the study that it asks for: folds, methods and metrics by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lambdaplus.data import Fold
from lambdaplus.metrics import Metric, RankingMetric, parse_metric
from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.config import DEFAULT_TREES, Config
from lambdaplus.study.data_in_words import data_in_words
from lambdaplus.study.data_warnings import data_warnings
from lambdaplus.study.folds import read_study_data
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.method_names import find_fitting, find_methods
from lambdaplus.study.methods import Method
from lambdaplus.study.option_check import refuse_wrong_options
from lambdaplus.study.study import Study
from lambdaplus.study.words import Nouns


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
    given = ",".join(config.methods) if config.methods else None
    find_methods(given)  # unknown ones are named before the data is read
    if config.trials and config.trees not in ((), *DEFAULT_TREES.values()):
        raise ValueError(
            "trees are drawn at random with trials: leave them out, or list values of the "
            "framework's parameters in the method's grid"
        )
    if config.trials and config.rate:
        raise ValueError("the learning rate is drawn at random with trials: leave rate out")
    folds, notes, config, all_rows, columns = read_study_data(config)
    labels = LabelKind.of(folds)
    methods, left_out = find_fitting(given, labels)
    methods = _with_grids(methods, config)
    metrics = config.metrics or labels.metrics
    if not labels.grouped:
        _refuse_what_needs_queries(methods, metrics, bool(config.weight))
    evaluated = dict.fromkeys(map(parse_metric, metrics))
    _refuse_all_relevant(folds, next(iter(evaluated)))
    refuse_wrong_options(methods, config, [*evaluated], folds[0].train.n_features)
    names = tuple(method.name for method in methods)
    config = replace(config, methods=names, metrics=tuple(map(str, evaluated)))
    nouns = Nouns.of(config.qid)
    lines = data_in_words(
        folds,
        labels,
        [*notes, *data_warnings(folds, labels, nouns), *_left_out_in_words(left_out)],
        nouns,
    )
    return Study(
        folds, methods, [*evaluated], config, folder, jobs, threads, tuple(lines), all_rows,
        columns,
    )  # fmt: skip


def _left_out_in_words(left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """The methods that were not named and do not fit, without their frameworks, and why."""
    words = "; ".join(
        f"{', '.join(dict.fromkeys(name.partition(':')[2] for name in names))} ({why})"
        for why, names in left_out.items()
    )
    return [f"Methods that do not fit: {words}."] if words else []


def _with_grids(methods: list[Method], config: Config) -> list[Method]:
    names = [method.name for method in methods]
    for name in config.grid:
        if name not in names:
            raise ValueError(f"grid of {name!r}, which is not one of {', '.join(names)}")
    sizes = {"trees": config.trees} if len(config.trees) > 1 and not config.trials else {}
    return [
        replace(one, grid={**(sizes if isinstance(one.trainer, BoostedTrainer) else {}),
                           **config.grid.get(one.name, one.grid)})
        for one in methods
    ]  # fmt: skip


def _refuse_all_relevant(folds: Sequence[Fold], metric: RankingMetric) -> None:
    """Raise a ValueError if all rows are relevant by the main metric, such as by labels 1 and 2."""
    if metric.relevant is None:
        return
    labels = np.unique(np.concatenate([part.labels for fold in folds for part in fold.parts]))
    if labels[0] >= metric.relevant and labels.size > 1:
        name = metric.declaration.name
        raise ValueError(
            f"the labels are from {labels[0]:g} to {labels[-1]:g}, and by {metric} rows with a "
            f"label of {metric.relevant:g} or more are relevant, which all are: write 0 for those "
            f"that are not, or pass a higher threshold, such as --metrics "
            f"'{name}(relevant={labels[1]:g})'"
        )


def _refuse_what_needs_queries(
    methods: Sequence[Method], metrics: Sequence[Metric], weighted: bool
) -> None:
    for metric in map(parse_metric, metrics):
        if metric.kind_of_rows is None:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the table has no queries: use "
                "--metrics map,auc"
            )
        if weighted and not metric.weighs_rows:
            raise ValueError(
                f"{metric} does not weight rows: leave out --weight, or use --metrics map,auc"
            )
    for method in methods:
        if not method.ranks_rows:
            names = ", ".join(one.name for one in find_methods(None, LabelKind(grouped=False)))
            raise ValueError(
                f"{method.name} needs queries, but the table has none: use {names}, or an "
                "estimator as module:Class"
            )
