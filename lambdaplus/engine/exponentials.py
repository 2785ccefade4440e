"""Functions of the score distance, approximated by sums of exponentials.

A pair at distance d >= 0 has the gradient rho(d) if it is concordant and 1 - rho(d) if it is
discordant, with rho(d) = 1 / (1 + exp(sigma d)), and the Hessian rho (1 - rho) in both cases.  With
damping, all of them are divided by damping + d.
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


class PairShape(NamedTuple):
    """The parameters of a pair function; damping 0 means none."""

    sigma: float
    damping: float = 0.0


@lru_cache(maxsize=64)
def pair_function(shape: PairShape, far: bool = False) -> Exponentials:
    """The sums of exponentials that approximate the functions of these parameters.

    Without damping, the sweep is within 1e-6 (gradient) and 1e-5 (Hessian) of the pair sum,
    relative to the largest value of the query.  With damping, the relative error of a pair is at
    most 3e-3, with two exceptions: it is at most a tenth for concordant pairs beyond FAINT / sigma;
    and discordant pairs beyond REACH / sigma, or FAR / sigma with ``far``, have at least a third of
    the weight at that distance.
    """
    sigma, damping = shape
    # The fits hold for sigma = 1: with d in units of 1 / sigma, rates have the unit sigma. A
    # division by the distance adds a factor sigma.
    rates, *unscaled = _damped(sigma * damping, far) if damping else fit_logistic(LOGISTIC)
    factor = sigma * (sigma if damping else 1.0)
    concordant, discordant, hessian = (factor * fit for fit in unscaled)
    arrays = (sigma * rates, concordant, discordant, sigma * hessian)
    return Exponentials(*(array.reshape(-1, LANES) for array in arrays))


RatesAndFits = tuple[Floats, Floats, Floats, Floats]
"""Rates, and coefficients of the concordant function, the discordant one and the Hessian."""


# The rates above 1 minimise the larger of the errors of the two fits (the error of the Hessian
# divided by 10): benchmarks/rates.py finds them, and those below.
LOGISTIC = np.array([0.0, 1.0, 1.99975, 3.01415, 4.25839, 4.41708, 4.90801, 5.6557])


def fit_logistic(rates: Floats) -> RatesAndFits:
    """With x = exp(-d), fit rho = x / (1 + x) and the Hessian x / (1 + x)^2 by powers of x.

    The relative errors are 2e-7 and 3e-6.  No coefficient exceeds 32, so cancellation is small.
    """
    # A geometric grid, since rates differ by orders of magnitude; exp(-REACH_IN_ORDER) is 4e-31.
    distance = np.concatenate([[0.0], np.geomspace(1e-3, REACH_IN_ORDER, 400)])
    x, steep = np.exp(-distance), rates > 0
    rho = x / (1 + x)
    # Relative errors: in units of the function itself. The rate 0 is not used, since both decay.
    concordant = _minimax(rates, steep, distance, rho, rho)
    hessian = _minimax(rates, steep, distance, rho / (1 + x), rho / (1 + x))
    # 1 - rho: the rate 0 is the 1.
    discordant = -concordant
    discordant[0] = 1.0
    return rates, concordant, discordant, hessian


REACH, FAR = 1e3, 1e7  # largest distances, times sigma, at which the damped fits hold
REACH_IN_ORDER, FAINT = 70.0, 10.0  # concordant pairs (weight exp(-d)) are less exact beyond FAINT

# Optimised like LOGISTIC, for a width of 0.01.  The function of a discordant pair decays like 1/d,
# which a nearly geometric series of rates fits; with the rate 0, pairs beyond REACH have a weight
# above 0.  The function of a concordant pair is exp(-d) times that: rates of 1 plus another series.
SLOW = np.array([0.0, 0.00155, 0.00696, 0.02277, 0.07129, 0.22376])
PAST_ONE = np.array(
    [0.02182, 0.14986, 0.53817, 0.69218, 1.93752, 3.51481, 9.61177, 28.4094, 84.57517, 256.47677]
)
FITTED_WIDTH = 0.01


def _damped(width: float, far: bool) -> RatesAndFits:
    """Rates and coefficients of the same functions divided by width + d."""
    slow, reach = SLOW, REACH
    if far:  # the same series four powers of ten lower, and a geometric series up to its last rate
        shift = REACH / FAR
        slow = np.concatenate([SLOW * shift, SLOW[-1] * shift ** (np.arange(7, -1, -1) / 8)])
        reach = FAR
    rates = np.concatenate([slow, _past_one(width)])
    return (rates, *weighted_fits(rates, width, reach))


def _past_one(width: float) -> Floats:
    """Rates above 1 for a width, from those less 1 that were fitted to another."""
    small = min(width, 1.0)
    # The largest rates are proportional to 1 / width, the smallest are fixed, and those in between
    # are stretched.  A smaller width than the fitted one needs more rates.
    chain = np.log(PAST_ONE)
    if small < 0.8 * FITTED_WIDTH:
        # Two more octets of rates, between those of the fit, at equal steps in the logarithm.
        places = np.linspace(0, chain.size - 1, chain.size + 2 * LANES)
        chain = np.interp(places, np.arange(chain.size), chain)
    # Rates of 1 / small resolve the peak of 1 / (width + d) at d = 0. From the fitted width to this
    # one they are multiplied by a power of the ratio that rises from 0 for the smallest rate to 1
    # for the largest.
    stretch = (chain - chain[0]) / (chain[-1] - chain[0])
    return np.asarray(1 + np.exp(chain + stretch * np.log(FITTED_WIDTH / small)))


def weighted_fits(rates: Floats, width: float, reach: float) -> tuple[Floats, Floats, Floats]:
    """Coefficients of the functions divided by width + d."""
    small = min(width, 1.0)
    # Concordant pairs and Hessians fall at least like exp(-d), which rates below 1 cannot follow.
    steep = rates >= 1.0
    near = np.concatenate([[0.0], np.geomspace(0.02 * small, REACH_IN_ORDER, 160)])
    x = np.exp(-near)
    concordant = x / (1 + x) * (1.0 / (width + near))
    hessian = concordant / (1 + x)
    # What the docstring of pair_function says of concordant pairs beyond FAINT: their weight is
    # below exp(-10), so their errors count less.
    slack = np.maximum(1.0, near / FAINT) ** 2
    wide = np.geomspace(0.02 * small, reach, 240 if reach == FAR else 160)
    wide = np.concatenate([[0.0], wide])
    discordant = 1 / (1 + np.exp(-wide)) * (1.0 / (width + wide))
    return (
        _minimax(rates, steep, near, concordant, slack * concordant),
        _minimax(rates, rates >= 0.0, wide, discordant, discordant),
        _minimax(rates, steep, near, hessian, slack * hessian),
    )


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
