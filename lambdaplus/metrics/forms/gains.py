"""Discounted sums of gains: NDCG, P@k, and AUC as a sum of ranks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import Form
from lambdaplus.metrics.label_counts import LabelCounts


@dataclass(frozen=True)
class Gains(Form):
    """The term of a document is its gain; it does not depend on other documents.

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> parse_metric("ndcg").declaration.form
    Gains()
    """

    potentials_by_classes = False

    def parts(self, counts: LabelCounts) -> tuple[Any, ...]:
        return ()

    def pools(self, rank: str) -> bool:
        return rank in ("middle", "last")

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ints, row: Rows, score: Floats,
        code: Int32s, discount: Floats, strata: Ints, gain: Floats, out: Floats,
    ) -> None:  # fmt: skip
        for q in range(first, last):
            base, total, r = boundaries[q], 0.0, 0
            while r < ranked[q]:
                start, weight, gains = r, 0.0, 0.0
                while r < ranked[q] and score[base + r] == score[base + start]:
                    weight += discount[r]
                    gains += gain[strata[q] + code[row[base + r]]]
                    r += 1
                # The mean over the orders of a run of ties: mean discount times the sum of gains.
                total += weight * gains / (r - start)
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        query: Ints, a: Ints, b: Ints, start: Ints, edges: Ints, code: Int32s, size: Ints,
        each: Floats, discount: Floats, strata: Ints, gain: Floats, own: float, above: float,
        U: Floats, V: Floats,
    ) -> None:  # fmt: skip
        for k in range(query.size):
            q, r, to = query[k], 0, start[k]
            for e in range(edges[q], edges[q + 1]):
                total = 0.0
                for rank in range(np.uintp(r), np.uintp(r + size[e])):
                    total += discount[rank]
                r += size[e]
                # T_ab = (g_a - g_b) d, without the factor, which is the pair weight.
                U[to] = V[to] = total / size[e]
                to += 1
