"""Separation oracles against the enumeration of all rankings."""

from __future__ import annotations

import numpy as np
import pytest
from rankings_by_force import Setting

from lambdaplus.baselines.oracles import Loss, make_loss, ranked
from lambdaplus.metrics import parse_metric
from lambdaplus.queries import Queries

TWO_CLASSES = [
    Setting("auc"),
    Setting("auc", pair_scale=False),
    Setting("map"),
    Setting("map", pair_scale=False),
    Setting("map", cutoff=1),
    Setting("map", cutoff=3),
    Setting("ndcg"),
    Setting("ndcg", pair_scale=False),
    Setting("ndcg", cutoff=1),
    Setting("ndcg", cutoff=2),
    Setting("ndcg", cutoff=4),
    Setting("ndcg", cutoff=9),
    Setting("mrr"),
    Setting("mrr", cutoff=2),
    Setting("mrr", cutoff=4, pair_scale=False),
    Setting("mrr", "mrr"),
    Setting("mrr", "mrr", cutoff=1),
    Setting("mrr", "mrr", cutoff=3),
    Setting("ndcg", "dorm"),
    Setting("ndcg", "dorm", cutoff=3),
    Setting("ndcg", "dorm", cutoff=3, decay="cutoff"),
    Setting("ndcg", "dorm", cutoff=3, decay=2),
    Setting("ndcg", "dorm", cutoff=2, decay=5),
]
GRADED = [setting for setting in TWO_CLASSES if setting.feature_map == "dorm"]
CASES = 1000


def loss_of(setting: Setting, labels: np.ndarray, sizes: list[int]) -> Loss:
    metric = parse_metric(setting.loss)
    metric = metric.declaration(setting.cutoff)
    return make_loss(
        metric,
        Queries(labels, group=sizes),
        feature_map=setting.feature_map,
        decay=setting.decay,
        pair_scale=setting.pair_scale,
    )


def random_queries(seed: int, top: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Labels, scores with many ties, at many scales, and sizes: mostly up to 6, some of 7."""
    random = np.random.default_rng(seed)
    sizes = random.choice([1, 2, 3, 4, 5, 6, 7], CASES, p=[0.01, 0.06, 0.1, 0.3, 0.3, 0.2, 0.03])
    labels = random.integers(0, top + 1, sizes.sum()).astype(float)
    scale = np.repeat(random.choice([0.0, 0.03, 0.3, 1.0, 5.0], CASES), sizes)
    tied = np.repeat(random.random(CASES) < 0.5, sizes)
    scores = random.normal(size=labels.size)
    return labels, scale * np.where(tied, np.round(scores), scores), sizes.tolist()


def check(setting: Setting, labels: np.ndarray, scores: np.ndarray, sizes: list[int]) -> None:
    loss = loss_of(setting, labels, sizes)
    found = loss.oracle(ranked(loss.queries, scores))
    start = np.cumsum([0, *sizes])
    values = found.loss + np.add.reduceat(found.coefficient * scores, start[:-1])
    for q, value in enumerate(values):
        mine = slice(start[q], start[q + 1])
        assert value == pytest.approx(setting.hinge(labels[mine], scores[mine]), abs=1e-12)
        if len(np.unique(labels[mine])) == 1:
            assert found.loss[q] == 0
            assert not found.coefficient[mine].any()


@pytest.mark.parametrize("setting", TWO_CLASSES, ids=str)
def test_oracle_equals_enumeration(setting: Setting) -> None:
    labels, scores, sizes = random_queries(0, top=1)
    check(setting, labels, scores, sizes)
