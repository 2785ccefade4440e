"""Functions of the score distance, approximated by sums of exponentials.

A pair at distance d >= 0 has the gradient rho(d) if it is concordant and 1 - rho(d) if it is
discordant, with rho(d) = 1 / (1 + exp(sigma d)), and the Hessian rho (1 - rho) in both cases.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.engine.lanes import LANES


class Exponentials(NamedTuple):
    """Rates of decay and coefficients of sums of exponentials, (octets, LANES) each.

    Coefficients are those in the gradient of a concordant and of a discordant pair and in the
    Hessian of both, and include the factors sigma and sigma^2.
    """

    rates: Floats
    concordant: Floats
    discordant: Floats
    hessian: Floats


@lru_cache(maxsize=64)
def pair_function(sigma: float) -> Exponentials:
    """The sums of exponentials that approximate the functions of a pair.

    The sweep is within 1e-6 (gradient) and 1e-5 (Hessian) of the pair sum, relative to the largest
    value of the query.
    """
    # The fits hold for sigma = 1: with d in units of 1 / sigma, rates have the unit sigma.
    rates, concordant, discordant, hessian = fit_logistic(LOGISTIC)
    arrays = (sigma * rates, sigma * concordant, sigma * discordant, sigma * (sigma * hessian))
    return Exponentials(*(array.reshape(-1, LANES) for array in arrays))


# The rates above 1 minimise the larger of the errors of the two fits (the error of the Hessian
# divided by 10): benchmarks/rates.py finds them.
FARTHEST = 70.0  # distance up to which pairs are fitted; exp(-70) is 4e-31
LOGISTIC = np.array([0.0, 1.0, 1.99975, 3.01415, 4.25839, 4.41708, 4.90801, 5.6557])


def fit_logistic(rates: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """With x = exp(-d), fit rho = x / (1 + x) and the Hessian x / (1 + x)^2 by powers of x.

    The relative errors are 2e-7 and 3e-6.  No coefficient exceeds 32, so cancellation is small.
    Returns the rates, and coefficients of a concordant pair, a discordant one and the Hessian.
    """
    # A geometric grid, since rates differ by orders of magnitude.
    distance = np.concatenate([[0.0], np.geomspace(1e-3, FARTHEST, 400)])
    x, steep = np.exp(-distance), rates > 0
    rho = x / (1 + x)
    # Relative errors: in units of the function itself. The rate 0 is not used, since both decay.
    concordant = _minimax(rates, steep, distance, rho, rho)
    hessian = _minimax(rates, steep, distance, rho / (1 + x), rho / (1 + x))
    # 1 - rho: the rate 0 is the 1.
    discordant = -concordant
    discordant[0] = 1.0
    return rates, concordant, discordant, hessian


LAWSON = 30


def _minimax(rates: Floats, use: Bools, distance: Floats, target: Floats, unit: Floats) -> Floats:
    """Minimise the largest error in units of ``unit`` by Lawson's iteration."""
    # Lawson's iteration: least squares, in which the weight of each distance is multiplied by its
    # error, converge to the fit with the smallest largest error. Columns are scaled for the
    # condition number, and the best of all iterations is kept, since errors do not fall in each.
    columns = np.exp(-distance[:, None] * rates[use]) / unit[:, None]
    scale = np.sqrt(np.mean(columns**2, axis=0))
    scaled, aim = columns / scale, target / unit
    weight = np.full(aim.size, 1.0 / aim.size)
    best, least = np.zeros(scale.size), np.inf
    for _ in range(LAWSON):
        root = np.sqrt(weight)
        fit = np.linalg.lstsq(scaled * root[:, None], aim * root, rcond=1e-15)[0]
        error = np.abs(scaled @ fit - aim)
        if error.max() < least:
            best, least = fit / scale, error.max()
        weight *= error / error.max() + 1e-3
        weight /= weight.sum()
    coefficients = np.zeros(rates.size)
    coefficients[use] = best
    return coefficients
