"""XGBoost trains on bins alone, which are those of a matrix with numbers."""

from typing import Any

import numpy as np
import pytest

from lambdaplus.data import RankingData, cross_validation
from lambdaplus.study import boosters

xgb = pytest.importorskip("xgboost")


def _data(rows: int) -> RankingData:
    random = np.random.default_rng(0)
    features = random.normal(size=(rows, 4))
    features[random.random(features.shape) < 0.1] = np.nan
    features[:, 0] = random.integers(0, 5, rows)
    labels = (features[:, 0] + np.nan_to_num(features[:, 1]) > 2).astype(float)
    names = ("shop", "a", "b", "c")
    qid, weights = np.arange(rows) // 10, np.repeat(random.random(rows // 10) + 0.5, 10)
    return RankingData(features, labels, qid, "", names, weights=weights, categories=("shop",))


@pytest.mark.parametrize("params", [{}, {"max_bin": 8}, {"tree_method": "approx"}])
@pytest.mark.parametrize("objective", ["rank:ndcg", "binary:logistic"])
def test_scores_have_the_bits_of_a_matrix_of_numbers(
    params: dict[str, Any], objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = cross_validation(_data(1000))[0]

    def trained() -> list[Any]:
        seen: list[Any] = []

        def watch(scores: Any) -> bool:
            seen.append(np.array(scores))
            return False

        model = boosters.fit_xgboost(objective, params, fold.train, fold.valid, watch, rounds=5)
        return [*seen, model.predict(fold.test, 5)]

    kinds: list[str] = []
    made = xgb.DMatrix.__init__, xgb.QuantileDMatrix.__init__
    for kind, make in zip((xgb.DMatrix, xgb.QuantileDMatrix), made, strict=True):

        def noted(self: Any, *args: Any, _make: Any = make, **given: Any) -> None:
            kinds.append(type(self).__name__)
            _make(self, *args, **given)

        monkeypatch.setattr(kind, "__init__", noted)
    bins = trained()
    expected = "QuantileDMatrix" if params.get("tree_method", "hist") == "hist" else "DMatrix"
    assert kinds[:2] == [expected] * 2
    monkeypatch.setattr(boosters, "_MAY_NEED_NUMBERS", {"tree_method"})
    kinds.clear()
    assert all(map(np.array_equal, bins, trained()))
    assert "QuantileDMatrix" not in kinds


def test_a_linear_model_gets_numbers() -> None:
    fold = cross_validation(_data(200))[0]
    numbers = [RankingData(part.features[:, 1:], part.labels, part.qid) for part in fold.parts]
    model = boosters.fit_xgboost(
        "binary:logistic", {"booster": "gblinear"}, *numbers[:2], lambda _: False, rounds=2
    )
    assert np.ptp(model.predict(numbers[2], 2)) > 0
