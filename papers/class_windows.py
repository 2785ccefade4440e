"""Windows of ranks below each other, one for each class: a form of metric as a user's own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics import LabelCounts
from lambdaplus.metrics.forms import Form
from lambdaplus.metrics.forms.form import MetricArrays, Ranked


class Ranks(NamedTuple):
    """The window of each class: the ranks ``opens`` to ``closes - 1``, counted from 0."""

    opens: Ints  # (s,)
    closes: Ints  # (s,)


@dataclass(frozen=True)
class ClassWindow(Form):
    """A class has its gain only within its own ranks: ``ranks`` returns the first and the last."""

    ranks: Callable[[LabelCounts], tuple[Floats, Floats]]
    gain_follows_labels = False

    def arrays(self, counts: LabelCounts) -> Ranks:
        opens, closes = (counts.per_class("window", part) for part in self.ranks(counts))
        return Ranks(opens.astype(np.int64) - 1, closes.astype(np.int64))

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """The sum of the gains of the documents within their windows, the mean over ties."""
        score, discount = ranked.score, metric.discount
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
                    low = max(start, metric.of_form.opens[x])
                    high = min(stop, metric.of_form.closes[x])
                    if low < high:
                        total += metric.gain[x] * (upto[high] - upto[low]) / (stop - start)
                start = stop
            out[q] = total

    @staticmethod
    def potentials(*_: Any) -> None:
        """A ValueError: a swap towards the order of labels may decrease the metric."""
        raise ValueError("a metric of predicted classes is no objective")
