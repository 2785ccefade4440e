"""The memory that the fits of a study need, compared with that of the machine before the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lambdaplus.compute.memory import memory_limit
from lambdaplus.data import Fold
from lambdaplus.data.feature_rows import matrices_of
from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.boosters import bins_alone
from lambdaplus.study.methods import Method

PROCESS = 0.2e9  # bytes of a process without data: what it imports, and compiled kernels
TOLD = 1e9  # bytes from which the need is told
_ROW = 40  # bytes of a row's label, query and number in each fold
_NUMBER = 8  # bytes of a feature in the arrays of a fit
# Bytes for each feature of training and validation rows in a framework's own form, and for those of
# at most so many training rows while LightGBM looks for bins.
_BINS = {"lightgbm": 1, "xgboost": 6}
_NUMBERS_AND_BINS = 10  # in XGBoost's form with both
_LOOKED_AT, _LOOKING = 200_000, {"lightgbm": 20, "xgboost": 0}


class Memory(NamedTuple):
    """Bytes that a study needs at most."""

    held: float  # the data of all folds, with features once
    of_fit: float  # of each fit that runs: rows of its own, and what the framework makes of them
    jobs: int
    size: str  # of the largest fold, in words
    limit: float

    @classmethod
    def of(cls, folds: Sequence[Fold], methods: Sequence[Method], jobs: int) -> Memory:
        """The need of these methods on the largest fold."""
        matrices = {
            id(matrix): matrix.nbytes
            for fold in folds
            for part in fold.parts
            for matrix in matrices_of(part.held_features)
        }
        largest = max(folds, key=lambda fold: sum(part.labels.size for part in fold.parts))
        train, valid, test = (part.labels.size for part in largest.parts)
        most = max(_of_feature(method, largest) for method in methods)
        width = largest.train.n_features
        size = f"{train + valid + test:,} rows x {width:,} features"
        rows = sum(part.labels.size for fold in folds for part in fold.parts)
        held = float(sum(matrices.values()) + rows * _ROW)
        return cls(held, float(width * most), jobs, size, memory_limit())

    def needed(self, jobs: int) -> float:
        """Bytes with so many fits at a time."""
        processes = jobs + 1 if jobs > 1 else 1  # a single one fits here
        return self.held + jobs * self.of_fit + processes * PROCESS

    @property
    def is_large(self) -> bool:
        """Whether the need is worth a line."""
        return self.needed(self.jobs) > TOLD

    @property
    def in_words(self) -> str:
        """What is needed, and for what."""
        fits = f"each of {self.jobs} fits at a time" if self.jobs > 1 else "a fit"
        return (
            f"Memory: about {_gb(self.needed(self.jobs))} for {self.size}, with {_gb(self.held)} "
            f"for the data and {_gb(self.of_fit)} for {fits}."
        )

    def refuse_too_little(self) -> None:
        """Raise a ValueError if the machine has less, with what helps."""
        if self.needed(self.jobs) <= self.limit:
            return
        advice = "leave out features (--drop), or queries"
        fewer = [n for n in range(1, self.jobs) if self.needed(n) <= self.limit]
        if fewer:
            advice = f"use --jobs {fewer[-1]}, which needs {_gb(self.needed(fewer[-1]))}"
        raise ValueError(
            f"the fits would end for lack of memory, of which there are {_gb(self.limit)}. "
            f"{self.in_words} Instead, {advice}"
        )


def _of_feature(method: Method, fold: Fold) -> int:
    """Bytes that a fit of a method on a fold needs for each feature."""
    train, valid, test = (part.labels.size for part in fold.parts)
    if not isinstance(method.trainer, BoostedTrainer):  # of its data, and a copy is assumed
        return (2 * (train + valid) + max(valid, test)) * _NUMBER
    family = method.trainer.framework
    numbers = max(train, valid, test) * _NUMBER  # until there are bins
    alone = True, True
    if family == "xgboost":
        alone = bins_alone({**method.fixed, **dict.fromkeys(method.searched)}, fold.train)
    of_train, of_valid = (_BINS[family] if bins else _NUMBERS_AND_BINS for bins in alone)
    form = train * of_train + valid * of_valid
    return numbers + form + min(train, _LOOKED_AT) * _LOOKING[family]


def _gb(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"
