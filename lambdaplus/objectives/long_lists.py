"""One long list on all threads, in blocks of ranks.

The sweep of a block depends on the ranks above it only through the sums E and M at the rank before
(see `sweep`), and their change over a block has a closed form.  With G the difference of potentials
and X the decay from one end to the other,

    E <- E X + (the block's own E),   M <- (M + G E) X + (the block's own M).

First, the blocks' own sums are computed in parallel; then they are carried from block to block;
then all blocks are swept in parallel.  The block size does not depend on the number of threads, and
neither do the results.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.objectives.kernels import PairKernel
from lambdaplus.objectives.lanes import LANES, load, store
from lambdaplus.objectives.ranked import Ranked
from lambdaplus.objectives.rows import write_by_row
from lambdaplus.objectives.sweep import (
    CHUNK,
    Derivatives,
    RankedList,
    forget,
    lay_out,
    walk,
    workspace_for,
)
from lambdaplus.parallel import over_queries

BLOCK = CHUNK
LONG = 65_536  # minimum number of ranks for blocks, which cost a third more in total


def sweep_by_blocks(ranked: RankedList, kernel: PairKernel, out: Derivatives) -> float:
    """Like `lambdaplus.objectives.sweep.sweep`, on the allowed number of threads."""
    edges = np.append(np.arange(0, ranked.score.size, BLOCK), ranked.score.size)
    rows = ranked.gain.size * kernel.rates.shape[0]
    # E and M of each block, downwards and upwards.
    sums = np.empty((edges.size - 1, 2, 2, rows, LANES))
    over_queries(_own_sums, edges, edges, ranked, kernel, sums)
    _carry(edges, ranked, kernel, sums)
    received = np.empty(edges.size - 1)
    over_queries(_walk_blocks, edges, edges, ranked, kernel, sums, out, received)
    return float(received.sum())


def write_by_blocks(ranked: Ranked, q: int, own: Derivatives, out: Derivatives) -> float:
    """Like `lambdaplus.objectives.rows.write_by_row`, on the allowed number of threads."""
    start, stop = ranked.boundaries[q], ranked.boundaries[q + 1]
    edges = np.append(np.arange(start, stop, BLOCK), stop)
    absolute = np.empty(edges.size - 1)
    over_queries(_write_blocks, edges, edges, ranked, q, own, absolute, out)
    return float(absolute.sum())


@compiled(error_model="numpy")
def _own_sums(first: int, last: int, edges: Any, ranked: Any, kernel: Any, sums: Any) -> None:
    """E and M at both ends of the blocks first .. last - 1, from their own documents only."""
    work = workspace_for(ranked.gain.size, kernel.rates.shape[0])
    nothing = Derivatives(np.empty(0), np.empty(0))
    for b in range(first, last):
        lay_out(edges[b], edges[b + 1], ranked, kernel, work)
        for way in range(2):
            forget(ranked, kernel, work)
            walk(edges[b], edges[b + 1], way == 0, ranked, kernel, work, nothing)
            for row in range(work.E.shape[0]):
                store(load(work.E, row), sums[b, way, 0], row)
                store(load(work.M, row), sums[b, way, 1], row)


@compiled(error_model="numpy")
def _carry(edges: Any, ranked: Any, kernel: Any, sums: Any) -> None:
    """Replace each block's own sums by those at the rank before it, in both directions."""
    n_blocks, classes = edges.size - 1, ranked.gain.size
    rows = classes * kernel.rates.shape[0]
    E, M = np.empty((rows, LANES)), np.empty((rows, LANES))
    for way in range(2):
        E[:], M[:] = 0.0, 0.0
        before = 0 if way == 0 else ranked.score.size - 1
        for k in range(n_blocks):
            b = k if way == 0 else n_blocks - 1 - k
            end = edges[b + 1] - 1 if way == 0 else edges[b]
            distance = abs(ranked.score[before] - ranked.score[end])
            gap_U = abs(ranked.U[before] - ranked.U[end])
            gap_V = abs(ranked.V[before] - ranked.V[end])
            for row in range(rows):
                # As in the sweep, with two classes the sums of class 0 use the other potential.
                of_0 = classes == 2 and row % 2 == 0
                gap = gap_V if of_0 == (way == 0) else gap_U
                for lane in range(LANES):
                    x = math.exp(-kernel.rates[row // classes, lane] * distance)
                    count, moved = E[row, lane], M[row, lane]
                    E[row, lane] = count * x + sums[b, way, 0, row, lane]
                    M[row, lane] = (moved + gap * count) * x + sums[b, way, 1, row, lane]
                    sums[b, way, 0, row, lane], sums[b, way, 1, row, lane] = count, moved
            before = end


@compiled(error_model="numpy")
def _walk_blocks(
    first: int, last: int, edges: Any, ranked: Any, kernel: Any, sums: Any, out: Any, received: Any
) -> None:
    work = workspace_for(ranked.gain.size, kernel.rates.shape[0])
    for b in range(first, last):
        lay_out(edges[b], edges[b + 1], ranked, kernel, work)
        received[b] = 0.0
        for way in range(2):
            for row in range(work.E.shape[0]):
                store(load(sums[b, way, 0], row), work.E, row)
                store(load(sums[b, way, 1], row), work.M, row)
            received[b] += walk(edges[b], edges[b + 1], way == 0, ranked, kernel, work, out)


@compiled
def _write_blocks(
    first: int, last: int, edges: Any, ranked: Any, q: int, own: Any, absolute: Any, out: Any
) -> None:
    for b in range(first, last):
        absolute[b] = write_by_row(ranked, q, own, edges[b], edges[b + 1], out)
