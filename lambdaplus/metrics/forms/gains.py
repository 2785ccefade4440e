"""Discounted sums of gains: NDCG, P@k, R-precision, and AUC as a sum of ranks."""

from dataclasses import dataclass

import numpy as np

from lambdaplus.compute.arguments import check_callable
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import ClassPairs, Form, MetricArrays, Part, Ranked
from lambdaplus.metrics.label_counts import CountsFunction, LabelCounts
from lambdaplus.ranking.sort import Entries


@dataclass(frozen=True)
class Gains(Form):
    """The term of a document is its gain; it does not depend on other documents.

    Parameters
    ----------
    ranks : callable, optional
        The number of first ranks that count, (n_queries,), as a function of `LabelCounts`: for
        metrics such as R-precision, where it is not the same in all queries.

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> parse_metric("ndcg").declaration.form
    Gains(ranks=None)
    """

    ranks: CountsFunction | None = None
    potentials_by_classes = False

    def __post_init__(self) -> None:
        if self.ranks is not None:
            check_callable(ranks=self.ranks)

    def arrays(self, counts: LabelCounts) -> Ints:
        """The number of ranks that count in the query of each stratum, (s,)."""
        if self.ranks is None:
            return np.full(counts.label.size, counts.longest)
        ranks = counts.per_query("ranks", self.ranks(counts))
        return np.asarray(counts.repeat(ranks).astype(np.int64))

    def pools(self, rank: str) -> bool:
        return self.ranks is None and rank in ("middle", "last")

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Ties: the mean discount of a run times the sum of its gains."""
        score = ranked.score
        for q in range(first, last):
            base, total, r = boundaries[q], 0.0, 0
            counted = min(ranked.n[q], metric.of_form[metric.strata[q]])
            while r < counted:
                start, weight, gains = r, 0.0, 0.0
                while r < ranked.n[q] and score[base + r] == score[base + start]:
                    weight += metric.discount[r] if r < counted else 0.0
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
            counted = metric.of_form[metric.strata[q]]
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, total = entries.size[e], 0.0
                for rank in range(np.uintp(r), np.uintp(min(r + size, counted))):
                    total += metric.discount[rank]
                r += size
                # T_ab = (g_a - g_b) d, without the factor, which is the pair weight.
                U[to] = V[to] = total / size
                to += 1
