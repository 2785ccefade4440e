"""Find the rates of the exponentials that approximate the functions of a pair's score distance.

For both families of `lambdaplus.engine.exponentials`: the free rates for which the
largest relative error of the best coefficients is smallest, by the method of Nelder and Mead, begun
again until a search gains nothing.  It begins with the rates of the library, since the error has
many local minima, and prints both.

    python benchmarks/rates.py [--steps 1000]
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lambdaplus.engine import exponentials as ours

Floats = NDArray[np.float64]
FINE = 1_000  # distances at which errors are measured
GAIN = 0.01  # of the logarithm of the error, below which no other search is begun


class Family(NamedTuple):
    """Fixed rates and free ones; the search moves the logarithms of what these are above a base."""

    fixed: tuple[float, ...]
    free: Floats  # those of the library
    base: Floats
    error: Callable[[Floats], float]

    def rates(self, free: Floats) -> Floats:
        return np.sort(np.concatenate([self.fixed, free]))


def worst(rates: Floats, coefficients: Floats, distance: Floats, target: Floats) -> Floats:
    """The relative error at each distance."""
    found: Floats = np.exp(-distance[:, None] * rates) @ coefficients / target - 1.0
    return np.abs(found)


def logistic_error(rates: Floats) -> float:
    """That of rho, or a tenth of that of the Hessian if it is larger."""
    _, concordant, _, hessian = ours.fit_logistic(rates)
    d = np.append(0.0, np.geomspace(1e-3, ours.REACH_IN_ORDER, FINE))
    rho = 1.0 / (1.0 + np.exp(d))
    of_rho = worst(rates, concordant, d, rho).max()
    of_hessian = worst(rates, hessian, d, rho / (1.0 + np.exp(-d))).max()
    return float(max(of_rho, of_hessian / 10.0))


def damped_error(rates: Floats) -> float:
    """The largest of the three; concordant pairs and Hessians count less beyond FAINT."""
    width, reach = ours.FITTED_WIDTH, ours.REACH
    concordant, discordant, hessian = ours.weighted_fits(rates, width, reach)
    near = np.append(0.0, np.geomspace(0.02 * width, ours.REACH_IN_ORDER, FINE))
    wide = np.append(0.0, np.geomspace(0.02 * width, reach, FINE))
    slack = np.maximum(1.0, near / ours.FAINT) ** 2
    rho = 1.0 / (width + near) / (1.0 + np.exp(near))
    errors = (
        worst(rates, concordant, near, rho) / slack,
        worst(rates, hessian, near, rho / (1.0 + np.exp(-near))) / slack,
        worst(rates, discordant, wide, 1.0 / (width + wide) / (1.0 + np.exp(-wide))),
    )
    return float(max(each.max() for each in errors))


def families() -> dict[str, Family]:
    damped = np.concatenate([ours.SLOW[1:], 1.0 + ours.PAST_ONE])
    base = np.repeat([0.0, 1.0], [5, 10])
    return {
        "logistic": Family((0.0, 1.0), ours.LOGISTIC[2:], np.ones(6), logistic_error),
        "damped": Family((0.0,), damped, base, damped_error),
    }


def search(family: Family, steps: int) -> tuple[Floats, float]:
    """The best free rates that searches of so many steps find, and their error."""

    def objective(logarithms: Floats) -> float:
        return float(np.log(family.error(family.rates(family.base + np.exp(logarithms)))))

    options: dict[str, Any] = {"maxfev": steps, "xatol": 1e-5, "fatol": 1e-5, "adaptive": True}
    at = np.log(family.free - family.base)
    error, before = objective(at), np.inf
    while error < before - GAIN:
        found = minimize(objective, at, method="Nelder-Mead", options=options)
        at, error, before = found.x, found.fun, error
    return np.sort(family.base + np.exp(at)), float(np.exp(error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    given = parser.parse_args()
    for name, family in families().items():
        found, error = search(family, given.steps)
        print(f"{name}: largest error {family.error(family.rates(family.free)):.3g}")
        print(f"  library {np.round(family.free, 5).tolist()}")
        print(f"  found   {np.round(found, 5).tolist()}: {error:.3g}")


if __name__ == "__main__":
    main()
