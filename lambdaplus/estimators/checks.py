"""Whether there is anything to learn from training data, and to choose a round by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lambdaplus.evaluation import EvalMetric
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats
from lambdaplus.training import Documents


def values(metric: EvalMetric, documents: Documents, scores: Floats) -> list[float]:
    """Each metric's value."""
    queries = documents.queries
    found = metric(queries.labels, scores, queries.weights, documents.group)
    triples = found if isinstance(found, list) else [found]
    return [value for _, value, _ in triples]


def refuse_nothing_to_learn(objective: str | Callable[..., Any], documents: Documents) -> None:
    """Raise if no ranking is better than another, so that training would return a constant."""
    queries = documents.queries
    if isinstance(objective, Objective):
        start = np.zeros(queries.n_documents)
        try:
            gradient, _ = objective(queries.labels, start, queries.weights, documents.group)
        except ValueError as error:  # such as labels that its metric cannot take
            raise ValueError(f"objective {objective.metric}: {error}") from None
        if gradient.any():
            return
    highest = np.maximum.reduceat(queries.labels, queries.boundaries[:-1])
    if (queries.labels == np.repeat(highest, queries.sizes)).all():
        rows = "no query has two documents" if queries.grouped else "no two rows are there"
        raise ValueError(f"{rows} with different labels, so there is nothing to learn")
    if isinstance(objective, Objective):
        raise ValueError(
            f"the gradient of {objective!r} is 0 in every row: rows of positive weight are of one "
            "class, or no change of a ranking changes the metric, so there is nothing to learn"
        )


def refuse_nothing_to_choose_by(metric: EvalMetric, documents: Documents) -> None:
    """Raise if the metric that chooses the best round is the same for every ranking."""
    labels = documents.queries.labels
    if values(metric, documents, labels)[0] == values(metric, documents, -labels)[0]:
        raise ValueError(
            f"{metric.metrics[0]} is the same for the best and the worst ranking of these "
            "documents, so it can't choose the best round"
        )
