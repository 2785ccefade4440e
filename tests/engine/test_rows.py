"""The kernel of `lambdaplus.engine.rows` against its sums over all pairs, in NumPy."""

from typing import Any

import numpy as np
import pytest
from brute_force import pair_sums
from numpy.testing import assert_allclose

from lambdaplus.engine.ranked_lists import NO_FACTORS, NONE, Lists, no_sums
from lambdaplus.engine.rows import add_few_pairs

NOTHING = 1e-120  # of pairs this far in order no gradient is left
SIZES = (1, 2, 7, 8, 9, 40, 300)


def lists_of(classes: int, spread: float, parts: str) -> Lists:
    """Lists of these sizes; the elements at their ends have weights of 0 or tied scores."""
    random, n = np.random.default_rng(classes), sum(SIZES)
    stop = np.cumsum(SIZES)
    start, zeros = stop - SIZES, np.zeros_like(stop)
    score, U, V = (np.empty(n) for _ in range(3))
    for a, b in zip(start, stop, strict=True):
        score[a:b] = -np.sort(-np.round(random.normal(size=b - a), 1)) * spread
        U[a:b], V[a:b] = (-np.sort(-random.random(b - a)) for _ in range(2))
    chances = random.dirichlet(np.full(classes, 0.5))
    code = random.choice(classes, n, p=chances).astype(np.int32)
    gain = np.append(9.0, np.sort(random.random(classes)))  # of which the first is of no list
    U, V = (U, V if classes == 2 else U) if "U" in parts else (NONE, NONE)
    return Lists(
        start, stop, zeros + 1, gain if "gain" in parts else NONE, zeros + classes, score, code,
        U, V, random.choice([0.0, 0.5, 1.0, 3.0], n), np.arange(stop.size), np.empty(0, np.int64),
        random.random((classes + 1, 2)) if "factors" in parts else NO_FACTORS,
    )  # fmt: skip


def by_pairs(lists: Lists, k: int, sigma: float) -> tuple[Any, Any, float]:
    """Gradient, Hessian and the sum of 2 |lambda| of one list."""
    rows = slice(lists.start[k], lists.stop[k])
    s, x, w = lists.score[rows], lists.code[rows], lists.weight[rows]
    n, at = s.size, int(lists.gain_at[k])
    size = np.outer(w, w) * (x[:, None] > x)  # the better one first
    above = np.arange(n)[:, None] < np.arange(n)
    if lists.gain.size:
        size *= np.abs(np.subtract.outer(lists.gain[at + x], lists.gain[at + x]))
    if lists.U.size:
        U, V = (np.abs(np.subtract.outer(P[rows], P[rows])) for P in (lists.U, lists.V))
        size *= np.where(above, U, V)
    if lists.factors.size:
        size *= lists.factors[at + x, 1][:, None] * lists.factors[at + x, 0]
    return pair_sums(size, s, sigma)


@pytest.mark.parametrize("classes", [2, 3, 40])
@pytest.mark.parametrize("parts", ["", "U", "gain", "U gain", "factors", "gain factors"])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e6])  # beyond 25, exponentials are of pairs
def test_sums_are_those_over_all_pairs(classes, parts, spread) -> None:
    lists, out = lists_of(classes, spread, parts), no_sums(sum(SIZES), len(SIZES))
    left = np.ones(len(SIZES), np.bool_)
    add_few_pairs(0, len(SIZES), lists, 2.0, np.inf, out, left)
    assert not left.any()
    for k in range(len(SIZES)):
        rows = slice(lists.start[k], lists.stop[k])
        gradient, hessian, received = by_pairs(lists, k, 2.0)
        for found, expected in ((out.gradient, gradient), (out.hessian, hessian)):
            most = 1e-12 * np.abs(expected).max() + NOTHING
            assert_allclose(found[rows], expected, rtol=0, atol=most)
        assert out.received[k] == pytest.approx(received, rel=1e-12, abs=NOTHING)


def test_lists_of_many_pairs_are_left_to_the_sweep() -> None:
    lists, out = lists_of(2, 1.0, "U gain"), no_sums(sum(SIZES), len(SIZES))
    left, few = np.zeros((2, len(SIZES) - 2), np.bool_)
    add_few_pairs(2, len(SIZES), lists, 1.0, -1.0, out, left)
    assert left.all()
    assert not any(part.any() for part in out)
    add_few_pairs(2, len(SIZES), lists, 1.0, 2.0, out, few)  # pairs for each element and class
    assert few[-1]
    assert not few[0]
