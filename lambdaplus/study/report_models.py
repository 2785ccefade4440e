"""What a report shows of single models: importance of features, curves of labels 0 and 1.

They are models of the first fold with the first seed.  Importance needs the trees, of which a study
keeps only scores, so one model is trained again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import rows_of_data
from lambdaplus.metrics import RankingMetric, parse_metric
from lambdaplus.metrics.progress import Progress
from lambdaplus.study.boosted_trainer import BoostedTrainer
from lambdaplus.study.boosters import POINTWISE
from lambdaplus.study.fits import Fit
from lambdaplus.study.plots import Plot, calibration_plot, importance_plot, precision_recall_plot
from lambdaplus.study.probabilities import log_loss
from lambdaplus.study.study import Study
from lambdaplus.study.summary import OURS, Summary
from lambdaplus.study.tasks import Task
from lambdaplus.study.validation import values_of
from lambdaplus.study.words import count, label

REPEATS = 5
MOST_FEATURES = 20
MOST_ROWS = 50_000  # that are scored again and again


@dataclass(frozen=True, eq=False)
class ShownModel:
    """The model of a method that a metric selected, on the first fold with the first seed."""

    fit: Fit
    task: Task
    metric: RankingMetric

    @classmethod
    def of(cls, study: Study, method: str, metric: str) -> ShownModel:
        fit = study.chosen(method, metric)[0]
        return cls(fit, study.task_of(fit), parse_metric(metric))

    @property
    def name(self) -> str:
        fit = self.fit
        return f"{fit.method} on {fit.fold}" + (f" with seed {fit.seed}" if fit.seed else "")


class Importance(NamedTuple):
    """Of the features with the highest gain: its share, and the drop of a metric."""

    names: list[str]
    gain: Floats  # (n,)
    drop: Floats  # (n, REPEATS) less when the values of the feature are permuted


def importance_plots(summary: Summary, study: Study | None) -> Iterator[Plot]:
    """Importance of features to the best boosted model by validation data, if there is one."""
    if study is None:
        return
    metric = study.results.main_metric
    boosted = [one.name for one in study.methods if isinstance(one.trainer, BoostedTrainer)]
    if not (best := summary.best_on_validation(metric, boosted)):
        return
    shown = ShownModel.of(study, best, metric)
    valid = shown.task.valid
    scored = some_rows(valid)
    found = importance_of(shown, scored, study.threads * study.jobs)
    if not found.names:  # no tree has a split
        return
    width, nouns = valid.n_features, study.results.nouns
    features = count(width, "feature")
    which = f"the {len(found.names)} of highest gain, of {features}"
    rows = "" if scored is valid else f" ({scored.labels.size:,} of {valid.labels.size:,} rows)"
    within = f"within each {nouns.query}" if valid.grouped else "over rows"
    yield (
        "importance",
        f"Importance of features to {shown.name} "
        f"({features if len(found.names) == width else which}). Gain: share of what the splits on "
        f"a feature gain in training. Drop: validation {label(metric)}{rows} less that with the "
        f"values of the feature permuted {within}; "
        f"bars are means of {REPEATS} permutations, dots each of them. Features with similar "
        "values share their importance."
        + (
            f" A feature that is the same in all rows of a {nouns.query} has no drop."
            * valid.grouped
        ),
        importance_plot(label(metric), *found),
    )


def importance_of(shown: ShownModel, scored: RankingData, threads: int) -> Importance:
    """Train the model again, and permute each of its most important features."""
    rounds = shown.fit.rounds
    trainer: Any = shown.task.method.trainer  # a BoostedTrainer
    task = replace(shown.task, threads=threads)
    model = trainer.model(task, rounds=rounds)
    gain = gain_of(model.booster)
    places = np.argsort(-gain, kind="stable")[:MOST_FEATURES]
    places = places[gain[places] > 0]
    predict = model.first(rounds)
    names = [*scored.feature_names] or [f"feature {j}" for j in range(1, gain.size + 1)]
    drop = drops(predict, scored, shown.metric, places)
    share = gain[places] / gain.sum()
    return Importance([names[j] for j in places], share, drop)


def gain_of(booster: Any) -> Floats:
    """What the splits on each feature gain in training, summed by the framework, (f,)."""
    if hasattr(booster, "feature_importance"):
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)
    found = booster.get_score(importance_type="total_gain")  # features have no names: f0, f1, ...
    return np.array([found.get(f"f{j}", 0.0) for j in range(booster.num_features())])


def drops(
    predict: Callable[[RankingData], Floats],
    data: RankingData,
    metric: RankingMetric,
    places: Sequence[int] | Ints,
) -> Floats:
    """How far a metric falls if values of each feature trade places in a query, (n, REPEATS)."""

    def value(features: Floats) -> float:
        scored = replace(data, features=features)
        return values_of([metric], scored, predict(scored))[metric]

    random, before = np.random.default_rng(0), value(data.features)
    of_query = np.repeat(np.arange(data.queries.n_queries), data.queries.sizes)
    drop = np.empty((len(places), REPEATS))
    for place, j in enumerate(places):
        for repeat in range(REPEATS):
            features = data.features.copy()
            # The rows of each query in random order: queries stay in their places.
            features[:, j] = features[np.lexsort((random.random(of_query.size), of_query)), j]
            drop[place, repeat] = before - value(features)
    return drop


def some_rows(data: RankingData, most_rows: int | None = None) -> RankingData:
    """The data, or random queries of it, of at most so many rows; rows without queries."""
    n = data.labels.size
    most_rows = most_rows or MOST_ROWS
    if n <= most_rows:
        return data
    random = np.random.default_rng(0)
    if not data.grouped:
        return rows_of_data(data, np.sort(random.permutation(n)[:most_rows]))
    order = random.permutation(data.n_queries)
    most = max(1, int(np.searchsorted(np.cumsum(data.group[order]), most_rows, side="right")))
    return data.take_queries(np.sort(order[:most]))


def positives_plots(summary: Summary, study: Study | None) -> Iterator[Plot]:
    """Precision and recall, and calibration, of the best methods, if labels are 0 and 1."""
    if study is None or any(
        np.unique(part.labels).tolist() != [0.0, 1.0] for part in study.folds[0].parts
    ):
        return
    metric, methods = study.results.main_metric, study.results.methods
    ours = [name for name, method in methods.items() if method.origin == OURS]
    others = [name for name in methods if name not in ours]
    sides = [summary.best_on_validation(metric, names) for names in (ours, others)]
    shown = {name: ShownModel.of(study, name, metric) for name in filter(None, sides)}
    if not shown:
        return
    test = study.folds[0].test
    scores = {name: model.fit.test for name, model in shown.items()}
    rows = f"{count(int(test.labels.sum()), 'positive')} of {count(test.labels.size, 'test row')}"
    best = f"the best of lambdaplus and of the others by validation {label(metric)}"
    of = f"{best}, on {study.folds[0].name}"
    how = (
        f"the mean over {study.results.nouns.queries} of the highest precision at each recall or "
        "above"
        if test.grouped
        else "the highest at each recall"
    )
    yield (
        "precision_recall",
        f"Precision and recall of {of}: {how} ({rows}). Dotted: precision of a random order.",
        precision_recall_plot(test, scores),
    )
    if test.weights is None:
        threads = study.threads * study.jobs
        probabilities = {name: probability(model, test, threads) for name, model in shown.items()}
        yield (
            "calibration",
            f"Calibration of {of}: share of positives in ten bins of equally many test rows "
            f"({rows}), and the number of rows by probability, in the last bar of all from there. "
            "Log-loss has probabilities of its own, here of the round of the best validation "
            "log-loss; other scores become probabilities by a logistic function that is fitted to "
            "validation rows.",
            calibration_plot(test.labels, probabilities),
        )


def probability(shown: ShownModel, test: RankingData, threads: int) -> Floats:
    """The probability that each test row is a positive, (n,)."""
    fit, valid, method = shown.fit, shown.task.valid, shown.task.method
    if method.target in POINTWISE and isinstance(method.trainer, BoostedTrainer):
        return stopped_by_log_loss(shown, test, threads)
    from lambdaplus.estimators.calibration import HeldOut, fit_calibrator  # slow to import

    held_out = HeldOut(fit.validation, valid.labels.astype(np.int64), None)
    return fit_calibrator(held_out).predict_proba(fit.test[:, None])[:, 1]


def stopped_by_log_loss(shown: ShownModel, test: RankingData, threads: int) -> Floats:
    """The probabilities of a model of log-loss, trained again up to its best log-loss, (n,).

    The round of the best average precision, for example, may be early or late.
    """
    task = replace(shown.task, threads=threads)
    config = task.config.with_defaults(grouped=task.valid.grouped)
    progress = Progress(config.patience)

    def watch(p: Floats) -> bool:  # the frameworks pass probabilities of their own objectives
        progress.add(len(progress.rounds) + 1, -log_loss(task.valid.labels, p))
        return progress.over

    trainer: Any = task.method.trainer
    scores = trainer.model(task, watch).first(progress.best_round)(test)
    return np.asarray(expit(scores), dtype=np.float64)
