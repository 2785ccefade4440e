"""Numbers that a framework cannot hold are refused before the first fit, by name."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import invoke

from lambdaplus.data import Fold, RankingData
from lambdaplus.study import Config, Study, find_methods

RANDOM = np.random.default_rng(0)
NAMES = ("price", "age")
LARGE = [np.inf, -np.inf, 1e39, -1e300]


def fold(named: bool = True) -> Fold:
    labels, qid = np.tile([0.0, 1.0], 20), np.repeat(np.arange(8), 5)
    parts = [RankingData(RANDOM.normal(size=(40, 2)), labels, qid) for _ in range(3)]
    parts = [replace(part, feature_names=NAMES if named else ()) for part in parts]
    return Fold("Fold1", *parts)


def study(of: Fold, methods: str) -> Study:
    return Study([fold(bool(of.train.feature_names)), of], find_methods(methods), ["map"], Config())


@pytest.mark.parametrize("value", LARGE)
@pytest.mark.parametrize("place", ["train", "valid", "test"])
@pytest.mark.parametrize(("named", "name"), [(True, "the feature 'age'"), (False, "feature 2")])
def test_features_are_refused_for_xgboost(place: str, value: float, named: bool, name: str) -> None:
    good = replace(fold(named), name="Fold2")
    features = getattr(good, place).features.copy()
    features[7, 1] = value
    bad = replace(good, **{place: replace(getattr(good, place), features=features)})
    with pytest.raises(ValueError, match=rf"^{name} has the value .* XGBoost takes .* clip it"):
        study(bad, "lightgbm:map,xgboost:map")
    assert len(study(bad, "lightgbm:map")) == 2


@pytest.mark.parametrize("method", ["lightgbm:map", "xgboost:map"])
def test_labels_are_refused_for_both(method: str) -> None:
    good = replace(fold(), name="Fold2")
    bad = replace(good, valid=replace(good.valid, labels=good.valid.labels * 1e300))
    with pytest.raises(ValueError, match=r"^Fold2 has the label 1e\+300, .* divide them"):
        study(bad, method)
    assert len(study(bad, "feature:best")) == 2


def test_numbers_that_they_hold_are_taken() -> None:
    good = replace(fold(), name="Fold2")
    features = good.train.features.copy()
    features[:3, 0] = np.finfo(np.float32).max, np.nan, -1e-300
    assert len(study(replace(good, train=replace(good.train, features=features)), "xgboost:map"))


def test_the_command_says_it_before_it_trains(tmp_path: Path) -> None:
    rows = [f"{i // 10},{i % 2},{'1e39' if i == 77 else i % 7}\n" for i in range(200)]
    (tmp_path / "a.csv").write_text("qid,label,price\n" + "".join(rows))
    options = ("--methods", "lightgbm:map,xgboost:map", "--jobs", 1, "--out", tmp_path / "out")
    said = invoke("compare", tmp_path / "a.csv", *options, ends=None)
    assert said.exit_code != 0
    assert "the feature 'price' has the value 1e+39, and XGBoost takes" in said.output
    assert "leave it out (--drop price)" in said.output
    assert not [*tmp_path.glob("out/**/*.npz"), *tmp_path.glob("out/fits/*")]
