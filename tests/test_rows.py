"""The kernel of `lambdaplus.engine.rows` against its sums over all pairs, in NumPy."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lambdaplus.engine.exponentials import PairShape
from lambdaplus.engine.lists import NO_FACTORS, NONE, Lists, no_sums
from lambdaplus.engine.rows import DAMPED, DONE, PLAIN, add_few_pairs

NOTHING = 1e-120  # of pairs this far in order no gradient is left
SIZES = (1, 2, 7, 8, 9, 40, 300)


def lists_of(classes: int, spread: float, parts: str) -> Lists:
    """Lists of these sizes; the elements at their ends have weights of 0 or tied scores."""
    random, n = np.random.default_rng(classes), sum(SIZES)
    stop = np.cumsum(SIZES)
    start, zeros = stop - SIZES, np.zeros_like(stop)
    score, U, V, near = (np.empty(n) for _ in range(4))
    for a, b in zip(start, stop, strict=True):
        score[a:b] = -np.sort(-np.round(random.normal(size=b - a), 1)) * spread
        U[a:b], V[a:b] = (-np.sort(-random.random(b - a)) for _ in range(2))
        near[a:b] = np.clip(10.3 - np.arange(b - a), 0.0, 1.0)
    chances = random.dirichlet(np.full(classes, 0.5))
    code = random.choice(classes, n, p=chances).astype(np.int32)
    gain = np.append(9.0, np.sort(random.random(classes)))  # of which the first is of no list
    U, V = (U, V if classes == 2 else U) if "U" in parts else (NONE, NONE)
    return Lists(
        start, stop, zeros + 1, gain if "gain" in parts else NONE, zeros + classes, score, code,
        U, V, random.choice([0.0, 0.5, 1.0, 3.0], n), near if "near" in parts else NONE,
        np.arange(stop.size), np.empty(0, np.int64),
        random.random((classes + 1, 2)) if "factors" in parts else NO_FACTORS,
    )  # fmt: skip


def by_pairs(lists: Lists, k: int, sigma: float, damping: float) -> tuple[Any, Any, float]:
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
    if lists.near_top.size:
        near = lists.near_top[rows]
        size *= np.where(above, near[:, None], near)
    if lists.factors.size:
        size *= lists.factors[at + x, 1][:, None] * lists.factors[at + x, 0]
    distance = np.subtract.outer(s, s)
    if damping and np.ptp(s) > 0:
        size = size / (damping + np.abs(distance))
    with np.errstate(over="ignore"):
        rho, rest = (1 / (1 + np.exp(sign * sigma * distance)) for sign in (1, -1))
    pushes, bends = sigma * size * rho, sigma**2 * size * rho * rest
    gradient = pushes.sum(0) - pushes.sum(1)
    return gradient, bends.sum(0) + bends.sum(1), 2 * float(pushes.sum())


@pytest.mark.parametrize("classes", [2, 3, 40])
@pytest.mark.parametrize("parts", ["", "U", "gain", "U gain near", "factors", "gain near factors"])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e6])  # beyond 25, exponentials are of pairs
@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_sums_are_those_over_all_pairs(classes, parts, spread, damping) -> None:
    lists, shape = lists_of(classes, spread, parts), PairShape(2.0, damping)
    out = no_sums(lists.score.size, len(SIZES))
    ranges = lists.score[lists.start] - lists.score[lists.stop - 1]
    left = np.empty(len(SIZES), np.int64)
    add_few_pairs(0, len(SIZES), lists, ranges, shape, np.inf, out, left)
    assert (left == DONE).all()
    for k in range(len(SIZES)):
        rows = slice(lists.start[k], lists.stop[k])
        gradient, hessian, received = by_pairs(lists, k, *shape)
        for found, expected in ((out.gradient, gradient), (out.hessian, hessian)):
            most = 1e-12 * np.abs(expected).max() + NOTHING
            assert_allclose(found[rows], expected, rtol=0, atol=most)
        assert out.received[k] == pytest.approx(received, rel=1e-12, abs=NOTHING)


def test_lists_of_many_pairs_are_left_to_the_sweep() -> None:
    lists = lists_of(2, 1.0, "U gain")
    ranges = lists.score[lists.start] - lists.score[lists.stop - 1]
    for damping, function in ((0.0, PLAIN), (0.1, DAMPED)):
        out = no_sums(lists.score.size, len(SIZES))
        given = 2, len(SIZES), lists, ranges, PairShape(1.0, damping)
        left = np.empty(len(SIZES) - 2, np.int64)
        add_few_pairs(*given, -1.0, out, left)
        assert (left == function).all()
        assert not any(part.any() for part in out)
        few = np.empty_like(left)
        add_few_pairs(*given, 2.0, out, few)  # pairs for each element and class
        assert few[0] == DONE
        assert few[-1] == function
