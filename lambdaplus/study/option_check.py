"""Options of methods, tried on a few rows before anything is trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.config import Config
from lambdaplus.study.files_and_machines import refuse_files_and_machines
from lambdaplus.study.methods import Method
from lambdaplus.study.registry import METHODS
from lambdaplus.study.tasks import Task

IGNORED = "are not used"
"""What XGBoost warns of parameters that it does not have."""


def refuse_wrong_options(
    methods: Sequence[Method], config: Config, metrics: Sequence[RankingMetric], n_features: int
) -> None:
    """Raise a ValueError for options, or values in a grid, with which a method cannot be fitted.

    Some have an entry for each feature, or number features, so the rows have as many as the data.
    One that may read or write files is refused before it is tried.

    An error that the method without options has as well is none of the options.
    """
    listed = {method.name for method in METHODS}
    part = _few_rows(n_features)
    for method in methods:
        # Of the methods of the list, fixed options are those of lambdaplus.
        fixed = {} if method.name in listed else method.fixed
        refuse_files_and_machines(method, {**fixed, **config.grid.get(method.name, {})})
    for method in methods:
        for name, value in _given(method, config, method.name in listed):
            without = {k: v for k, v in method.fixed.items() if k != name}
            bare = replace(method, fixed=without, grid={})
            tried = replace(bare, fixed={**without, name: value})
            error = _error(tried, part, config, metrics)
            if error and not _error(bare, part, config, metrics):
                raise ValueError(f"method {method.name!r} with {name}={value!r}: {error}")


def _given(method: Method, config: Config, listed: bool) -> Iterator[tuple[str, Any]]:
    """The options in brackets, and all values of the grid of the study."""
    if not listed:
        yield from method.fixed.items()
    for name, values in config.grid.get(method.name, {}).items():
        yield from ((name, value) for value in values)


def _few_rows(n_features: int) -> RankingData:
    random = np.random.default_rng(0)
    labels = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], 16)
    features = random.normal(size=(80, n_features)) + labels[:, None]
    return RankingData(features, labels, np.repeat(np.arange(8), 10))


def _error(
    method: Method, part: RankingData, config: Config, metrics: Sequence[RankingMetric]
) -> str:
    """The error of a training of one round, or its warning of an unknown parameter."""
    asked = replace(config, rounds=1, patience=1, every=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            method.trainer(Task(method, {}, part, part, asked, 0, tuple(metrics[:1])))
        except Exception as error:
            return " ".join(str(error).split())
    said = [" ".join(str(warning.message).split()) for warning in caught]
    return next((text for text in said if IGNORED in text), "")
