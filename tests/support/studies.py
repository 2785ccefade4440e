"""Finished studies of the built-in digits, which have five folds."""

from collections.abc import Sequence
from typing import Any

from lambdaplus.data import digits_queries
from lambdaplus.study import Config, Method, Study, find_methods


def of_digits(
    methods: str | Sequence[Method], *metrics: str, n_folds: int = 1, **config: Any
) -> Study:
    found = find_methods(methods) if isinstance(methods, str) else methods
    study = Study(digits_queries()[:n_folds], found, metrics, Config(**config))
    study.finish()
    return study
