"""SVMcombo: several losses in one structural SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rankings_by_force import Setting
from small_data import graded, tiny

from lambdaplus.baselines import StructuralSVM, SVMCombo

COMPONENTS = [Setting("map"), Setting("mrr", "mrr"), Setting("ndcg", cutoff=2)]


@pytest.mark.parametrize("slack", ["shared", "separate"])
def test_combination_minimises_the_greatest_or_the_sum(slack: str) -> None:
    data, C = tiny(), 20.0
    model = SVMCombo(["map", "mrr", "ndcg@2"], slack=slack, C=C, tol=1e-6)
    model.fit(data.features, data.labels, data.qid)
    ends = np.cumsum(data.sizes)

    def value(w: np.ndarray) -> float:
        hinges = np.array(
            [
                [s.hinge(data.labels[a:b], data.features[a:b] @ w) for s in COMPONENTS]
                for a, b in zip(ends - data.sizes, ends, strict=True)
            ]
        )
        each = hinges.max(axis=1) if slack == "shared" else hinges.sum(axis=1)
        return float(w @ w / 2 + C * each.mean())

    assert model.primal_ == pytest.approx(value(model.coef_), rel=1e-9)
    random = np.random.default_rng(0)
    others = model.coef_ + 0.1 * random.normal(size=(50, 3))
    assert min(map(value, others)) >= model.dual_ - 1e-9


def test_combination_of_one_loss_is_that_loss() -> None:
    data = graded()
    arguments = data.features, data.labels, data.qid
    one = StructuralSVM("map", C=10.0, tol=1e-7).fit(*arguments)
    for slack in ("shared", "separate"):
        combo = SVMCombo(["map"], slack=slack, C=10.0, tol=1e-7).fit(*arguments)
        assert combo.primal_ == pytest.approx(one.primal_, rel=1e-6)


def test_each_loss_of_a_combination_has_its_c() -> None:
    data = graded()
    arguments = data.features, data.labels, data.qid
    mostly = SVMCombo(["map", "auc"], "separate", C=[10.0, 1e-9], tol=1e-7).fit(*arguments)
    one = StructuralSVM("map", C=10.0, tol=1e-7).fit(*arguments)
    assert mostly.primal_ == pytest.approx(one.primal_, rel=1e-5)
    with pytest.raises(ValueError, match="2 values of C for 1 kinds of slack"):
        SVMCombo(["map", "auc"], "shared", C=[1.0, 2.0]).fit(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slack": "both"}, "slack='both'"),
        ({"losses": []}, "non-empty list"),
        ({"losses": "map"}, "must be a non-empty list"),
        ({"feature_maps": ["po"]}, "1 feature maps for 3 losses"),
    ],
)
def test_bad_combinations_are_refused(options: dict[str, Any], message: str) -> None:
    data = graded()
    with pytest.raises(ValueError, match=message):
        SVMCombo(**options).fit(data.features, data.labels, data.qid)
