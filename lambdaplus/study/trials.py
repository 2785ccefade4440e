"""A trial of a random search: one training, evaluated at the best round of each metric.

The trials of a search run one after the other.  A trial is pruned if it is worse than the previous
ones by every metric, and its scores are stored if it is the best so far: the parameters and the
round that a metric selects only depend on the draws of the search.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.study.trials import Bar
>>> earlier = np.array([[0.4, 0.5, 0.6]]), np.array([50, 100, 150]), 0.1
>>> bar = Bar([earlier] * 4, rate=0.2)  # 50 rounds correspond to 100 rounds of the others
>>> bar(50, np.array([0.5])), bar(50, np.array([0.49])), bar(20, np.array([0.1]))
(False, True, False)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats, Ints
from lambdaplus.study.boosting import Boosting
from lambdaplus.study.clock import Stopwatch
from lambdaplus.study.methods import Method, Parameters, Settings
from lambdaplus.study.store import Fit, Store
from lambdaplus.study.validation import Validation

LOOKS = 200  # number of evaluations on validation queries in a training of full length
FIRST_TRIALS = 4  # number of trials that are never pruned
WARM_UP = 5.0  # learning rate times rounds before which no trial is pruned


@dataclass(frozen=True, eq=False)
class Trial:
    """The results of a trial, which are stored in a fit.

    Attributes
    ----------
    looks : (n_looks,) int64
        Rounds at which validation queries were evaluated, counted from 1.
    curves : dict of str to (n_looks,) float64
        Validation values by metric.
    valid_scores, test_scores : dict of str to (n,) float64
        Scores with the trees up to the best round of a metric, for those metrics by which the
        trial is better than all previous ones.
    pruned : bool
    """

    looks: Ints
    curves: dict[str, Floats]
    valid_scores: dict[str, Floats]
    test_scores: dict[str, Floats]
    pruned: bool

    def best(self, metric: str) -> tuple[float, int]:
        """Best value of a metric and its round; NaN and the last round if there is no value."""
        curve = self.curves[metric]
        place = -1 if np.isnan(curve).all() else int(np.nanargmax(curve))
        return float(curve[place]), int(self.looks[place])

    def arrays(self) -> dict[str, Any]:
        """The trial as arrays to store."""
        found = {"looks": self.looks, "pruned": np.array(self.pruned)}
        for kind in ("curves", "valid_scores", "test_scores"):
            found |= {f"{kind}/{name}": values for name, values in getattr(self, kind).items()}
        return found

    @classmethod
    def of(cls, fit: Fit) -> Trial:
        """The trial that is stored in a fit."""
        by_kind: dict[str, dict[str, Floats]] = {}
        for name, values in fit.more.items():
            kind, _, metric = name.partition("/")
            by_kind.setdefault(kind, {})[metric] = values
        return cls(
            fit.more["looks"],
            by_kind["curves"],
            by_kind.get("valid_scores", {}),
            by_kind.get("test_scores", {}),
            bool(fit.more["pruned"]),
        )


class Bar:
    """Decides whether to prune a trial: if it is below the median of earlier trials by all metrics.

    Trials are compared at equal learning rate times rounds, so that a small rate is not a
    disadvantage; a trial that has stopped contributes its best value.  A pruned trial is not the
    best of the search by any metric, since some earlier trial was already better.

    Parameters
    ----------
    earlier : sequence of (curves, looks, rate)
        (n_metrics, n_looks) float64, (n_looks,) int64 and float for each earlier trial.
    rate : float
        Learning rate of this trial.
    """

    def __init__(self, earlier: Sequence[tuple[Floats, Ints, float]], rate: float) -> None:
        self._rate = rate
        self._earlier = [
            (np.maximum.accumulate(np.nan_to_num(curves, nan=-np.inf), axis=1), looks * its_rate)
            for curves, looks, its_rate in earlier
        ]

    def __call__(self, rounds: int, best: Floats) -> bool:
        """Whether to stop a trial after these rounds with these best values, (n_metrics,)."""
        come = rounds * self._rate * (1 + 1e-9)
        if len(self._earlier) < FIRST_TRIALS or come < WARM_UP:
            return False
        reached = [
            values[:, max(0, int(np.searchsorted(distance, come, side="right")) - 1)]
            for values, distance in self._earlier
        ]
        medians = np.median(reached, axis=0)
        known = medians > -np.inf  # a metric may not have a value on these queries
        return bool((best < medians)[known].all())


def fit_trial(
    store: Store,
    key: str,
    method: Method,
    parameters: dict[str, Any],
    parts: list[RankingData],
    settings: Settings,
    seed: int,
    fold: str,
    metrics: Sequence[str],
    earlier: Sequence[tuple[str, Parameters]],
) -> None:
    """Train, evaluate validation queries, and store curves, and scores if it is the best so far.

    Parameters
    ----------
    earlier : sequence of (str, dict)
        Keys and parameters of the earlier trials, without those that failed.
    """
    assert isinstance(method.trainer, Boosting), "a search follows every round of its trials"
    train, valid, test = parts
    found = [(store.load(other), drawn) for other, drawn in earlier]
    before = [(Trial.of(fit), drawn) for fit, drawn in found if fit is not None]

    def rate_of(drawn: Parameters) -> float:
        return float(drawn.get("learning_rate", settings.learning_rate))

    bar = Bar(
        [
            (np.array([trial.curves[name] for name in metrics]), trial.looks, rate_of(drawn))
            for trial, drawn in before
        ],
        rate_of(parameters),
    )
    every = max(1, min(settings.rounds // LOOKS, settings.patience))
    validation = Validation(valid, metrics, settings.patience, every, bar)
    with warnings.catch_warnings(record=True) as caught, Stopwatch() as watch:
        warnings.simplefilter("always")
        predict = method.trainer.follow(method, parameters, train, settings, seed, validation)
    curves = {name: np.array(curve) for name, curve in validation.curves.items()}
    trial = Trial(np.array(validation.looks), curves, {}, {}, validation.pruned)
    for name in metrics:
        value, best_round = trial.best(name)
        # The first of equals is selected, so a trial has to be better than all earlier ones.
        if not before or value > np.nanmax([-np.inf, *(t.best(name)[0] for t, _ in before)]):
            trial.valid_scores[name] = predict(valid, best_round)
            trial.test_scores[name] = predict(test, best_round)
    nothing = np.zeros(0)
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    fit = Fit(nothing, nothing, watch.seconds, validation.looks[-1], nothing, notes, trial.arrays())
    about = {"method": method.name, "parameters": parameters, "fold": fold, "seed": seed}
    store.save(key, fit, about)
