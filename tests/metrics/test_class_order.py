"""AUC and others that are linear in the rank, of long tables: by cells, as with a full sort."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

import lambdaplus as lp
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.means import mean_values
from lambdaplus.ranking.class_order import class_order

LINEAR = "auc", "mauc(over=dataset)", "gini"


def both(monkeypatch: Any, name: str, labels: Any, scores: Any, weight: Any) -> tuple[float, float]:
    found = []
    for long in (10**9, 0):
        monkeypatch.setattr(THRESHOLDS, "long_list", long)
        queries = Queries(labels, weight=weight)
        found.append(mean_values([parse_metric(name)], queries, scores)[name])
    return found[0], found[1]


@given(
    st.integers(0, 10**6), st.integers(2, 300), st.sampled_from([2, 3, 5]),
    st.sampled_from([None, 1, 3]), st.sampled_from([0, 1, 6]), st.booleans(),
)  # fmt: skip
def test_values_by_cells_are_those_of_a_sort(
    seed: int, n: int, classes: int, digits: int | None, spread: int, weighted: bool
) -> None:
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(n) % classes).astype(float)
    scores = labels * spread + random.normal(size=n)
    scores = scores if digits is None else scores.round(digits)
    weight = random.integers(0, 4, n) + 0.25 * (random.random(n) < 0.5) if weighted else None
    if weight is not None:
        weight[:2] = 1.0
    for name in LINEAR if classes > 2 else ("auc", "gini"):
        with pytest.MonkeyPatch.context() as patched:
            sort, cells = both(patched, name, labels, scores, weight)
        assert cells == pytest.approx(sort, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("digits", [1, 3, 17])
def test_auc_of_a_long_table(digits: int) -> None:
    random = np.random.default_rng(digits)
    labels = (random.random(40_000) < 0.05).astype(float)
    scores = (random.normal(size=40_000) + labels).round(digits)
    found = lp.evaluate(labels, scores, metrics=["auc"])["auc"]
    assert found == pytest.approx(roc_auc_score(labels, scores), abs=1e-13)


def test_entries_are_few_where_cells_have_one_class_or_score() -> None:
    labels = np.repeat([0, 1, 0], 20_000).astype(np.int32)
    scores = np.repeat([2.0, 2.0, 5.0], 20_000) + np.r_[np.zeros(40_000), np.arange(20_000) / 1e4]
    entries = class_order(scores, labels, 2, None)
    assert entries is not None
    assert entries.size.sum() == 60_000
    tied = entries.score == entries.score[-1]
    assert entries.size[tied].tolist() == [20_000, 20_000]
    ranks = rankdata(-scores)
    after = np.cumsum(entries.weight)
    middle = after - (entries.weight - 1) / 2
    assert middle[~tied] @ entries.weight[~tied] == pytest.approx(
        ranks[labels == 0][-20_000:].sum()
    )


def test_a_sort_of_all_rows_is_left_to_others() -> None:
    random = np.random.default_rng(0)
    labels = (random.random(50_000) < 0.5).astype(np.int32)
    assert class_order(random.normal(size=50_000), labels, 2, None) is None
