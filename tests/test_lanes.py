"""The arithmetic of lanes against NumPy's, on whichever LLVM numba brought."""

import numpy as np
from numba import njit

from lambdaplus.engine.lanes import (
    LANES,
    add,
    apart,
    decay,
    divide,
    exponential,
    load,
    madd,
    mul,
    pick,
    splat,
    store,
    totals,
    where_less,
)


@njit
def decays(rates: np.ndarray, distance: float, out: np.ndarray) -> None:
    for row in range(len(rates)):
        store(decay(load(rates, row), distance), out, row)


def test_decays_are_exponentials_and_exactly_nought_below_1e_60() -> None:
    rates = np.linspace(0.0, 200.0, 500 * LANES).reshape(-1, LANES)
    for distance in (0.0, 0.25, 1.0, 7.3):
        found = np.full_like(rates, np.nan)
        decays(rates, distance, found)
        true = np.exp(-rates * distance)
        np.testing.assert_allclose(found, np.where(true > 1e-60, true, 0.0), rtol=1e-9, atol=0)


@njit
def exponentials(exponents: np.ndarray, out: np.ndarray) -> None:
    for i in range(0, len(exponents), LANES):
        store(exponential(load(exponents, i)), out, i)


def test_exponentials_are_precise() -> None:
    exponents = np.append(-np.geomspace(1e-9, 1e308, 100 * LANES - 1), 0.0)
    found = np.full_like(exponents, np.nan)
    exponentials(exponents, found)
    true = np.exp(exponents)
    np.testing.assert_allclose(found, np.where(true > 1e-60, true, 0.0), rtol=1e-14, atol=0)


@njit
def all_operations(rows: np.ndarray, number: float, out: np.ndarray) -> tuple[float, float]:
    x, y, z = load(rows, 0), load(rows, 1), load(rows, 2)
    store(splat(number), out, 0)
    store(mul(x, y), out, 1)
    store(madd(x, y, z), out, 2)
    store(pick(number > 0.0, x, y), out, 3)
    store(add(x, number), out, 4)
    store(divide(number, y), out, 5)
    store(apart(x, y), out, 6)
    store(where_less(x, y, z, number), out, 7)
    return totals(x, y)


def in_numpy(rows: np.ndarray, number: float, out: np.ndarray) -> tuple[float, float]:
    """What `all_operations` computes."""
    x, y, z = rows
    out[0] = number
    out[1] = x * y
    out[2] = x * y + z
    out[3] = x if number > 0.0 else y
    out[4] = x + number
    out[5] = number / y
    out[6] = np.abs(x - y)
    out[7] = np.where(x < y, z, number)
    return x.sum(), y.sum()


def test_operations_are_those_of_numpy_row_by_row() -> None:
    rows = np.random.default_rng(0).normal(size=(3, LANES))
    for number in (-2.5, 0.5):
        found, expected = np.full((2, 8, LANES), np.nan)
        sums = all_operations(rows, number, found), in_numpy(rows, number, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-16)
        np.testing.assert_allclose(*sums, rtol=1e-14)
