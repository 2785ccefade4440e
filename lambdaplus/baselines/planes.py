"""Cutting planes of many hinges: the planes collected so far are a lower bound of each hinge."""

from __future__ import annotations

import numpy as np

from lambdaplus.data.queries import Floats, Ints

IN_USE = 1e-3  # dual variable from which a plane counts as used
PATIENCE = 3  # passes after which an unused plane is removed; many are used again sooner


class Planes:
    """Planes ``offset + slope . w`` and their dual variables, grouped by block.

    A block is one hinge.  Its first plane is 0, the plane of the correct ranking.

    Attributes
    ----------
    first : (n_blocks + 1,) int64
        Index of the first plane of each block.
    slope : (m, d) float64
    offset : (m,) float64
    alpha : (m,) float64
        Dual variables, which sum to 1 in each block.
    idle : (m,) int64
        Number of passes since a plane was last used.
    """

    def __init__(self, n_blocks: int, n_features: int) -> None:
        self.first: Ints = np.arange(n_blocks + 1)
        self.slope: Floats = np.zeros((n_blocks, n_features))
        self.offset: Floats = np.zeros(n_blocks)
        self.alpha: Floats = np.ones(n_blocks)
        self.idle: Ints = np.zeros(n_blocks, dtype=np.int64)

    @property
    def block(self) -> Ints:
        """Block of each plane, (m,)."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))

    def add(self, block: Ints, slope: Floats, offset: Floats) -> None:
        """Add planes, which may be several for the same block."""
        self._replace(
            np.concatenate([self.block, block]),
            np.concatenate([self.slope, slope]),
            np.concatenate([self.offset, offset]),
            np.concatenate([self.alpha, np.zeros(block.size)]),
            np.concatenate([self.idle, np.zeros(block.size, dtype=np.int64)]),
        )

    def evict(self) -> None:
        """Remove planes that were not used for long, and add their mean weighted by alpha.

        The mean of lower bounds is a lower bound, and the value of the dual does not change, so no
        progress is lost (aggregation, as in bundle methods).
        """
        self.idle = np.where(self.alpha >= IN_USE, 0, self.idle + 1)
        drop = self.idle > PATIENCE
        drop[self.first[:-1]] = False
        if not drop.any():
            return
        mass = np.where(drop, self.alpha, 0.0)
        total = np.add.reduceat(mass, self.first[:-1])
        mixed = np.flatnonzero(total > 0)
        share = mass / np.where(total > 0, total, 1.0)[self.block]
        slope = np.add.reduceat(share[:, None] * self.slope, self.first[:-1])
        offset = np.add.reduceat(share * self.offset, self.first[:-1])
        keep = ~drop
        self._replace(
            np.concatenate([self.block[keep], mixed]),
            np.concatenate([self.slope[keep], slope[mixed]]),
            np.concatenate([self.offset[keep], offset[mixed]]),
            np.concatenate([self.alpha[keep], total[mixed]]),
            np.concatenate([self.idle[keep], np.zeros(mixed.size, dtype=np.int64)]),
        )

    def _replace(
        self, block: Ints, slope: Floats, offset: Floats, alpha: Floats, idle: Ints
    ) -> None:
        order = np.argsort(block, kind="stable")
        self.first = np.searchsorted(block[order], np.arange(self.first.size))
        self.slope, self.offset = slope[order], offset[order]
        self.alpha, self.idle = alpha[order], idle[order]
