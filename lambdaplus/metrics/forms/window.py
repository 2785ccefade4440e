"""Windows of ranks: R-precision, and the precision of predicted classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import ClassPairs, Form, MetricArrays, Part, Ranked
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.ranking.sort import Entries


class Ranks(NamedTuple):
    """The window of each class: the ranks ``opens`` to ``closes - 1``, counted from 0."""

    opens: Ints  # (s,)
    closes: Ints  # (s,)


@dataclass(frozen=True)
class Window(Form):
    """A class has its gain only within a window of ranks.

    Parameters
    ----------
    ranks : callable
        First and last rank, counted from 1, (s,) each, as a function of `LabelCounts`.  A window
        without ranks has ``last = first - 1``.  Those of the catalogue begin at rank 1; windows
        below each other, one for each class, score predicted classes (Welleck 2016, eqs. 1-3).

    Examples
    --------
    >>> from lambdaplus.metrics import Window
    >>> form = Window(lambda counts: (1.0 + 0.0 * counts.label, 1.0 + counts.label))
    >>> form.gain_follows_labels
    False
    """

    ranks: Callable[[LabelCounts], tuple[Floats, Floats]]
    gain_follows_labels = False

    def parts(self, counts: LabelCounts) -> Ranks:
        opens, closes = (counts.per_class("window", part) for part in self.ranks(counts))
        if (closes < opens - 1).any():
            at = int((closes < opens - 1).argmax())
            raise ValueError(
                f"{counts.metric}: its declaration's window ends at rank {closes[at]:g}, before it "
                f"begins at rank {opens[at]:g}"
            )
        return Ranks(np.maximum(opens - 1, 0).astype(np.int64), closes.astype(np.int64))

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        score, discount = ranked.score, metric.discount
        # upto[r] is the sum of the discounts of the first r ranks.
        upto = np.zeros(discount.size + 1)
        for r in range(discount.size):
            upto[r + 1] = upto[r] + discount[r]
        for q in range(first, last):
            base, total, start = boundaries[q], 0.0, 0
            while start < ranked.n[q]:
                stop = start + 1
                while stop < ranked.n[q] and score[base + stop] == score[base + start]:
                    stop += 1
                for r in range(start, stop):
                    x = metric.strata[q] + metric.code[ranked.row[base + r]]
                    # Over the orders of the run, a document is at each rank start ... stop - 1
                    # equally often, and has its gain at those within its window.
                    low = max(start, metric.parts.opens[x])
                    high = min(stop, metric.parts.closes[x])
                    if low < high:
                        total += metric.gain[x] * (upto[high] - upto[low]) / (stop - start)
                start = stop
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        gain, (opens, closes) = metric.gain, metric.parts
        for k in range(lists.query.size):
            q, r, to = lists.query[k], 0, lists.start[k]
            A, B = metric.strata[q] + lists.a[k], metric.strata[q] + lists.b[k]
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, x, total = entries.size[e], metric.strata[q] + entries.code[e], 0.0
                for _ in range(size):
                    # A term depends on no other document, so T_ab(r) = d_r (g_a - g_b), each gain
                    # within its window.
                    gain_a = gain[A] if opens[A] <= r < closes[A] else 0.0
                    gain_b = gain[B] if opens[B] <= r < closes[B] else 0.0
                    total += metric.discount[r] * (gain_a - gain_b)
                    r += 1
                if x in (A, B):
                    U[to] = V[to] = total / size
                    to += 1
