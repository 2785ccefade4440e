"""Readers who stop: reciprocal rank and ERR."""

import math
from dataclasses import dataclass

import numpy as np

from lambdaplus.compute.arguments import check_callable
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.metrics.forms.form import ClassPairs, Form, MetricArrays, Part, Ranked
from lambdaplus.metrics.label_counts import CountsFunction, LabelCounts
from lambdaplus.ranking.sort import Entries


@compiled
def _reached(log_chance: float, certain: float) -> float:
    """h: the share of the readers after all stops above."""
    # A swap may ask for one certain stop less than none.
    return 0.0 if certain >= 1.0 else math.exp(log_chance)


@dataclass(frozen=True)
class Cascade(Form):
    """The reader stops at a document of class c with probability ``stop[c]``.

    Parameters
    ----------
    stop : callable
        Probabilities, (s,), as a function of `LabelCounts`.

    Examples
    --------
    >>> from lambdaplus.metrics import Cascade, Declaration
    >>> half = Cascade(stop=lambda counts: counts.label / 2)
    """

    stop: CountsFunction

    def __post_init__(self) -> None:
        check_callable(stop=self.stop)

    def arrays(self, counts: LabelCounts) -> Floats:
        """The probabilities to stop, (s,)."""
        return counts.per_class("stop", self.stop(counts))

    @staticmethod
    @compiled
    def values(
        first: int, last: int, boundaries: Ints, ranked: Ranked, metric: MetricArrays, out: Floats
    ) -> None:
        """Ties: the mean over their orders if all stops are certain, else their worst order."""
        score, discount, gain = ranked.score, metric.discount, metric.gain
        stop = metric.of_form
        for q in range(first, last):
            base, n, lowest = boundaries[q], ranked.n[q], metric.strata[q]
            total, log_chance, n_certain = 0.0, 0.0, 0
            # h of research/mathematics/metric-as-data.md, before the first rank of a run of ties.
            reach = 1.0
            start = 0
            while start < n and reach > 0.0:
                end = start
                # The mean over the orders of a run has a closed form if none of its documents but
                # certain stops has a gain or stops a reader.
                certain, certain_gain, closed = 0, 0.0, True
                while end < n and score[base + end] == score[base + start]:
                    x = lowest + metric.code[ranked.row[base + end]]
                    if stop[x] == 1.0:
                        certain += 1
                        certain_gain += gain[x]
                    elif stop[x] > 0.0 or gain[x] > 0.0:
                        closed = False
                    end += 1
                if not closed:
                    # Lower labels first: the order of `Queries.row_order`.
                    for r in range(start, end):
                        x = lowest + metric.code[ranked.row[base + r]]
                        total += discount[r] * gain[x] * reach
                        if stop[x] == 1.0:
                            n_certain += 1
                        else:
                            log_chance += np.log1p(-stop[x])
                        reach = _reached(log_chance, n_certain)
                elif certain > 0:
                    # Rank t of the run has a certain stop, each of them with the same
                    # probability, times the chance that there is none in the t ranks before. After
                    # the run, nobody reads on.
                    missed = reach  # chance that none of the first t of the run is a certain stop
                    for t in range(end - start):
                        others = end - start - t
                        total += missed / others * discount[start + t] * certain_gain
                        missed *= 1.0 - certain / others
                    reach = 0.0
                start = end
            out[q] = total

    @staticmethod
    @compiled
    def potentials(
        lists: ClassPairs, entries: Entries, metric: MetricArrays, part: Part, U: Floats, V: Floats
    ) -> None:
        """The chance to pass doubtful stops is a product; certain stops are counted."""
        # Counted separately, so that one of them can be removed again.
        gain, stop = metric.gain, metric.of_form
        logs, certain = np.zeros(stop.size), np.zeros(stop.size)
        for k in range(lists.query.size):
            q, r, to = lists.query[k], 0, lists.start[k]
            lowest = metric.strata[q]
            A, B = lowest + lists.a[k], lowest + lists.b[k]
            for x in range(lowest, metric.strata[q + 1]):
                logs[x] = math.log1p(-stop[x]) if stop[x] < 1.0 else 0.0
                certain[x] = 1.0 if stop[x] == 1.0 else 0.0
            log_chance = stops = 0.0
            # The change of both sums if a document of class b replaces one of class a.
            log_change, stops_change = logs[B] - logs[A], certain[B] - certain[A]
            passed_U = passed_V = 0.0
            for e in range(entries.edges[q], entries.edges[q + 1]):
                size, x = entries.size[e], lowest + entries.code[e]
                # T_ab(r) of mathematics/metric-as-data.md: the term of rank r itself, and the
                # changes of the terms above it (passed). For U = T_ab, a document of class b
                # replaces one of class a above; for V = -T_ba, one of class a replaces one of class
                # b.
                total_U = total_V = 0.0
                for done in range(size):
                    if stops - abs(stops_change) >= 1.0:
                        # Nobody reaches this rank, even after a swap.
                        total_U += (size - done) * passed_U
                        total_V += (size - done) * passed_V
                        break
                    # h at this rank: as it is, and after either replacement above it.
                    reach = _reached(log_chance, stops)
                    of_b, of_a = stops + stops_change, stops - stops_change
                    with_b = _reached(log_chance + log_change, of_b)
                    with_a = _reached(log_chance - log_change, of_a)
                    d = metric.discount[r]
                    total_U += d * (gain[A] * with_b - gain[B] * reach) + passed_U
                    total_V += d * (gain[A] * reach - gain[B] * with_a) + passed_V
                    # From the next rank on, this term is one of those above.
                    passed_U += d * gain[x] * (with_b - reach)
                    passed_V += d * gain[x] * (reach - with_a)
                    log_chance += logs[x]
                    stops += certain[x]
                    r += 1
                if x in (A, B):
                    U[to], V[to] = total_U / size, total_V / size
                    to += 1
