"""Faulty estimators, which comparisons use as ``odd_estimators:Class``."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np


class FirstFeature:
    """Scores by the first feature."""

    def fit(self, X: Any, y: Any) -> FirstFeature:
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


class Slow(FirstFeature):
    """Takes a while, so that it can be interrupted."""

    def fit(self, X: Any, y: Any) -> Slow:
        time.sleep(0.3)
        return self


class Endless(FirstFeature):
    """Does not end by itself in the time of a test."""

    def fit(self, X: Any, y: Any) -> Endless:
        time.sleep(600)
        return self


class Aborting(FirstFeature):
    """Brings its process down, as a framework's abort does."""

    def fit(self, X: Any, y: Any) -> Aborting:
        os._exit(3)


class Warns(FirstFeature):
    """Warns, twice of the same."""

    def fit(self, X: Any, y: Any) -> Warns:
        for _ in range(2):
            warnings.warn("it did not converge", stacklevel=2)
        return self


class NotANumber(FirstFeature):
    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.nan)


class Guided(FirstFeature):
    """Chooses its feature by qid, metric, validation data and seed being what they should."""

    def __init__(self, metric: str = "", random_state: int = -1, column: int = 0) -> None:
        assert metric == "map"  # the first of the study
        assert random_state == 5
        self.column = column

    def fit(self, X: Any, y: Any, qid: Any = None, eval_set: Any = None) -> Guided:
        assert len(qid) == len(y)
        assert [len(part) for part in eval_set][1:] == [len(eval_set[0])] * 2
        return self

    def predict(self, X: Any, qid: Any = None) -> Any:
        assert len(qid) == len(X)
        return np.asarray(X)[:, self.column]


class TooFew(FirstFeature):
    """Forgets the last row."""

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:-1, 0]


class Column(FirstFeature):
    """Gives a column where a row is asked for."""

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, :1]


class Leaving(FirstFeature):
    """Ends its process as if all were well."""

    def fit(self, X: Any, y: Any) -> Leaving:
        os._exit(0)


class Exits(FirstFeature):
    """Calls `sys.exit`, as a script would."""

    def fit(self, X: Any, y: Any) -> Exits:
        sys.exit("no licence")


class LeavesAThread(FirstFeature):
    """Has a thread that does not end."""

    def fit(self, X: Any, y: Any) -> LeavesAThread:
        threading.Thread(target=time.sleep, args=(600,)).start()
        return self


class Unspeakable(FirstFeature):
    """Raises an error that cannot be converted to text."""

    def fit(self, X: Any, y: Any) -> Unspeakable:
        class Error(BaseException):
            def __str__(self) -> str:
                raise RuntimeError

        raise Error


class Verbose(FirstFeature):
    """Raises an error of several lines, the first of which are empty, which clears a terminal."""

    def fit(self, X: Any, y: Any) -> Verbose:
        raise ValueError("\n\n\x1b[2Jwrong\n  because")


class Complex(FirstFeature):
    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0] + 1j


class Masked(FirstFeature):
    def predict(self, X: Any) -> Any:
        return np.ma.masked_less(np.asarray(X)[:, 0], 0.0)


class InPlace(FirstFeature):
    """Changes all arrays that it gets."""

    def fit(self, X: Any, y: Any, eval_set: Any = None) -> InPlace:
        for changed in (X, y, *eval_set[:2]):
            changed[:] = 0
        return self

    def predict(self, X: Any) -> Any:
        X[:] *= -1
        return np.array(X[:, 0])
