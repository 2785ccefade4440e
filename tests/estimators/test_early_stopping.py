"""The round that is the best, by the metric that is promised."""

from typing import Any

import numpy as np
import pytest
from drawn_queries import by_default, kinds
from graded_estimators import (
    RANKERS,
    best_round,
    curve_of,
    every_estimator,
    halves,
    made,
    of_lightgbm,
    raw,
)
from small_data import GRADED

from lambdaplus import evaluate
from lambdaplus.estimators import (
    LightGBMClassifier,
    LightGBMRanker,
    XGBoostClassifier,
    XGBoostRanker,
)
from lambdaplus.metrics import CATALOGUE


def stopping(kind: Any, **options: Any) -> tuple[int, dict[str, list[float]]]:
    """The best round, from 0, and the curves."""
    fit, _ = halves(kind)
    options = {"n_estimators": 60, "learning_rate": 0.5, "early_stopping_rounds": 4, **options}
    model = made(kind, objective="map", **options).fit(**fit)
    return best_round(model), curve_of(model)


LOSS = {
    LightGBMRanker: "l2", LightGBMClassifier: "binary_logloss",
    XGBoostRanker: "rmse", XGBoostClassifier: "logloss",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:early stopping watches")
@pytest.mark.parametrize("metric", ["map", "mrr"])
@every_estimator
def test_early_stopping_watches_the_metric_that_is_promised(kind: Any, metric: str) -> None:
    loss = LOSS[kind]
    metric = "mauc" if kind not in RANKERS and metric == "mrr" else metric
    every = [[metric, "auc"], ["auc", metric], [metric, loss], [loss, metric]]
    for names in every:
        options = {"first_metric_only": True} if of_lightgbm(kind) else {}
        best, found = stopping(kind, eval_metric=names, **options)
        # The frameworks evaluate their own metrics first.
        ours = [name for name in names if name != loss]
        watched = (names if loss not in names else [loss])[0] if of_lightgbm(kind) else ours[-1]
        pick = np.argmin if watched == loss else np.argmax
        curve = found[watched]
        assert best == pick(curve)
        assert len(curve) in (best + 5, 60)
        assert set(found) == set(names)


@pytest.mark.filterwarnings("ignore:eval_metric='auc' is a metric")
@pytest.mark.parametrize(
    "metric", ["cindex", *(str(by_default(kind)) for kind in kinds(CATALOGUE))]
)
@every_estimator
def test_the_best_round_of_any_metric_is_the_one_with_the_best_ranking(
    kind: Any, metric: str
) -> None:
    fit, valid = halves(kind)
    X, labels, sizes = valid["X"], valid["y"], GRADED.sizes[40:]
    ranks = "qid" in valid
    options = {"one_group": True} if not ranks else {"group": sizes}

    def value(labels: Any, scores: Any) -> float:
        return float(evaluate(labels, scores, metrics=metric, **options)[metric])

    # Of times, cindex has the lowest first.
    direction = 1.0 if value(labels, labels) > value(labels, -labels) else -1.0
    assert direction == (-1.0 if metric == "cindex" else 1.0)
    for objective in ["map", metric]:
        for y in (labels, labels.max() - labels):  # a value that rises, and one that falls
            model = made(
                kind, objective=objective, eval_metric=metric, early_stopping_rounds=4,
                n_estimators=20, learning_rate=0.5,
            )  # fmt: skip
            train = {**fit, "eval_set": [(X, y)]}
            if metric == "cindex" and not (ranks and objective == metric):
                with pytest.raises(ValueError, match=r"low labels first|reads labels in a way"):
                    model.fit(**train)
                continue
            model.fit(**train)
            [curve] = curve_of(model).values()
            scores = raw(model, X)
            assert best_round(model) == np.argmax(curve)
            assert value(y, scores) == pytest.approx(max(curve), abs=1e-6)
            assert direction * np.corrcoef(scores, labels)[0, 1] > 0.1
