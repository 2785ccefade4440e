"""What the rounds of the chosen models say of the training, in a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lambdaplus.study.config import Config
from lambdaplus.study.fits import Fit

FIRST, SEVERAL, LAST = 20, 7.0, 0.05  # rounds; times; a part of all rounds


def rounds_in_words(chosen: Mapping[str, Sequence[Fit]], config: Config) -> Iterator[str]:
    """Sentences about boosted methods, each with the option that helps; none if all is well.

    The fits of a method are those of its folds and seeds that one metric chose.
    """
    early: dict[str, Sequence[Fit]] = {}
    if (config.rounds or np.inf) > 2 * FIRST:  # of few rounds, the best are among the first
        early = {name: fits for name, fits in chosen.items() if _median(fits) <= FIRST}
    if early:
        rate = "" if config.trials else _rates(early)
        lower = f"--rate {rate}" if rate else "add lower values of learning_rate to the grid"
        yield (
            f"The best round is among the first {FIRST} for {_named(early, _rounds)}: steps are so "
            f"large that rounds cannot be told apart. Lower the rate: {lower}."
        )
    apart = {
        name: fits
        for name, fits in chosen.items()
        if name not in early and max(by_fold := _by_fold(fits)) >= SEVERAL * min(by_fold)
    }
    if apart:
        patience, later = config.patience or 0, ""
        if 2 * patience < (config.rounds or np.inf):
            later = f"--patience {2 * patience} stops later (now {patience}), and "
        yield (
            f"Rounds differ {SEVERAL:.0f}-fold or more between folds for {_named(apart, _range)}: "
            "validation data hardly says when to stop, and a saved model takes the mean. "
            f"{later}a metric of more pairs, such as --select auc, may vary less."
        )
    rising = {
        name: [fit for fit in fits if fit.rounds > (1 - LAST) * (config.rounds or np.inf)]
        for name, fits in chosen.items()
    }
    rising = {name: fits for name, fits in rising.items() if 2 * len(fits) >= len(chosen[name])}
    if rising:
        of = {name: f"{len(fits)} of {len(chosen[name])}" for name, fits in rising.items()}
        yield (
            f"The validation curve still rises at the last of {config.rounds} rounds in "
            f"{', '.join(f'{n} trainings of {name}' for name, n in of.items())}: "
            f"--rounds {2 * (config.rounds or 0)} goes on."
        )


def _by_fold(fits: Sequence[Fit]) -> list[float]:
    """The mean rounds of each fold."""
    folds = dict.fromkeys(fit.fold for fit in fits)
    return [float(np.mean([fit.rounds for fit in fits if fit.fold == fold])) for fold in folds]


def _median(fits: Sequence[Fit]) -> float:
    return float(np.median([fit.rounds for fit in fits]))


def _named(found: Mapping[str, Sequence[Fit]], words: object) -> str:
    return ", ".join(f"{name} ({words(fits)})" for name, fits in found.items())  # type: ignore[operator]


def _rounds(fits: Sequence[Fit]) -> str:
    return ", ".join(f"{rounds:.0f}" for rounds in _by_fold(fits))


def _range(fits: Sequence[Fit]) -> str:
    by_fold = _by_fold(fits)
    return f"{min(by_fold):.0f} to {max(by_fold):.0f}"


def _rates(found: Mapping[str, Sequence[Fit]]) -> str:
    """A fifth of the lowest rate, with it; empty if rates are unknown."""
    rates = [
        float(rate)
        for fits in found.values()
        for fit in fits
        if (rate := fit.parameters.get("learning_rate", fit.parameters.get("eta")))
    ]
    return f"{min(rates) / 5:.2g} (now {min(rates):g})" if rates else ""
