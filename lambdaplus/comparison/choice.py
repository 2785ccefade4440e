"""What validation data chooses for a method on a fold: parameters, and of a search the round too.

Without a search one criterion chooses, and one model is judged by all metrics.  In a search each
metric is judged on what was chosen by that metric, unless one is to choose for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lambdaplus.comparison.methods import Method, Parameters
from lambdaplus.comparison.store import Fit
from lambdaplus.comparison.trials import Trial
from lambdaplus.datasets import Fold, RankingData
from lambdaplus.evaluation import Evaluation, eval_metric, evaluate
from lambdaplus.metrics.weighted_sum import parts_of, value_of
from lambdaplus.queries import Floats


@dataclass(frozen=True, eq=False)
class Search:
    """The trials of a method on a fold with a seed.

    Attributes
    ----------
    parameters : list of dict
        Of each trial.
    values : dict of str to (n_trials,) float64
        Best validation value of each trial, by the metrics that choose.
    rounds : dict of str to (n_trials,) int64
        The rounds of these values.
    pruned : (n_trials,) bool
    """

    parameters: list[Parameters]
    values: dict[str, Floats]
    rounds: dict[str, Any]
    pruned: Any

    @cached_property
    def chosen(self) -> dict[str, int]:
        """The trial with the best validation value, by metric."""
        return {name: first_best(values) for name, values in self.values.items()}


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters that validation data chose for a method on a fold, and their test values.

    Attributes
    ----------
    method, fold, seed
    parameters : dict
        In a search by metric: those chosen by ``by``.
    fit : Fit
    evaluation : Evaluation
        On the fold's test queries.
    seconds : float
        Of all the fits that were tried.
    by : str
        The metric that training was stopped by; in a search, the metric that chose.
    valid_scores : dict of str to (n,) float64
        Of the fold's validation documents, by the metric that judges them.
    search : Search or None
    """

    method: Method
    fold: Fold
    seed: int
    parameters: Parameters
    fit: Fit
    evaluation: Evaluation
    seconds: float
    by: str
    valid_scores: Mapping[str, Floats]
    search: Search | None = None

    def validation(self) -> Evaluation:
        """On the fold's validation queries, which chose."""
        return _evaluation(self.fold.valid, self.valid_scores)


def first_best(values: Floats) -> int:
    """The place of the largest value, the first of equals; 0 if there is none."""
    return 0 if np.isnan(values).all() else int(np.nanargmax(values))


def choose_fit(
    method: Method,
    fold: Fold,
    seed: int,
    tried: Sequence[Parameters],
    fits: Sequence[Fit],
    chooses: Mapping[str, str],
) -> Choice:
    """Of fits that each scored all documents once.

    Parameters
    ----------
    chooses : dict of str to str
        By what validation metric, or sum of some, the fit is chosen that a metric judges.
    """
    values = {name: np.empty(len(fits)) for name in dict.fromkeys(chooses.values())}
    parsed = {name: eval_metric(name).metrics[0] for name in values}
    parts = list(dict.fromkeys(part for found in parsed.values() for part, _ in parts_of(found)))
    for number, fit in enumerate(fits):
        found = evaluate(fold.valid.labels, fit.valid_scores, group=fold.valid.group, metrics=parts)
        for name, metric in parsed.items():
            values[name][number] = value_of(metric, found.mean)
    places = {name: first_best(each) for name, each in values.items()}
    judged = {name: places[by] for name, by in chooses.items()}
    best = places[main_of(method, values)]
    return Choice(
        method,
        fold,
        seed,
        tried[best],
        fits[best],
        _evaluation(fold.test, {name: fits[p].test_scores for name, p in judged.items()}),
        sum(fit.seconds for fit in fits),
        method.criterion,
        {name: fits[place].valid_scores for name, place in judged.items()},
    )


def choose_trial(
    method: Method,
    fold: Fold,
    seed: int,
    tried: Sequence[Parameters],
    fits: Sequence[Fit],
    chooses: Mapping[str, str],
) -> Choice:
    """Of the trials of a search, as `choose_fit` does."""
    trials = [Trial.of(fit) for fit in fits]
    names = list(dict.fromkeys(chooses.values()))
    best = {name: [trial.best(name) for trial in trials] for name in names}
    search = Search(
        list(tried),
        {name: np.array([value for value, _ in found]) for name, found in best.items()},
        {name: np.array([rounds for _, rounds in found]) for name, found in best.items()},
        np.array([trial.pruned for trial in trials]),
    )
    judged = {name: (trials[search.chosen[by]], by) for name, by in chooses.items()}
    by = main_of(method, names)
    place = search.chosen[by]
    trial = trials[place]
    every = np.diff(trial.looks, prepend=0)
    fit = replace(
        fits[place],
        valid_scores=trial.valid_scores[by],
        test_scores=trial.test_scores[by],
        rounds=int(search.rounds[by][place]),
        curve=np.repeat(trial.curves[by], every),
    )
    return Choice(
        method,
        fold,
        seed,
        tried[place],
        fit,
        _evaluation(fold.test, {n: trial.test_scores[by] for n, (trial, by) in judged.items()}),
        sum(fit.seconds for fit in fits),
        by,
        {name: trial.valid_scores[by] for name, (trial, by) in judged.items()},
        search,
    )


def main_of(method: Method, names: Sequence[str] | Mapping[str, Any]) -> str:
    """The method's own criterion, if it is among the names; the first otherwise."""
    return method.criterion if method.criterion in names else next(iter(names))


def _evaluation(part: RankingData, scores: Mapping[str, Floats]) -> Evaluation:
    """Each metric on the scores that were chosen for it; scores that are one, once."""
    judged: dict[int, list[str]] = {}
    for metric, found in scores.items():
        judged.setdefault(id(found), []).append(metric)
    evaluations = [
        evaluate(part.labels, scores[metrics[0]], qid=part.qid, metrics=metrics)
        for metrics in judged.values()
    ]
    merged: dict[str, Any] = {}
    for kind in ("per_query", "mean", "undefined", "conventions"):
        by_metric = {name: v for one in evaluations for name, v in getattr(one, kind).items()}
        merged[kind] = {name: by_metric[name] for name in scores}
    return replace(evaluations[0], **merged)
