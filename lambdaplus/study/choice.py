"""Selection of parameters, and in a search also of the round, on the validation data of a fold.

Without a search, one criterion selects a model, which is evaluated with all metrics.  In a search,
each metric is evaluated on the model that it selected, unless one metric selects for all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lambdaplus.data import Fold, RankingData
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation import Evaluation, eval_metric, evaluate
from lambdaplus.metrics.weighted_sum import parts_of, value_of
from lambdaplus.study.methods import Method, Parameters
from lambdaplus.study.store import Fit
from lambdaplus.study.trials import Trial


@dataclass(frozen=True, eq=False)
class Search:
    """The trials of a method on a fold with a seed.

    Attributes
    ----------
    parameters : list of dict
        Parameters of each trial.
    values : dict of str to (n_trials,) float64
        Best validation value of each trial, by selecting metric.
    rounds : dict of str to (n_trials,) int64
        Rounds of these values.
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
    """The parameters selected on validation data for a method on a fold, and their test values.

    Attributes
    ----------
    method, fold, seed
    parameters : dict
        In a search by metric, those selected by ``by``.
    fit : Fit
    evaluation : Evaluation
        Evaluation on the test queries of the fold.
    seconds : float
        Training time of all fits.
    by : str
        Metric used for early stopping; in a search, the metric used for selection.
    valid_scores : dict of str to (n,) float64
        Scores of the validation documents of the fold, by the metric that is evaluated on them.
    search : Search or None
    curves : dict of str to (rounds, values)
        Validation curve of the fit that a metric selected.
    rows : list of tuple
        The rows of `~lambdaplus.study.results.Results.fits`.
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
    curves: Mapping[str, tuple[Any, Floats]] = field(default_factory=dict)
    rows: Sequence[tuple[Any, ...]] = ()

    def validation(self) -> Evaluation:
        """Evaluation on the validation queries of the fold, which were used for selection."""
        return _evaluation(self.fold.valid, self.valid_scores)


def first_best(values: Floats) -> int:
    """The index of the largest value, the first among equals; 0 if there is none."""
    return 0 if np.isnan(values).all() else int(np.nanargmax(values))


def choose_fit(
    method: Method,
    fold: Fold,
    seed: int,
    tried: Sequence[Parameters],
    fits: Sequence[Fit],
    chooses: Mapping[str, str],
) -> Choice:
    """Select among fits that each have one score for every document.

    Parameters
    ----------
    chooses : dict of str to str
        For each evaluated metric, the validation metric (or sum) that selects its fit.
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
        None,
        {method.criterion: (np.arange(1, fits[best].curve.size + 1), fits[best].curve)},
        [
            (method.name, fold.name, seed, number, name, values[name][number], fit.rounds,
             fit.seconds, number == place, False, json.dumps(drawn, default=str),
             "\n".join(fit.warnings))
            for number, (fit, drawn) in enumerate(zip(fits, tried, strict=True))
            for name, place in places.items()
        ],
    )  # fmt: skip


def choose_trial(
    method: Method,
    fold: Fold,
    seed: int,
    tried: Sequence[Parameters],
    fits: Sequence[Fit],
    chooses: Mapping[str, str],
) -> Choice:
    """Select among the trials of a search, like `choose_fit`."""
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
        {
            name: (trials[place].looks, trials[place].curves[name])
            for name, place in search.chosen.items()
        },
        [
            (method.name, fold.name, seed, number, name, *trials[number].best(name),
             fits[number].seconds, number == place, trials[number].pruned,
             json.dumps(tried[number], default=str), "\n".join(fits[number].warnings))
            for number in range(len(fits))
            for name, place in search.chosen.items()
        ],
    )  # fmt: skip


def main_of(method: Method, names: Sequence[str] | Mapping[str, Any]) -> str:
    """The criterion of the method if it is among the names, otherwise the first name."""
    return method.criterion if method.criterion in names else next(iter(names))


def _evaluation(part: RankingData, scores: Mapping[str, Floats]) -> Evaluation:
    """Evaluate each metric on the scores selected for it; the same scores are evaluated once."""
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
