"""Windows of ranks: R-precision, and the precision of predicted classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import Form
from lambdaplus.metrics.label_counts import LabelCounts


@dataclass(frozen=True)
class Window(Form):
    """A class has its gain only within a window of ranks.

    Parameters
    ----------
    ranks : callable
        First and last rank, counted from 1, (s,) each, as a function of `LabelCounts`.  A window
        without ranks has ``last = first - 1``.

    Examples
    --------
    >>> from lambdaplus.metrics import Window
    >>> form = Window(lambda counts: (1.0 + 0.0 * counts.label, 1.0 + counts.label))
    >>> form.gain_follows_labels
    False
    """

    ranks: Callable[[LabelCounts], tuple[Floats, Floats]]
    gain_follows_labels = False

    def parts(self, counts: LabelCounts) -> tuple[Any, ...]:
        opens, closes = (counts.per_class("window", part) for part in self.ranks(counts))
        if (closes < opens - 1).any():
            at = int((closes < opens - 1).argmax())
            raise ValueError(
                f"{counts.metric}: its declaration's window ends at rank {closes[at]:g}, before it "
                f"begins at rank {opens[at]:g}"
            )
        return np.maximum(opens - 1, 0).astype(np.int64), closes.astype(np.int64)

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ints, row: Rows, score: Floats,
        code: Int32s, discount: Floats, strata: Ints, gain: Floats, out: Floats, opens: Ints,
        closes: Ints,
    ) -> None:  # fmt: skip
        # upto[r] is the sum of the discounts of the first r ranks.
        upto = np.zeros(discount.size + 1)
        for r in range(discount.size):
            upto[r + 1] = upto[r] + discount[r]
        for q in range(first, last):
            base, total, start = boundaries[q], 0.0, 0
            while start < ranked[q]:
                stop = start + 1
                while stop < ranked[q] and score[base + stop] == score[base + start]:
                    stop += 1
                for r in range(start, stop):
                    x = strata[q] + code[row[base + r]]
                    # Over the orders of the run, a document is at each rank start ... stop - 1
                    # equally often, and has its gain at those within its window.
                    low, high = max(start, opens[x]), min(stop, closes[x])
                    if low < high:
                        total += gain[x] * (upto[high] - upto[low]) / (stop - start)
                start = stop
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        query: Ints, a: Ints, b: Ints, start: Ints, edges: Ints, code: Int32s, size: Ints,
        each: Floats, discount: Floats, strata: Ints, gain: Floats, own: float, above: float,
        U: Floats, V: Floats, opens: Ints, closes: Ints,
    ) -> None:  # fmt: skip
        for k in range(query.size):
            q, r, to = query[k], 0, start[k]
            of_a, of_b = strata[q] + a[k], strata[q] + b[k]
            for e in range(edges[q], edges[q + 1]):
                total = 0.0
                for _ in range(size[e]):
                    # A term depends on no other document, so T_ab(r) = d_r (g_a - g_b), each gain
                    # within its window.
                    gain_a = gain[of_a] if opens[of_a] <= r < closes[of_a] else 0.0
                    gain_b = gain[of_b] if opens[of_b] <= r < closes[of_b] else 0.0
                    total += discount[r] * (gain_a - gain_b)
                    r += 1
                if code[e] == a[k] or code[e] == b[k]:
                    U[to] = V[to] = total / size[e]
                    to += 1
