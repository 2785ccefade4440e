"""Find the rates of the exponentials that approximate the functions of a pair's score distance.

The free rates of `lambdaplus.engine.exponentials` for which the largest relative error of the best
coefficients is smallest, by the method of Nelder and Mead, begun again until a search gains
nothing.  It begins with the rates of the library, since the error has many local minima, and prints
both.

    python benchmarks/rates.py [--steps 1000]
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from lambdaplus.engine import exponentials as ours

Floats = NDArray[np.float64]
FINE = 1_000  # distances at which errors are measured
GAIN = 0.01  # of the logarithm of the error, below which no other search is begun
FREE = ours.LOGISTIC[2:]  # above 1, of the library


def with_fixed(free: Floats) -> Floats:
    """All rates: 0 and 1, which are fixed, and the free ones."""
    return np.sort(np.concatenate([[0.0, 1.0], free]))


def worst(rates: Floats, coefficients: Floats, distance: Floats, target: Floats) -> Floats:
    """The relative error at each distance."""
    found: Floats = np.exp(-distance[:, None] * rates) @ coefficients / target - 1.0
    return np.abs(found)


def error_of(rates: Floats) -> float:
    """That of rho, or a tenth of that of the Hessian if it is larger."""
    _, concordant, _, hessian = ours.fit_logistic(rates)
    d = np.append(0.0, np.geomspace(1e-3, ours.FARTHEST, FINE))
    rho = 1.0 / (1.0 + np.exp(d))
    of_rho = worst(rates, concordant, d, rho).max()
    of_hessian = worst(rates, hessian, d, rho / (1.0 + np.exp(-d))).max()
    return float(max(of_rho, of_hessian / 10.0))


def search(steps: int) -> tuple[Floats, float]:
    """The best free rates that searches of so many steps find, and their error."""

    def objective(logarithms: Floats) -> float:
        return float(np.log(error_of(with_fixed(1.0 + np.exp(logarithms)))))

    options: dict[str, Any] = {"maxfev": steps, "xatol": 1e-5, "fatol": 1e-5, "adaptive": True}
    at = np.log(FREE - 1.0)
    error, before = objective(at), np.inf
    while error < before - GAIN:
        found = minimize(objective, at, method="Nelder-Mead", options=options)
        at, error, before = found.x, found.fun, error
    return np.sort(1.0 + np.exp(at)), float(np.exp(error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    given = parser.parse_args()
    print(f"largest error {error_of(with_fixed(FREE)):.3g}")
    found, error = search(given.steps)
    print(f"found {error:.3g} with {', '.join(f'{rate:.6g}' for rate in found)}")


if __name__ == "__main__":
    main()
