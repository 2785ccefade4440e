"""One long list on all cores, by blocks of ranks.

A walk down a block depends on what stands above it only through the sums E and M at its first
rank (see `sweep`), and these change along a block in a simple way: with G the potential's gap and
X the decay from one end to the other,

    E <- E X + (the block's own E),   M <- (M + G E) X + (the block's own M).

So the blocks' own sums are found first, at the same time; then they are carried from block to
block; then all blocks are walked at the same time.  Blocks are of one size, whatever the number of
threads, and so are the results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.objectives.kernels import PairKernel
from lambdaplus.objectives.lanes import LANES, load, madd, splat, store
from lambdaplus.objectives.sweep import CHUNK, TINY, lay_out, scratch_for, walk
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats

BLOCK = 128 * CHUNK
LONG = 4 * BLOCK  # ranks from which a list is swept by blocks: it costs half as much again


def sweep_by_blocks(
    score: Floats,
    code: Any,
    high: Floats,
    low: Floats,
    worth: Floats,
    copies: Floats,
    kernel: PairKernel,
    gradient: Floats,
    hessian: Floats,
) -> float:
    """As `lambdaplus.objectives.sweep.sweep`, on as many threads as numba is allowed."""
    edges = np.append(np.arange(0, score.size, BLOCK), score.size)
    n, shape = edges.size - 1, (worth.size, kernel.rates.shape[0], LANES)
    received = 0.0
    for down in (True, False):
        counts, gaps = np.empty((n, *shape)), np.empty((n, *shape))
        over_queries(_own_sums, edges, edges, down, score, code, high, low, worth.size, copies,
                     kernel, counts, gaps)  # fmt: skip
        _carry(edges, down, score, high, low, kernel, counts, gaps)
        sums = np.empty(n)
        over_queries(_walk_blocks, edges, edges, down, score, code, high, low, worth, copies,
                     kernel, counts, gaps, gradient, hessian, sums)  # fmt: skip
        received += float(sums.sum())
    return received


def _carry(
    edges: Any, down: bool, score: Floats, high: Floats, low: Floats, kernel: PairKernel,
    counts: Floats, gaps: Floats,
) -> None:  # fmt: skip
    """Replace each block's own sums by those at the rank before it, in this direction."""
    potentials = np.stack([low, high] if down else [high, low])  # of class 0, and of the others
    count, gap = np.zeros(counts.shape[1:]), np.zeros(counts.shape[1:])
    before = 0 if down else score.size - 1
    for block in range(edges.size - 1) if down else range(edges.size - 2, -1, -1):
        end = edges[block + 1] - 1 if down else edges[block]
        rise = np.abs(potentials[:, before] - potentials[:, end])
        rises = np.where(np.arange(len(count)) > 0, rise[1], rise[0])[:, None, None]
        decay = np.exp(-kernel.rates * abs(score[before] - score[end]))
        own_count, own_gap = counts[block].copy(), gaps[block].copy()
        counts[block], gaps[block] = count, gap
        gap = (gap + rises * count) * decay + own_gap
        count = count * decay + own_count
        before = end


@compiled(error_model="numpy")
def _own_sums(
    first: int, last: int, edges: Any, down: bool, score: Any, code: Any, high: Any, low: Any,
    classes: int, copies: Any, kernel: Any, counts: Any, gaps: Any,
) -> None:  # fmt: skip
    """E and M at the end of each of the blocks first .. last - 1, from its own documents."""
    blocks = kernel.rates.shape[0]
    scratch = scratch_for(classes, blocks)
    tiny = splat(TINY)
    bottom, others = (scratch.low, scratch.high) if down else (scratch.high, scratch.low)
    for b in range(first, last):
        for row in range(classes * blocks):
            store(splat(0.0), scratch.counts, row)
            store(splat(0.0), scratch.gaps, row)
        chunks = (edges[b + 1] - edges[b] + CHUNK - 1) // CHUNK
        for i in range(chunks):
            start = edges[b] + (i if down else chunks - 1 - i) * CHUNK
            stop = min(start + CHUNK, edges[b + 1])
            lay_out(score, high, low, start, stop, kernel, scratch)
            for k in range(stop - start):
                here = k if down else stop - start - 1 - k
                step = here if down else here + 1
                for c in range(classes):
                    gap = splat(others[step] if c > 0 else bottom[step])
                    joining = TINY
                    if c == code[start + here]:
                        joining = copies[start + here] if copies.size else 1.0
                    for block in range(blocks):
                        row = c * blocks + block
                        x, count = (
                            load(scratch.decays, step * blocks + block),
                            load(scratch.counts, row),
                        )
                        moved = madd(gap, count, load(scratch.gaps, row))
                        store(madd(moved, x, tiny), scratch.gaps, row)
                        store(madd(count, x, splat(joining)), scratch.counts, row)
        for row in range(classes * blocks):
            for lane in range(LANES):
                counts[b, row // blocks, row % blocks, lane] = scratch.counts[row, lane]
                gaps[b, row // blocks, row % blocks, lane] = scratch.gaps[row, lane]


@compiled(error_model="numpy")
def _walk_blocks(
    first: int, last: int, edges: Any, down: bool, score: Any, code: Any, high: Any, low: Any,
    worth: Any, copies: Any, kernel: Any, counts: Any, gaps: Any, gradient: Any, hessian: Any,
    sums: Any,
) -> None:  # fmt: skip
    blocks = kernel.rates.shape[0]
    scratch = scratch_for(worth.size, blocks)
    for b in range(first, last):
        for row in range(worth.size * blocks):
            for lane in range(LANES):
                scratch.counts[row, lane] = counts[b, row // blocks, row % blocks, lane]
                scratch.gaps[row, lane] = gaps[b, row // blocks, row % blocks, lane]
        sums[b] = walk(edges[b], edges[b + 1], down, score, code, high, low, worth, copies,
                       kernel, scratch, gradient, hessian)  # fmt: skip
