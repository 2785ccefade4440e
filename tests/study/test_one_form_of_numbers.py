"""XGBoost trains on bins alone, which are those of a matrix with numbers."""

from typing import Any

import numpy as np
import pytest

from lambdaplus.data import RankingData, cross_validation
from lambdaplus.study import boosters

xgb = pytest.importorskip("xgboost")


def _data(rows: int, categories: tuple[str, ...] = ()) -> RankingData:
    random = np.random.default_rng(0)
    features = random.normal(size=(rows, 4))
    features[random.random(features.shape) < 0.1] = np.nan
    features[:, 0] = random.integers(0, 5, rows)
    labels = (features[:, 0] + np.nan_to_num(features[:, 1]) > 2).astype(float)
    names = ("shop", "a", "b", "c")
    qid, weights = np.arange(rows) // 10, np.repeat(random.random(rows // 10) + 0.5, 10)
    return RankingData(features, labels, qid, "", names, weights=weights, categories=categories)


@pytest.mark.parametrize("params", [{}, {"max_bin": 8}, {"tree_method": "approx"}])
@pytest.mark.parametrize("categories", [(), ("shop",)])
@pytest.mark.parametrize("objective", ["rank:ndcg", "binary:logistic"])
def test_scores_have_the_bits_of_a_matrix_of_numbers(
    params: dict[str, Any],
    categories: tuple[str, ...],
    objective: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fold = cross_validation(_data(1000, categories))[0]

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
    training = "QuantileDMatrix" if params.get("tree_method", "hist") == "hist" else "DMatrix"
    assert kinds[:2] == [training, "DMatrix" if categories else training]
    monkeypatch.setattr(boosters, "_MAY_NEED_NUMBERS", {"tree_method"})
    kinds.clear()
    assert all(map(np.array_equal, bins, trained()))
    assert "QuantileDMatrix" not in kinds


def test_watched_scores_of_categories_that_only_validation_rows_have() -> None:
    def shops(codes: int, seed: int) -> RankingData:
        random = np.random.default_rng(seed)
        shop, number = random.integers(0, codes, 1000), random.normal(size=1000)
        labels = (shop % 5 == 0) * 1.5 + number + random.normal(size=1000) > 1
        features = np.column_stack([shop, number])
        qid = np.arange(1000) // 20
        return RankingData(features, labels, qid, "", ("shop", "a"), categories=("shop",))

    train, valid, seen = shops(20, 1), shops(40, 2), list[Any]()
    assert valid.features[:, 0].max() > train.features[:, 0].max()

    def watch(scores: Any) -> bool:
        seen.append(np.array(scores))
        return False

    params = {"learning_rate": 0.3, "max_depth": 4}
    model = boosters.fit_xgboost("rank:ndcg", params, train, valid, watch, rounds=5)
    np.testing.assert_allclose(seen[-1], model.predict(valid, 5), rtol=0, atol=1e-5)


def _fitted(**params: Any) -> Any:
    fold = cross_validation(_data(200))[0]
    return boosters.fit_xgboost(
        "binary:logistic", params, fold.train, fold.valid, lambda _: False, rounds=2
    ).predict(fold.test, 2)


def test_a_linear_model_gets_numbers() -> None:
    assert np.ptp(_fitted(booster="gblinear")) > 0


@pytest.mark.parametrize("written", ["8", np.int64(8)])
def test_the_number_of_bins_may_be_text(written: Any) -> None:
    expected = _fitted(max_bin=8)
    assert np.ptp(expected - _fitted()) > 0
    np.testing.assert_array_equal(_fitted(max_bin=written), expected)


@pytest.mark.parametrize("wrong", ["many", "8.5", 8.5, 1, True, 2**40])
def test_a_wrong_number_of_bins_is_told_in_a_line(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^max_bin must be .*$"):
        _fitted(max_bin=wrong)
