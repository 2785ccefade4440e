"""The exponentials of lanes against NumPy's, on whichever LLVM numba brought."""

import numpy as np
from numba import njit

from lambdaplus.engine.lanes import LANES, decay, exponential, load, store


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
