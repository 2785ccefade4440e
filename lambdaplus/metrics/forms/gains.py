"""Discounted sums of gains: NDCG, P@k, and AUC as a sum of ranks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import ClassPairs, Form, MetricArrays, Part, Ranked
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.ranking.sort import Entries


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

    def arrays(self, counts: LabelCounts) -> tuple[Any, ...]:
        return ()

    def pools(self, rank: str) -> bool:
        return rank in ("middle", "last")

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Ties: the mean discount of a run times the sum of its gains."""
        score = ranked.score
        for q in range(first, last):
            base, total, r = boundaries[q], 0.0, 0
            while r < ranked.n[q]:
                start, weight, gains = r, 0.0, 0.0
                while r < ranked.n[q] and score[base + r] == score[base + start]:
                    weight += metric.discount[r]
                    gains += metric.gain[metric.strata[q] + metric.code[ranked.row[base + r]]]
                    r += 1
                # The mean over the orders of a run of ties: mean discount times the sum of gains.
                total += weight * gains / (r - start)
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        """The mean discount of the documents of each entry."""
        for k in range(lists.query.size):
            q, r, to = lists.query[k], 0, lists.start[k]
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, total = entries.size[e], 0.0
                for rank in range(np.uintp(r), np.uintp(r + size)):
                    total += metric.discount[rank]
                r += size
                # T_ab = (g_a - g_b) d, without the factor, which is the pair weight.
                U[to] = V[to] = total / size
                to += 1
