"""Trees as plain data, independent of the frameworks and of the search engines.

Examples
--------
>>> from lambdaplus.export.forest import Forest, Leaf, Split
>>> tree = Split(feature=0, threshold=0.5, missing_left=True, left=Leaf(-1.0), right=Leaf(1.0))
>>> Forest([tree], ["title"], "xgboost", base=0.25).score([[0.4], [0.5], [float("nan")]]).tolist()
[-0.75, 1.25, -0.75]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.data.queries import Floats


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf, with the value that it adds to the score of a row."""

    value: float


@dataclass(frozen=True, slots=True)
class Split:
    """A split: a row goes left if its value is *less than* the threshold.

    Attributes
    ----------
    feature : int
    threshold : float
    missing_left : bool
        Whether a row without a value goes left.
    left, right : Leaf or Split
    """

    feature: int
    threshold: float
    missing_left: bool
    left: Node
    right: Node


Node = Leaf | Split


@dataclass(frozen=True)
class Forest:
    """A sum of trees.

    Attributes
    ----------
    trees : sequence of Leaf or Split
    feature_names : sequence of str
    source : {"lightgbm", "xgboost"}
        LightGBM compares float64 values, XGBoost float32 ones.
    base : float
        Constant that is added to every score.
    missing : tuple of int
        Features that had missing values in training, as far as is known.
    """

    trees: Sequence[Node]
    feature_names: Sequence[str]
    source: Literal["lightgbm", "xgboost"]
    base: float = 0.0
    missing: tuple[int, ...] = ()

    def score(self, features: ArrayLike) -> Floats:
        """Scores of rows (n, f), in which NaN is a missing value: (n,) float64."""
        rows = np.asarray(features, dtype=np.float32 if self.source == "xgboost" else np.float64)
        return np.array([self.base + math.fsum(leaf.value for leaf in self._leaves(r))
                         for r in rows])  # fmt: skip

    def _leaves(self, row: Floats) -> Iterator[Leaf]:
        for node in self.trees:
            while isinstance(node, Split):
                value = row[node.feature]
                left = node.missing_left if np.isnan(value) else value < node.threshold
                node = node.left if left else node.right
            yield node


def next_float32(threshold: float) -> float:
    """The smallest float32 >= threshold, which is equivalent for comparing float32 values."""
    largest = float(np.finfo(np.float32).max)
    if threshold >= largest:
        return largest
    rounded = np.float32(threshold)
    if float(rounded) < threshold:
        rounded = np.nextafter(rounded, np.float32(np.inf))
    return float(rounded)
