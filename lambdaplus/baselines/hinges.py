"""The hinges of all queries at a weight vector: values and tangent planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.baselines.oracles import Loss, Ranked, ranked
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.data.queries import Floats, Ints


class Cut(NamedTuple):
    """Hinges at a w, and their tangent planes.

    Attributes
    ----------
    hinge : (n_blocks,) float64
    block : (p,) int64
        Block of each plane.
    slope : (p, d) float64
    offset : (p,) float64
    """

    hinge: Floats
    block: Ints
    slope: Floats
    offset: Floats


class Hinges:
    """One hinge per query, or with separate slacks one per query and loss.

    Parameters
    ----------
    X : (n, d) float64
        Documents; the rows of each query are adjacent.
    losses : sequence of Loss
    separate : bool
        Whether each loss has separate hinges; otherwise the hinge of a query is their maximum.

    Attributes
    ----------
    n_blocks : int
    loss_of_block : (n_blocks,) int64
        All 0 if not separate.
    """

    def __init__(self, X: Floats, losses: Sequence[Loss], separate: bool) -> None:
        self.X, self.losses = X, losses
        # A query with a single class has no block, since there is nothing to separate.
        active = np.array([loss.separable for loss in losses])
        blocks = active if separate else active.any(axis=0, keepdims=True)
        index = np.cumsum(blocks.ravel()).reshape(blocks.shape) - 1
        self.n_blocks = int(blocks.sum())
        self.loss_of_block: Ints = np.nonzero(blocks)[0]
        self._queries = [np.flatnonzero(row) for row in active]
        self._blocks = [
            index[number if separate else 0][mine] for number, mine in enumerate(self._queries)
        ]

    def at(self, w: Floats) -> Cut:
        """Evaluate all hinges at w, (d,)."""
        scores = np.empty(self.X.shape[0])
        over_queries(_scores, self._bounds, self._bounds, self.X, w, scores)
        rankings: dict[int, Ranked] = {}  # losses with the same labels share one sort
        slopes, offsets = [], []
        hinge = np.zeros(self.n_blocks)
        for loss, mine, block in zip(self.losses, self._queries, self._blocks, strict=True):
            key = id(loss.queries)
            if key not in rankings:
                rankings[key] = ranked(loss.queries, scores)
            found = loss.oracle(rankings[key])
            slope = np.zeros((found.loss.size, w.size))
            over_queries(_slopes, self._bounds, self._bounds, self.X, found.coefficient, slope)
            slopes.append(slope[mine])
            offsets.append(found.loss[mine])
            hinge[block] = np.maximum(hinge[block], offsets[-1] + slopes[-1] @ w)
        return Cut(
            hinge, np.concatenate(self._blocks), np.concatenate(slopes), np.concatenate(offsets)
        )

    @property
    def _bounds(self) -> Ints:
        return self.losses[0].queries.boundaries


# Sums may be reassociated to fill vector registers: the order is fixed when the kernel is compiled,
# so results still do not depend on the number of threads (as those of a BLAS may).
@compiled(fastmath={"reassoc", "contract", "nsz"})
def _scores(first: int, last: int, boundaries: Any, X: Any, w: Any, out: Any) -> None:
    for i in range(boundaries[first], boundaries[last]):
        total = 0.0
        for f in range(w.size):
            total += X[i, f] * w[f]
        out[i] = total


@compiled
def _slopes(first: int, last: int, boundaries: Any, X: Any, coefficient: Any, out: Any) -> None:
    for q in range(first, last):
        for i in range(boundaries[q], boundaries[q + 1]):
            if coefficient[i] != 0.0:
                for f in range(X.shape[1]):
                    out[q, f] += coefficient[i] * X[i, f]
