"""Trees as plain data, between the frameworks that grow them and the engines that serve them.

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

from lambdaplus.queries import Floats


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a row ends, and what the tree adds to its score."""

    value: float


@dataclass(frozen=True, slots=True)
class Split:
    """A row goes left if its value is *less than* the threshold.

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
        What every score starts at.
    missing : tuple of int
        Features of which the model has learnt from rows without a value, as far as is known.
    """

    trees: Sequence[Node]
    feature_names: Sequence[str]
    source: Literal["lightgbm", "xgboost"]
    base: float = 0.0
    missing: tuple[int, ...] = ()

    def score(self, features: ArrayLike) -> Floats:
        """Scores of rows (n, f), NaN where a value is missing: (n,) float64."""
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
    """The least float32 that is not below: float32 values are below both or below neither."""
    largest = float(np.finfo(np.float32).max)
    if threshold >= largest:
        return largest
    rounded = np.float32(threshold)
    if float(rounded) < threshold:
        rounded = np.nextafter(rounded, np.float32(np.inf))
    return float(rounded)
