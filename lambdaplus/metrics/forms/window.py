"""The first ranks: R-precision, and the precision in a share of the list."""

from dataclasses import dataclass

import numpy as np

from lambdaplus.compute.arguments import check_callable
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import ClassPairs, Form, MetricArrays, Part, Ranked
from lambdaplus.metrics.label_counts import CountsFunction, LabelCounts
from lambdaplus.ranking.sort import Entries


@dataclass(frozen=True)
class Window(Form):
    """A document has its gain only within the first ranks of its query.

    Parameters
    ----------
    ranks : callable
        The number of these ranks, (n_queries,), as a function of `LabelCounts`.

    Examples
    --------
    >>> from lambdaplus.metrics import Window
    >>> Window(lambda counts: counts.n_relevant).gain_follows_labels
    False
    """

    ranks: CountsFunction
    gain_follows_labels = False

    def __post_init__(self) -> None:
        check_callable(ranks=self.ranks)

    def arrays(self, counts: LabelCounts) -> Ints:
        """The number of the ranks of each query, by stratum."""
        ranks = counts.spread(counts.per_query("window", self.ranks(counts)))
        return np.asarray(ranks.astype(np.int64))

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Ties: each document is equally often at each rank of its run."""
        score, discount = ranked.score, metric.discount
        # upto[r] is the sum of the discounts of the first r ranks.
        upto = np.zeros(discount.size + 1)
        for r in range(discount.size):
            upto[r + 1] = upto[r] + discount[r]
        for q in range(first, last):
            base, total, start, closes = boundaries[q], 0.0, 0, metric.of_form[metric.strata[q]]
            while start < min(ranked.n[q], closes):
                stop = start + 1
                while stop < ranked.n[q] and score[base + stop] == score[base + start]:
                    stop += 1
                inside = upto[min(stop, closes)] - upto[start]
                for r in range(start, stop):
                    x = metric.strata[q] + metric.code[ranked.row[base + r]]
                    total += metric.gain[x] * inside / (stop - start)
                start = stop
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        """A term depends on no other document: T_ab(r) = d_r (g_a - g_b) within the window."""
        gain = metric.gain
        for k in range(lists.query.size):
            q, r, to = lists.query[k], 0, lists.start[k]
            A, B = metric.strata[q] + lists.a[k], metric.strata[q] + lists.b[k]
            closes = metric.of_form[A]
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, x, total = entries.size[e], metric.strata[q] + entries.code[e], 0.0
                for rank in range(r, min(r + size, closes)):
                    total += metric.discount[rank] * (gain[A] - gain[B])
                r += size
                if x in (A, B):
                    U[to] = V[to] = total / size
                    to += 1
