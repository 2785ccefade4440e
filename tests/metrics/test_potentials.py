"""Swap deltas are differences of potentials: checked by swapping, with negative controls.

Every test of a metric runs over the whole catalogue, so a new declaration is tested by being there
(and by a textbook definition in textbook_metrics.TEXTBOOK).
"""

import functools
import itertools

import numpy as np
import pytest
from brute_force import classes, swap_deltas
from drawn_queries import label_lists, metrics
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from textbook_metrics import CASCADE, DECLARED, value

from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.metrics.forms.form import ClassPairs, MetricArrays, Part
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.ranking.sort import Entries, rank

# Values are at most 1 and sums of at most 12 terms of that size, so rounding stays far below this.
ROUNDING = 1e-12

# All others; pairs of cindex are comparable or not, and weigh the same.
BY_POTENTIALS = [d for d in DECLARED if not d.form.labels]
each_declared = pytest.mark.parametrize("declaration", BY_POTENTIALS, ids=lambda d: d.name)


class Laid:
    """A ranked list in the arrays of the library, with another query of the same data set."""

    def __init__(self, metric: RankingMetric, ranked: list[float], others: list[float]) -> None:
        # Not the first query: a mix-up of a query's own arrays with the data set's would show.
        group = [len(others), len(ranked)] if others else [len(ranked)]
        queries = Queries(others + ranked, group=group)
        found: MetricArrays = metric_arrays(metric, queries)
        scores = np.concatenate([np.zeros(len(others)), -np.arange(len(ranked))])
        self.arrays = found
        self.form = metric.declaration.form
        self.code = found.code[rank(queries, scores).row[len(others) :]]
        self.query = queries.n_queries - 1
        self.strata = slice(found.strata[-2], found.strata[-1])
        self.scale = float(found.scale[-1])

    @functools.cache  # noqa: B019  (a Laid lives as long as one example)
    def potential(self, a: int, b: int, sign: float) -> NDArray[np.float64]:
        """U of classes a and b, or with sign -1 V of classes b and a."""
        pair = [np.array([c]) for c in ((a, b) if sign > 0 else (b, a))]
        zero, n, found = np.zeros(1, np.int64), len(self.code), self.arrays
        written = np.full((2, n), np.nan)
        entries = Entries(
            np.array([0, n]), np.zeros(n), self.code, np.ones(n, np.int64), np.ones(n)
        )
        of_query = found._replace(strata=found.strata[self.query :])
        lists = ClassPairs(zero, pair[0], pair[1], zero)
        self.form.potentials(lists, entries, of_query, Part(1.0, 1.0), *written)
        both = np.full((2, n), np.nan)
        gains = not self.form.potentials_by_classes
        members = np.full(n, True) if gains else np.isin(self.code, (a, b))
        both[:, members] = written[:, : members.sum()]
        if gains:  # the potentials of a gain of 1
            worth = found.gain[self.strata]
            both *= worth[pair[0]] - worth[pair[1]]
        return self.scale * both[0 if sign > 0 else 1]


def assert_potentials_give_swap_deltas(
    metric: RankingMetric, ranked: list[float], others: list[float]
) -> None:
    laid = Laid(metric, ranked, others)
    everything = others + ranked
    if np.isnan(value(metric, ranked, everything)):
        assert laid.scale == 0.0
        return
    seen = classes(metric, ranked)
    deltas = swap_deltas(metric, ranked, everything)
    for p, q in itertools.combinations(range(len(ranked)), 2):
        upper, lower = int(laid.code[p]), int(laid.code[q])
        assert np.sign(upper - lower) == np.sign(seen[p] - seen[q])
        delta = deltas[p, q]
        if seen[p] == seen[q]:
            assert abs(delta) <= ROUNDING
            continue
        if upper > lower:  # concordant
            u = laid.potential(upper, lower, 1.0)
            assert abs(-(u[p] - u[q]) - delta) <= ROUNDING
        else:
            v = laid.potential(upper, lower, -1.0)
            assert abs(v[p] - v[q] - delta) <= ROUNDING


@each_declared
@given(data=st.data())
@examples(50)
def test_differences_of_potentials_are_swap_deltas(declaration, data) -> None:
    metric = data.draw(metrics(declaration))
    ranked, others = data.draw(label_lists(12)), data.draw(label_lists(4) | st.just([]))
    assert_potentials_give_swap_deltas(metric, ranked, others)
    # They never rise with the rank, so that the size of a delta is the sum of the steps between,
    # which is what a sweep adds up.  That is asked between the first document of the upper class
    # and the last of the lower one: elsewhere no pair reads them.
    laid = Laid(metric, ranked, others)
    if not laid.form.potentials_by_classes:
        assert np.all(np.diff(laid.arrays.discount) <= 0)  # these, times the size of the worth
        return
    for upper, lower in itertools.permutations(np.unique(laid.code) if laid.scale else (), 2):
        sign = 1.0 if upper > lower else -1.0
        first = np.flatnonzero(laid.code == upper)[0]
        last = np.flatnonzero(laid.code == lower)[-1]
        read = laid.potential(upper, lower, sign)[first : last + 1]
        assert np.all(np.diff(read[~np.isnan(read)]) <= ROUNDING)


def test_squared_ndcg_has_no_potentials() -> None:
    """The negative control: differences of potentials satisfy this identity, and its deltas don't.

    U(0) - U(2) - (U(0) - U(3)) + U(1) - U(3) - (U(1) - U(2)) = 0.
    """
    ndcg, ranked = parse_metric("ndcg"), [1, 1, 0, 0]
    deltas = swap_deltas(ndcg, ranked)
    squared = (value(ndcg, ranked) + deltas) ** 2 - value(ndcg, ranked) ** 2
    for d, holds in ((deltas, True), (squared, False)):
        assert (abs(d[0, 2] - d[0, 3] + d[1, 3] - d[1, 2]) < 1e-12) == holds


@pytest.mark.parametrize("sure", [False, True])
def test_a_reader_who_may_stop_is_swapped_right(sure: bool) -> None:
    """Every order of sure, doubtful and impossible stops, which no list of a few draws covers."""
    for ranked in itertools.permutations([0, 1, 4, 4] if sure else [0, 1, 2, 3]):
        assert_potentials_give_swap_deltas(CASCADE(), list(ranked), [])
