"""Small data sets for the tests of the framework interfaces; imports no framework."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lambdaplus.data import Fold, read_folds
from lambdaplus.evaluation import evaluate
from lambdaplus.frameworks.calls import read_call
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import CATALOGUE

# Every metric as an objective, and one of each kind for tests that train.
OBJECTIVE_NAMES = tuple(d.name + ("@5" if d.cutoff == "required" else "") for d in CATALOGUE)
PLUMBED = ("map", "ndcg")  # where a framework alone is tested, which knows nothing of the metric
TRAINED = ("auc", "mauc", "concordance", "map", "mrr", "ndcg", "err", "rprec")


@dataclass(frozen=True, eq=False)
class Small:
    """Features, labels and query sizes, the rows of a query adjacent."""

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def qid(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def ranking(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """What rankers are fitted to."""
        return self.features, self.labels, self.qid

    @property
    def binary(self) -> NDArray[np.int64]:
        return (self.labels > 0).astype(np.int64)

    @property
    def row_weights(self) -> NDArray[np.float32]:
        """Numbers with the precision of the frameworks, so that both round in the same way."""
        return np.random.default_rng(1).uniform(0.2, 3.0, self.n).astype(np.float32)

    @property
    def query_weights(self) -> NDArray[np.float32]:
        return np.random.default_rng(2).uniform(0.2, 3.0, len(self.sizes)).astype(np.float32)

    def rows(self, rows: NDArray[np.int64]) -> Small:
        """These rows, in this order; queries must stay adjacent."""
        sizes = np.bincount(self.qid[rows])
        return Small(self.features[rows], self.labels[rows], sizes[sizes > 0])

    def queries(self, first: int, last: int) -> Small:
        """Queries first to last, last excluded."""
        return self.rows(np.flatnonzero((self.qid >= first) & (self.qid < last)))

    def scores(self, seed: int = 4) -> NDArray[np.float64]:
        """Scores with ties, exact in float32."""
        return np.random.default_rng(seed).integers(-8, 8, self.n) / 4.0


@cache
def graded(n_queries: int = 60, seed: int = 0) -> Small:
    """Grades 0 to 3, queries of 4 to 25 documents; a mean query has 1 document in 3 relevant."""
    random = np.random.default_rng(seed)
    sizes = random.integers(4, 26, n_queries)
    features = random.normal(size=(sizes.sum(), 5))
    signal = features[:, 0] + features[:, 1] * features[:, 2]
    labels = np.digitize(signal + 0.4 * random.normal(size=len(signal)), [0.6, 1.4, 2.2])
    return Small(features, labels.astype(np.float64), sizes)


GRADED = graded()


@cache
def tiny(seed: int = 0) -> Small:
    """Binary queries of 2 to 6 documents, one of them of a single class."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 7, 8)
    features = random.normal(size=(sizes.sum(), 3))
    labels = (features[:, 0] + random.normal(size=len(features)) > 0).astype(float)
    labels[: sizes[0]] = 1.0
    return Small(features, labels, sizes)


@cache
def lone_pairs() -> Small:
    """Forty queries with one relevant and one irrelevant document, told apart by the feature."""
    labels = np.tile([1.0, 0.0], 40)
    return Small(labels[:, None], labels, np.full(40, 2))


@cache
def rare(n: int = 20_000) -> tuple[Small, Small]:
    """Ungrouped binary data with 3 % positives, halved into training and test data."""
    from sklearn.datasets import make_classification

    features, labels = make_classification(
        n, 20, n_informative=6, n_redundant=4, weights=[0.975], class_sep=0.7, random_state=0
    )
    half, labels = np.array([n // 2]), labels.astype(np.float64)
    first, second = zip(np.split(features, half), np.split(labels, half), strict=True)
    return Small(*first, half), Small(*second, half)


def write_letor(file: Path, features: Any, labels: Any, qid: Any) -> None:
    """Write rows in LETOR's format."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{label:g} qid:{query} " + " ".join(f"{j}:{value:.4f}" for j, value in enumerate(row, 1))
        for label, query, row in zip(labels, qid, features, strict=True)
    ]
    file.write_text("\n".join(lines) + "\n")


def letor_folder(folder: Path, folds: int, queries: int = 20) -> Path:
    """Write folds of the graded set in LETOR's layout, so many queries a part."""
    for number in range(folds):
        data = graded(3 * queries, seed=number)
        for part, name in enumerate(("train", "vali", "test")):
            mine = data.queries(queries * part, queries * part + queries)
            qid = [f"{number}{part}{query:02}" for query in mine.qid]
            file = folder / f"Fold{number + 1}" / f"{name}.txt"
            write_letor(file, mine.features, mine.labels, qid)
    return folder


@cache
def folds_of(data_folder: Path, name: str) -> list[Fold]:
    """The five folds of a real set."""
    if not (data_folder / name).is_dir():
        pytest.skip(f"{name} is not in {data_folder}")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(data_folder / "folds.py"), name, folder]
        subprocess.run(command, check=True, timeout=60)
        return read_folds(folder)


@cache
def mq2008(data_folder: Path) -> Small:
    """Training data of the first fold of MQ2008, in its published layout."""
    data = folds_of(data_folder, "mq2008")[0].train
    starts = np.flatnonzero(np.append(True, data.qid[1:] != data.qid[:-1]))
    return Small(data.features, data.labels, np.diff(np.append(starts, len(data.labels))))


def value(metric: str, data: Small, scores: Any) -> float:
    return evaluate(data.labels, scores, group=data.sizes, metrics=metric)[metric]


def gradient_of(objective: Any, data: Small, scores: Any = None) -> Any:
    scores = data.scores() if scores is None else scores
    return objective(data.labels, scores, None, data.sizes)


def same_gradient(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]))


class OnGPU:
    """What lambdaplus uses of a CuPy array."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)
        self.__cuda_array_interface__ = {"shape": self._values.shape, "version": 3}

    def get(self) -> Any:
        return self._values.copy()


class Recorder:
    """Passes calls on to an objective or a metric, and keeps what a look at them returned."""

    def __init__(self, function: Any, look: Any) -> None:
        self.function = function
        self.look = look
        self.seen: list[Any] = []

    def __call__(self, scores: Any, data: Any) -> Any:
        found = self.function(scores, data)
        self.seen.append(self.look(scores, data))
        return found

    def __deepcopy__(self, memo: Any) -> Recorder:
        return self  # LightGBM copies its parameters, the objective among them


def queries_read(*arguments: Any) -> Queries:
    """The queries that an objective works with when a framework passes these arguments."""
    with read_call(*arguments) as call:
        return call.queries
