"""Functions of the score distance, as sums of exponentials.

A pair at distance d >= 0 has the gradient rho(d) if it is concordant and 1 - rho(d) if it is
discordant, with rho(d) = 1 / (1 + exp(sigma d)), and the Hessian rho (1 - rho) either way.  With
damping all of them are divided by damping + d, as LightGBM and XGBoost do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from lambdaplus.objectives.lanes import LANES
from lambdaplus.queries import Floats


class PairKernel(NamedTuple):
    """One pair function: exact parameters, and rates with coefficients for the sweep.

    Attributes
    ----------
    sigma, damping : float
        damping is 0 where there is none.
    rates : (blocks, LANES) float64
    gradients, hessians : (2 * blocks, LANES) float64
        Rows 2 b and 2 b + 1 go with rates[b]: coefficients for concordant and for discordant
        pairs, with the factors sigma and sigma^2 in them.
    """

    sigma: float
    damping: float
    rates: Floats
    gradients: Floats
    hessians: Floats


@lru_cache(maxsize=64)
def pair_kernel(sigma: float, damping: float) -> PairKernel:
    """The pair function for these parameters; damping 0 means none.

    The sweep is then within 2e-10 of the pair sum, relative to the largest gradient or Hessian of
    the query; with the usual damping of 0.01 within 2e-4, at score distances up to REACH / sigma.
    """
    rates, *fits = _damped(sigma * damping) if damping else _logistic()
    # The fits are in units of 1 / sigma; dividing by a distance brings one more sigma.
    concordant, discordant, hessian = (sigma * fit * (sigma if damping else 1.0) for fit in fits)
    return PairKernel(
        sigma=sigma,
        damping=damping,
        rates=(sigma * rates).reshape(-1, LANES),
        gradients=_interleave(concordant, discordant),
        hessians=_interleave(sigma * hessian, sigma * hessian),
    )


def _interleave(first: Floats, second: Floats) -> Floats:
    pairs = np.stack([first.reshape(-1, LANES), second.reshape(-1, LANES)], axis=1)
    return np.ascontiguousarray(pairs.reshape(-1, LANES))


def _logistic() -> tuple[Floats, Floats, Floats, Floats]:
    """Rates 0 .. 15: with x = exp(-d), rho = x / (1 + x) is x times a polynomial in x.

    Chebyshev interpolation on [0, 1]; relative errors 7e-12 and, for the Hessian x / (1 + x)^2,
    2e-10; no coefficient exceeds 8, so none are lost to cancellation.
    """
    terms = LANES - 1
    concordant, hessian = np.zeros(terms + 1), np.zeros(terms + 1)
    for fit, power in ((concordant, 1), (hessian, 2)):

        def over_x(x: Floats, power: int = power) -> Floats:
            return np.asarray((1 + x) ** -power)

        series = Chebyshev.interpolate(over_x, terms - 1, domain=[0, 1])
        fit[1:] = series.convert(kind=Polynomial).coef
    discordant = -concordant
    discordant[0] = 1.0
    return np.arange(terms + 1.0), concordant, discordant, hessian


CHAIN, SHIFTED = 23, 9  # rates of the damped fit: a geometric chain, and some of it behind rate 1
REACH = 1e5  # largest distance, times sigma, at which the damped fit still holds
NEAR, FLOOR = 70.0, 1e-30  # concordant pairs are fitted relative to themselves down to here


def _damped(width: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Rates and coefficients of the same functions over width + d.

    A discordant pair decays like 1 / d: a geometric chain of rates fits it.  A concordant one is
    exp(-d) times that, so to be right relative to itself it needs rates of 1 plus those.
    """
    small = min(width, 1.0)
    near = np.concatenate([[0.0], np.geomspace(0.02 * small, NEAR, 120)])
    x = np.exp(-near)
    concordant = x / (1 + x) / (width + near)
    hessian = concordant / (1 + x)
    best: tuple[float, tuple[Floats, Floats, Floats, Floats]] | None = None
    for fastest in (3.0 / small, 5.0 / small):
        chain = np.geomspace(0.45 / REACH, fastest, CHAIN)
        far = np.concatenate([[0.0], np.geomspace(0.02 * small, REACH, 120)])
        discordant = 1 / (1 + np.exp(-far)) / (width + far)
        for slowest in (0.005, 0.01, 0.02, 0.045):
            start = min(int(np.searchsorted(chain, slowest)), CHAIN - SHIFTED)
            rates = np.concatenate([chain, 1 + chain[start : start + SHIFTED]])
            steep = rates >= 1.0
            fits = [
                _minimax(rates, steep, near, concordant, np.maximum(concordant, FLOOR / width)),
                _minimax(rates, rates > 0, far, discordant, discordant),
                _minimax(rates, steep, near, hessian, np.maximum(hessian, FLOOR / width)),
            ]
            error = max(fit[1] for fit in fits)
            if best is None or error < best[0]:
                best = error, (rates, fits[0][0], fits[1][0], fits[2][0])
    assert best is not None
    return best[1]


def _minimax(
    rates: Floats, use: NDArray[np.bool_], distance: Floats, target: Floats, unit: Floats
) -> tuple[Floats, float]:
    """Coefficients with nearly the least largest error in units of unit, and that error.

    Lawson's iteration: least squares, reweighted by the error.
    """
    columns = np.exp(-distance[:, None] * rates[use]) / unit[:, None]
    scale = np.sqrt(np.mean(columns**2, axis=0))
    scaled, aim = columns / scale, target / unit
    weight = np.full(aim.size, 1.0 / aim.size)
    best, least = np.zeros(scale.size), np.inf
    for _ in range(8):
        weighted = scaled * weight[:, None]
        ridge = 1e-12 * np.eye(scale.size)
        found = np.linalg.solve(weighted.T @ scaled + ridge, weighted.T @ aim)
        error = np.abs(scaled @ found - aim)
        if error.max() < least:
            best, least = found / scale, float(error.max())
        weight *= error / error.max() + 0.02
        weight /= weight.sum()
    coefficients = np.zeros(rates.size)
    coefficients[use] = best
    return coefficients, least
