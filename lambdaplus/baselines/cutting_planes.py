"""A cutting plane solver for structural SVMs, with one working set per hinge.

    min over w   P(w) = 1/2 |w|^2 + sum over blocks of weight_b * hinge_b(w)

Tsochantaridis et al. 2005 (n-slack cutting planes); Joachims, Finley & Yu 2009; see
research/mathematics/structural-svm.md.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from lambdaplus.baselines.interior_point import minimise
from lambdaplus.baselines.oracles import Loss
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.ranking.sort import rank

INNER = 0.1  # tolerance of the problem with planes, as a share of the gap
IN_USE = 1e-3  # dual variable from which a plane counts as used
PATIENCE = 3  # passes without use after which a plane is removed
# Objective, in units of the best one, from which the distance to the best w is halved.
TOO_FAR = 2.0
HALVINGS = 3  # in a row


class Cut(NamedTuple):
    """Hinges at a w, (n_blocks,), and p tangent planes ``offset + slope . w`` of blocks."""

    hinge: Floats
    block: Ints
    slope: Floats
    offset: Floats


class Hinges:
    """One hinge (block) per query or, with separate slacks, one per query and loss.

    X is (n, d) with the rows of each query adjacent, and all losses are of the same `Queries`.
    Without separate slacks, the hinge of a query is the maximum over the losses.
    """

    def __init__(self, X: Floats, losses: Sequence[Loss], separate: bool) -> None:
        self.X, self.losses, self.separate = X, losses, separate
        self._queries = losses[0].queries
        self.n_queries = self._queries.n_queries
        # A query with a single class has no block, since there is nothing to separate.
        self._active = self._queries.strata().n_classes > 1
        n = int(self._active.sum())
        self.n_blocks = n * len(losses) if separate else n
        # The blocks of each loss.
        self._blocks = [np.arange(n) + separate * n * i for i in range(len(losses))]

    def scores(self, w: Floats) -> Floats:
        scores = np.empty(self.X.shape[0])
        over_queries(_scores, self._queries.boundaries, self.X, w, scores)
        return scores

    def at(self, w: Floats) -> Cut:
        """Evaluate all hinges at w, (d,)."""
        scores = self.scores(w)
        ranking = rank(self._queries, scores)
        slopes, offsets = [], []
        hinge = np.zeros(self.n_blocks)
        for loss, block in zip(self.losses, self._blocks, strict=True):
            worst = loss.worst(ranking)
            # The tangent plane of a query, loss + (coefficient X) . w: exact at this w, below the
            # hinge elsewhere.
            slope = np.zeros((worst.loss.size, w.size))
            over_queries(_slopes, self._queries.boundaries, self.X, worst.coefficient, slope)
            slopes.append(slope[self._active])
            offsets.append(worst.loss[self._active])
            # Losses that share a slack have one block, whose hinge is their maximum.
            hinge[block] = np.maximum(hinge[block], offsets[-1] + slopes[-1] @ w)
        return Cut(
            hinge, np.concatenate(self._blocks), np.concatenate(slopes), np.concatenate(offsets)
        )


class Planes:
    """Planes collected so far and their dual variables: a lower bound of each hinge (block).

    The first plane of a block is 0, the plane of the correct ranking.
    """

    def __init__(self, n_blocks: int, n_features: int) -> None:
        self.edges: Ints = np.arange(n_blocks + 1)  # first plane of each block, and their number
        self.slope: Floats = np.zeros((n_blocks, n_features))
        self.offset: Floats = np.zeros(n_blocks)
        self.alpha: Floats = np.ones(n_blocks)  # sums to 1 in each block
        self.idle: Ints = np.zeros(n_blocks, dtype=np.int64)  # passes since it was last used

    @property
    def block(self) -> Ints:
        """Block of each plane, (m,)."""
        return np.repeat(np.arange(self.edges.size - 1), np.diff(self.edges))

    def at(self, w: Floats) -> Floats:
        """The lower bound of each hinge at w, (n_blocks,)."""
        return np.asarray(np.maximum.reduceat(self.offset + self.slope @ w, self.edges[:-1]))

    def add(self, block: Ints, slope: Floats, offset: Floats) -> None:
        self._keep_and_add(slice(None), block, slope, offset, np.zeros(block.size))

    def evict(self) -> None:
        """Replace unused planes by their mean weighted by alpha (aggregation in bundle methods).

        The mean of lower bounds is a lower bound, and the value of the dual does not change.
        """
        self.idle = np.where(self.alpha >= IN_USE, 0, self.idle + 1)
        drop = self.idle > PATIENCE
        drop[self.edges[:-1]] = False
        if not drop.any():
            return
        # Dropped planes with alpha > 0 are part of w. Their weighted mean takes their place: with
        # the sum of their alpha, w and the value of the dual are the same.
        mass = np.where(drop, self.alpha, 0.0)
        total = np.add.reduceat(mass, self.edges[:-1])
        mixed = np.flatnonzero(total > 0)
        share = mass / np.where(total > 0, total, 1.0)[self.block]
        slope = np.add.reduceat(share[:, None] * self.slope, self.edges[:-1])
        offset = np.add.reduceat(share * self.offset, self.edges[:-1])
        self._keep_and_add(~drop, mixed, slope[mixed], offset[mixed], total[mixed])

    def _keep_and_add(
        self, keep: Any, block: Ints, slope: Floats, offset: Floats, alpha: Floats
    ) -> None:
        block = np.concatenate([self.block[keep], block])
        # The planes of a block stay together, and its first one, 0, stays first.
        order = np.argsort(block, kind="stable")
        self.edges = np.searchsorted(block[order], np.arange(self.edges.size))
        self.slope = np.concatenate([self.slope[keep], slope])[order]
        self.offset = np.concatenate([self.offset[keep], offset])[order]
        self.alpha = np.concatenate([self.alpha[keep], alpha])[order]
        new = np.zeros(alpha.size, dtype=np.int64)
        self.idle = np.concatenate([self.idle[keep], new])[order]


class Pass(NamedTuple):
    """The progress of one pass over the data."""

    primal: float  # objective at the w of this pass
    dual: float  # best lower bound before the pass
    slack: float  # mean over the queries of their hinges, summed over losses if separate
    norm: float  # of w
    seconds: float  # since the start of the fit
    oracle_seconds: float  # of these, for scores, most violated rankings and planes


class Solution(NamedTuple):
    """A w, (d,), its objective, and a lower bound of the minimum."""

    w: Floats
    primal: float
    dual: float
    slack: float
    history: list[Pass]

    @property
    def relative_gap(self) -> float:
        return (self.primal - self.dual) / self.primal


def solve(
    hinges: Hinges, weight: Floats, tol: float, max_passes: int, epsilon: float | None = None
) -> Solution:
    """Minimise P to a relative duality gap of ``tol``, with a positive weight for each block.

    With ``epsilon``, only planes that are violated by more are added, and the solution is the last
    w, at which there are none, not the best (Yue et al. 2007, algorithm 1).
    """
    history, begin, in_oracle = list[Pass](), time.perf_counter(), 0.0
    planes, w = Planes(hinges.n_blocks, hinges.X.shape[1]), np.zeros(hinges.X.shape[1])
    best, primal, dual, mean_slack = w, np.inf, 0.0, np.inf
    halvings = 0
    # Results of BLAS depend on its number of threads.
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        while True:
            called = time.perf_counter()
            # A pass over the data: the exact P(w), and a tangent plane of each block.
            cut = hinges.at(w)
            in_oracle += time.perf_counter() - called
            value = float(w @ w / 2 + weight @ cut.hinge)
            slack = float(cut.hinge.sum()) / hinges.n_queries
            if value < primal:
                best, primal, mean_slack = w, value, slack
            seconds = time.perf_counter() - begin
            norm = float(np.linalg.norm(w))
            history.append(Pass(value, dual, slack, norm, seconds, in_oracle))
            new = np.ones(cut.block.size, dtype=bool)
            if epsilon is not None:
                # Constraints that are violated by more than epsilon beyond the slack, which is the
                # maximum of the planes so far.
                new = cut.offset + cut.slope @ w > planes.at(w)[cut.block] + epsilon
                if not new.any() or len(history) == max_passes:
                    return Solution(w, value, dual, slack, history)
            elif primal - dual <= tol * primal or len(history) == max_passes:
                return Solution(best, primal, dual, mean_slack, history)
            # Before the new planes come in, which no minimum has used yet.
            planes.evict()
            planes.add(cut.block[new], cut.slope[new], cut.offset[new])
            # If queries can be separated, a large C makes small errors of the lower bounds costly:
            # the objective is convex, and lower closer to the best w.
            if epsilon is None and value > TOO_FAR * primal and halvings < HALVINGS:
                halvings += 1
                w = (best + w) / 2
                continue
            halvings = 0
            gap = tol * primal if epsilon is not None else primal - dual
            planes.alpha = minimise(planes.edges, planes.slope, planes.offset, weight, INNER * gap)
            # w and D(alpha) of mathematics/structural-svm.md, "The certificate". Any feasible
            # alpha gives a lower bound, so the best one so far is kept.
            mass = weight[planes.block] * planes.alpha
            w = -(mass @ planes.slope)
            dual = max(dual, float(mass @ planes.offset - w @ w / 2))


# Sums are reassociated for vector registers when compiled; threads do not change their order.
@compiled(fastmath={"reassoc", "contract", "nsz"})
def _scores(first: int, last: int, boundaries: Ints, X: Floats, w: Floats, out: Floats) -> None:
    """Write X w for the rows of some queries."""
    for i in range(boundaries[first], boundaries[last]):
        total = 0.0
        for f in range(w.size):
            total += X[i, f] * w[f]
        out[i] = total


@compiled
def _slopes(
    first: int, last: int, boundaries: Ints, X: Floats, coefficient: Floats, out: Floats
) -> None:
    """Add the rows of each query times their coefficients."""
    for q in range(first, last):
        for i in range(boundaries[q], boundaries[q + 1]):
            if coefficient[i] != 0.0:
                for f in range(X.shape[1]):
                    out[q, f] += coefficient[i] * X[i, f]
