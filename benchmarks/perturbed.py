"""An objective that looks at noisy rankings, as YetiRank does: studies ask if that helps."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Perturbed:
    """The gradients of an objective, averaged over noisy rankings."""

    objective: Any
    scale: float
    draws: int = 4

    def __call__(self, scores: Array, data: Any) -> tuple[Array, Array]:
        # Other noise in every round, and the same in another run.
        rng = np.random.default_rng(zlib.crc32(scores.tobytes()))
        noise = rng.gumbel(scale=self.scale, size=(self.draws, scores.size))
        found = [self.objective(scores + each, data) for each in noise]
        return np.mean([g for g, _ in found], axis=0), np.mean([h for _, h in found], axis=0)
