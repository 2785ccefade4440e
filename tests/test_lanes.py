"""The exponential of the kernels against NumPy's, on whichever LLVM numba brought."""

import numpy as np
from numba import njit

from lambdaplus.objectives.lanes import LANES, decay, load, store


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
