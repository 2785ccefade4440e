"""Separation oracles against the enumeration of all rankings."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from rankings_by_force import Setting, permutations

from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.ranking.sort import rank

Floats = NDArray[np.float64]

CASES = 10 * settings().max_examples  # 400, or 200 of them in make test
TWO_CLASSES = [
    *(Setting(loss, pair_scale=yes) for loss in ("auc", "map", "ndcg") for yes in (True, False)),
    *(Setting("map", cutoff=k) for k in (1, 3)),
    *(Setting("ndcg", cutoff=k) for k in (1, 2, 4, 9)),
    *(Setting("ndcg(discount=letor)", cutoff=k) for k in (None, 4)),  # a discount not convex
    *(Setting("mrr", cutoff=k) for k in (None, 2)),
    Setting("mrr", cutoff=4, pair_scale=False),
    *(Setting("mrr", "mrr", cutoff=k) for k in (None, 1, 3)),
    Setting("ndcg", "dorm"),
    *(Setting("ndcg", "dorm", cutoff=3, decay=decay) for decay in ("smooth", 3, 2)),
    Setting("ndcg", "dorm", cutoff=2, decay=5),
]
GRADED = [setting for setting in TWO_CLASSES if setting.feature_map == "dorm"]


def loss_of(setting: Setting, labels: Floats, sizes: Any) -> Loss:
    chosen = {name: getattr(setting, name) for name in ("feature_map", "decay", "pair_scale")}
    return make_loss(setting.metric, Queries(labels, group=sizes), **chosen)


@cache
def random_queries(top: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Labels, scores of many scales, half of them with ties, and sizes up to 7, mostly less."""
    random = np.random.default_rng(top)
    sizes = random.choice([1, 2, 3, 4, 5, 6, 7], CASES, p=[0.01, 0.06, 0.1, 0.3, 0.32, 0.2, 0.01])
    labels = random.integers(0, top + 1, sizes.sum()).astype(float)
    scale = np.repeat(random.choice([0.0, 0.03, 0.3, 1.0, 5.0], CASES), sizes)
    tied = np.repeat(random.random(CASES) < 0.5, sizes)
    scores = random.normal(size=labels.size)
    return labels, scale * np.where(tied, np.round(scores), scores), sizes


def values(loss: Loss, scores: Floats) -> tuple[Floats, Floats]:
    """Hinge of each query, and the coefficients of its tangent plane."""
    found = loss.oracle(rank(loss.queries, scores))
    start = loss.queries.boundaries[:-1]
    return found.loss + np.add.reduceat(found.coefficient * scores, start), found.coefficient


@pytest.mark.parametrize(
    ("setting", "top"), [*((s, 1) for s in TWO_CLASSES), *((s, 3) for s in GRADED)], ids=str
)
def test_an_oracle_finds_the_plane_that_is_highest_of_all_rankings(
    setting: Setting, top: int
) -> None:
    """So that its coefficients are a subgradient, and the order of the rows makes no difference."""
    labels, scores, sizes = random_queries(top)
    loss = loss_of(setting, labels, sizes)
    hinges, coefficients = values(loss, scores)
    found = loss.oracle(rank(loss.queries, scores))
    for q, hinge in enumerate(hinges):
        mine = slice(*loss.queries.boundaries[q : q + 2])
        if len(np.unique(labels[mine])) == 1:
            assert found.loss[q] == 0
            assert not coefficients[mine].any()
            continue
        order = permutations(sizes[q])
        losses = setting.losses(labels[mine], order)
        features = setting.features(labels[mine], order)
        assert hinge == pytest.approx(np.max(losses + features @ scores[mine]), abs=1e-12)
        # The plane is that of a ranking, and never below the loss of ranking by score.
        distance = np.abs(losses - found.loss[q]) + np.abs(features - coefficients[mine]).sum(1)
        assert distance.min() < 1e-12
        by_score = np.argsort(-scores[mine], kind="stable")[None]
        assert hinge >= setting.losses(labels[mine], by_score)[0] - 1e-12


@pytest.mark.parametrize("pair_scale", [True, False])
def test_graded_auc_is_the_hinge_of_all_pairs(pair_scale: bool) -> None:
    labels, scores, sizes = random_queries(5)
    loss = loss_of(Setting("auc", pair_scale=pair_scale), labels, sizes)
    hinges, _ = values(loss, scores)
    for q, hinge in enumerate(hinges):
        mine = range(*loss.queries.boundaries[q : q + 2])
        pairs = [(a, b) for a in mine for b in mine if labels[a] > labels[b]]
        weight = 2 / len(pairs) if pair_scale and pairs else 2
        violations = [max(0.0, 1 / len(pairs) - weight * (scores[a] - scores[b])) for a, b in pairs]
        assert hinge == pytest.approx(sum(violations), abs=1e-12)


DORM = {"feature_map": "dorm"}


@pytest.mark.parametrize(
    ("loss", "options", "message"),
    [
        ("mauc", {}, "mauc is not a loss .* known: auc, map, mrr, ndcg"),
        ("ndcg", {}, r"query 0 \(from 0\) has 3 different labels: pass relevant="),
        ("map", {"feature_map": "pairs"}, "po, mrr, dorm"),
        ("map", DORM, "supports the loss ndcg, not map"),
        ("mrr", DORM, "supports the loss ndcg, not mrr"),
        ("ndcg", {"feature_map": "mrr"}, "supports the loss mrr, not ndcg"),
        ("mrr", {"feature_map": "mrr", "pair_scale": False}, "no pairs to scale"),
        ("ndcg", DORM | {"decay": 0}, "must be a whole number, at least 1, got 0"),
        ("ndcg", DORM | {"decay": 2.5}, "got 2.5"),
    ],
)
def test_what_is_refused(loss: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_loss(parse_metric(loss), Queries([0, 1, 2], group=[3]), **options)
