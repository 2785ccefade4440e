"""Discounted sums of gains: NDCG, P@k, and AUC as a sum of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.declared_arrays import LabelCounts
from lambdaplus.metrics.forms.form import Form


@dataclass(frozen=True)
class Gains(Form):
    """The term of a document is its gain; it does not depend on other documents."""

    potentials_by_classes = False

    def parts(self, counts: LabelCounts) -> tuple[Any, ...]:
        return ()

    def pools(self, rank: str) -> bool:
        return rank in ("middle", "last")

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Any, ranked: Any, row: Any, score: Any, relevance: Any,
        discount: Any, strata: Any, gain: Any, out: Any,
    ) -> None:  # fmt: skip
        for q in range(first, last):
            base, total, r = boundaries[q], 0.0, 0
            while r < ranked[q]:
                start, weight, gains = r, 0.0, 0.0
                while r < ranked[q] and score[base + r] == score[base + start]:
                    weight += discount[r]
                    gains += gain[strata[q] + relevance[row[base + r]]]
                    r += 1
                total += weight * gains / (r - start)
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        query: Any, a: Any, b: Any, start: Any, edges: Any, relevance: Any, size: Any, each: Any,
        discount: Any, strata: Any, gain: Any, own: float, above: float, U: Any, V: Any,
    ) -> None:  # fmt: skip
        for k in range(query.size):
            q, r, to = query[k], 0, start[k]
            for e in range(edges[q], edges[q + 1]):
                total = 0.0
                for rank in range(np.uintp(r), np.uintp(r + size[e])):
                    total += discount[rank]
                r += size[e]
                U[to] = V[to] = total / size[e]
                to += 1
