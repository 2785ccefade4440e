"""False alarms and power of tests over seeds and folds, on values as those of MQ2008.

A method has an effect of each seed on the whole model, and one on each query; two methods differ by
query as well, with any seed.  Standard deviations are those of trainings on MQ2008 (MAP), in
docs/research/mathematics/trainings.md; values of queries have tails as Student's t with 5 degrees.
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.effects import RunMeans, on_queries, over_folds

STABLE, OF_SEED_AND_QUERY, OF_SEED = 0.03, 0.085, 0.004
FOLDS, SEEDS, QUERIES, STUDIES = 5, 3, 112, 3000  # queries of a fold


@cache
def studies() -> list[list[RunMeans]]:
    """Two methods of equal mean in each study, fold by fold."""
    random = np.random.default_rng(0)

    def tailed(seeds: int) -> Floats:
        drawn: Floats = random.standard_t(5, (FOLDS, seeds, QUERIES)) / np.sqrt(5 / 3)
        return drawn

    def method() -> Floats:
        of_seed = OF_SEED * random.normal(size=(FOLDS, SEEDS, 1))
        return np.asarray(of_seed + OF_SEED_AND_QUERY * tailed(SEEDS))

    return [[*map(on_queries, method() + STABLE * tailed(1), method())] for _ in range(STUDIES)]


def found(folds: int, seeds: int, gain: float, most: int) -> Floats:
    """In which studies p < .05 if the first method is better by so much: the same draws."""
    used = [*range(seeds), *range(SEEDS, SEEDS + seeds)]
    added = np.repeat([gain, 0.0], seeds)
    effects = [
        over_folds([
            RunMeans(
                one.means[used] + added, one.covariance[np.ix_(used, used)], one.freedom,
                (seeds, seeds),
            )
            for one in study[:folds]
        ])
        for study in studies()[:most]
    ]  # fmt: skip
    means, errors, freedoms = np.array([effect[:3] for effect in effects]).T
    return np.asarray(2 * stats.t.sf(np.abs(means / errors), freedoms) < 0.05)


@pytest.mark.parametrize(("folds", "seeds", "least"), [(3, 3, 0.50), (5, 2, 0.55), (5, 3, 0.74)])
def test_equal_methods_differ_in_a_twentieth_and_a_hundredth_is_found(
    folds: int, seeds: int, least: float
) -> None:
    """A level from 3.5 to 6.5 % is not refuted at p < .01; the standard error of 3,000 is .4 %."""
    alarms = int(found(folds, seeds, 0.0, STUDIES).sum())
    assert stats.binomtest(alarms, STUDIES, 0.035, alternative="less").pvalue > 0.01
    assert stats.binomtest(alarms, STUDIES, 0.065, alternative="greater").pvalue > 0.01
    assert found(folds, seeds, 0.01, 700).mean() > least


@pytest.mark.parametrize("folds", [3, 5])
def test_no_second_seed_lowers_the_power(folds: int) -> None:
    """Nor does a third, on the same draws of the first ones."""
    for gain in (0.005, 0.01):
        power = [found(folds, seeds, gain, 500).mean() for seeds in (1, 2, 3)]
        assert power == sorted(power), (gain, power)
