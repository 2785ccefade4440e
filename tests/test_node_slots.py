"""The kernels of `lambdaplus.engine.node_slots` against what they compute, in NumPy."""

from typing import Any

import numpy as np
import pytest

from lambdaplus.engine import node_slots
from lambdaplus.engine.node_slots import APART, LEAST_U, MOST_U, PRODUCT, ROWS, SUM, Halves

CELLS, N = 7, 200


class Node:
    """One node: rows of two halves with gains 0 to 3, in ascending order; potentials by cell."""

    def __init__(self, spread: float) -> None:
        random = np.random.default_rng(0)
        self.gain = np.sort(random.uniform(0, 3, N))
        self.cell = random.integers(0, CELLS, N).astype(np.int32)
        self.U = -self.cell + spread * random.uniform(-0.5, 0.5, N)
        self.half = (np.arange(N) >= N // 2).astype(int)
        ends = np.array([N // 2, N])
        slot = np.array([0, CELLS, 2 * CELLS])
        self.halves = Halves(np.array([0, N // 2]), ends, slot, np.full(2, 1.5))
        self.row_slot = self.half * CELLS + self.cell
        self.given: tuple[Any, ...] = (
            np.arange(2), self.halves, self.cell, np.arange(CELLS, dtype=np.int32), self.gain,
            self.U,
        )  # fmt: skip
        self.slots = np.zeros((2 * CELLS, 6))
        self.slots[:, LEAST_U], self.slots[:, MOST_U] = np.inf, -np.inf
        node_slots.count_rows(*self.given, self.slots)


@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_slots_have_sums_over_their_rows(spread: float) -> None:
    node = Node(spread)
    apart = np.abs(node.gain - 1.5)
    for s in range(2 * CELLS):
        rows = node.row_slot == s
        U, g = node.U[rows], apart[rows]
        expected = {ROWS: rows.sum(), SUM: U.sum(), APART: g.sum(), PRODUCT: (g * U).sum()}
        expected |= {LEAST_U: U.min(), MOST_U: U.max()}
        np.testing.assert_allclose(node.slots[s, list(expected)], list(expected.values()))


@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_elements_keep_the_sums_and_give_rows_what_is_linear_in_their_potentials(
    spread: float,
) -> None:
    node = Node(spread)
    points = node_slots.elements_by_slot(node.slots)
    assert set(points) == ({2} if spread else {1})
    n = int(points.sum())
    of_slot, weight = np.zeros((2 * CELLS, 2), np.int64), np.empty((2, n))
    score, code, U = np.empty(n), np.empty(n, np.int32), np.empty(n)
    cells = np.linspace(1.0, 0.0, CELLS)
    given = node.halves.slot, node.slots, points
    elements = score, code, U, weight
    node_slots.write_elements(*given, cells, of_slot, elements)
    assert (np.diff(score) <= 0).all()
    apart = np.abs(node.gain - 1.5)
    for j in range(2):  # in list j, |gain - m| is a factor of half j
        factor = np.where(node.half == j, apart, 1.0)
        for h in range(2):
            mine, rows = code == h, node.half == h
            for power in (0, 1):
                found = (weight[j] * U**power)[mine].sum()
                assert found == pytest.approx((factor * node.U**power)[rows].sum())
    # Each element gets its weight times 2 + 3 U, or 5 - U in the Hessian; so do rows.
    values = np.zeros((2 * CELLS, 8))
    totals = weight, weight * (2 + 3 * U), weight * (5 - U)
    node_slots.values_by_slot(*given, of_slot, totals, values)
    gradient, hessian = np.zeros((2, N))
    node_slots.add_to_rows(*node.given, values, gradient, hessian)
    both = 1.0 + apart  # a row is in both lists, once with the factor
    np.testing.assert_allclose(gradient, both * (2 + 3 * node.U), rtol=1e-9)
    np.testing.assert_allclose(hessian, both * (5 - node.U), rtol=1e-9)
