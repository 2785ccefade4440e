"""The paper's trials: 50 queries in balanced random splits, features as indicators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lambdaplus.baselines import ThresholdFeatures
from lambdaplus.data import RankingData
from lambdaplus.evaluation import Evaluation, evaluate
from lambdaplus.study import Fitted, Job, Method, Study
from lambdaplus.study.estimator_trainer import train_estimator

# Weights of the mean loss over queries, then of the sum of losses over documents.
STRUCTURAL_C = {"C": (0.001, 0.01, 0.1, 1.0)}
ACCURACY_C = {"C": (0.0001, 0.001, 0.01, 0.1)}
# On 50 indicators of every feature liblinear takes long where C is large.
OWN_C = {"C": (0.0001, 0.001, 0.01)}
TOLERANCE = 0.01  # of liblinear; a tenth of it changed MAP by .0005 at most on a trial of OHSUMED


def chosen_queries(data: RankingData, n: int) -> RankingData:
    """The `n` queries with most documents, of those that have relevant ones and others.

    Labels from 1 are relevant, and become 1.

    Raises
    ------
    ValueError
        If there are fewer.
    """
    relevant = (data.labels >= 1).astype(np.float64)
    starts = np.cumsum(data.group) - data.group
    of_query = np.add.reduceat(relevant, starts)
    usable = np.flatnonzero((of_query > 0) & (of_query < data.group))
    if usable.size < n:
        raise ValueError(
            f"the trials need {n} queries with relevant documents and others; "
            f"{data.name or 'the data'} has {usable.size}"
        )
    longest = usable[np.argsort(-data.group[usable], kind="stable")[:n]]
    found = RankingData(np.asarray(data.features), relevant, data.qid, data.name)
    return found.take_queries(np.sort(longest))


def systems(thresholds: int) -> list[Method]:
    """The SVMs of Tables 9 to 11."""

    def structural(name: str, loss: str) -> Method:
        fixed = {"loss": loss, "thresholds": thresholds}
        target = "lambdaplus.baselines:StructuralSVM"
        return Method(name, train_on_steps, target, "map", fixed, STRUCTURAL_C, random=False)

    def accuracy(name: str, variant: str) -> Method:
        # acc3 and acc4 make indicators of their own.
        own = variant in ("percentile", "minmax")
        fixed: dict[str, Any] = {"variant": variant, "tol": TOLERANCE}
        fixed |= {} if own else {"thresholds": thresholds}
        trainer = train_estimator if own else train_on_steps
        target = "lambdaplus.baselines:SVMAccuracy"
        grid = OWN_C if own else ACCURACY_C
        return Method(name, trainer, target, "map", fixed, grid, random=False)

    return [
        structural("SVMmap", "map"),
        structural("SVMroc", "auc"),
        accuracy("SVMacc", "plain"),
        accuracy("SVMacc2", "balanced"),
        accuracy("SVMacc3", "percentile"),
        accuracy("SVMacc4", "minmax"),
    ]


def train_on_steps(job: Job) -> Fitted:
    """Fit an estimator to indicators of each feature's being above thresholds."""
    others = dict(job.parameters)
    steps = ThresholdFeatures(others.pop("thresholds")).fit(job.train.features)

    def stepped(part: RankingData) -> RankingData:
        return replace(part, features=steps.transform(part.features))

    fitted = train_estimator(
        replace(job, parameters=others, train=stepped(job.train), valid=stepped(job.valid))
    )
    return replace(fitted, predict=lambda part: fitted.predict(stepped(part)))


def tested(study: Study, method: Method, queries: RankingData) -> Evaluation:
    """Average precision of each query, the mean over the trials that tested it."""
    values: dict[object, list[float]] = {}
    for choice in study.choices(method):
        found = choice.evaluation
        for qid, value in zip(found.qid.tolist(), found.per_query["map"], strict=True):
            values.setdefault(qid, []).append(float(value))
    like = evaluate(queries.labels, np.zeros(len(queries.labels)), qid=queries.qid, metrics="map")
    means = np.array([np.mean(values[qid]) for qid in like.qid.tolist()])
    return replace(like, per_query={"map": means}, mean={"map": float(means.mean())})


def base_functions(queries: RankingData) -> dict[int, Evaluation]:
    """Each feature as a ranking function, by its column, the best by MAP first."""
    found = {
        j: evaluate(queries.labels, column, qid=queries.qid, metrics="map")
        for j, column in enumerate(np.asarray(queries.features).T)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]["map"]))


def without(queries: RankingData, column: int) -> RankingData:
    """The set without a feature."""
    return replace(queries, features=np.delete(np.asarray(queries.features), column, axis=1))
