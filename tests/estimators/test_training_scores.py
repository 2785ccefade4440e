"""Scores that a training leaves are those of a prediction, which is then not made."""

from typing import Any

import lightgbm
import numpy as np
import pytest

from lambdaplus.estimators import LightGBMClassifier, lightgbm_estimators

RANDOM = np.random.default_rng(0)
X = np.where(RANDOM.random((1500, 4)) < 0.05, np.nan, RANDOM.normal(size=(1500, 4)))
Y = (np.nan_to_num(X[:, 0]) + RANDOM.normal(size=1500) > 1.5).astype(int)
WEIGHT = np.where(np.arange(1500) < 50, 0.0, RANDOM.random(1500))
STOPS = lightgbm.early_stopping(2, verbose=False)


class Nothing(lightgbm_estimators.LastScores):
    def __call__(self, state: Any) -> None:
        pass


def learnt(parameters: dict[str, Any], fit: dict[str, Any]) -> tuple[Any, ...]:
    model = LightGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1, **parameters)
    model.fit(X, Y, **fit)
    return model.offset_, getattr(model, "calibrator_", None), model.booster_.model_to_string()


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of each prediction."""
    found = []
    predict = lightgbm.Booster.predict

    def counted(self: Any, data: Any, **options: Any) -> Any:
        found.append(data.shape[0])
        return predict(self, data, **options)

    monkeypatch.setattr(lightgbm.Booster, "predict", counted)
    return found


@pytest.mark.parametrize(
    ("parameters", "fit", "predicted"),  # rows: of the other half, or of all, and the checked ones
    [
        ({}, {}, 1500),
        ({"cv": None}, {}, 0),
        ({"subsample": 0.5, "subsample_freq": 1}, {"sample_weight": WEIGHT}, 1450),
        ({"objective": "auc", "class_weight": "balanced"}, {}, 1500),
        ({}, {"init_score": RANDOM.normal(size=1500)}, 4500),
        ({"objective": "auc", "linear_tree": True}, {}, 4500),
        ({}, {"eval_set": [(X[:500] + 0.1, Y[:500])], "callbacks": [STOPS]}, 500),
    ],
    ids=["defaults", "one half", "weights of 0", "balanced", "init_score", "linear", "eval_set"],
)
def test_thresholds_and_probabilities_are_those_of_predictions(
    parameters: dict[str, Any], fit: dict[str, Any], predicted: int,
    rows: list[int], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    found = learnt(parameters, fit)
    assert sum(n for n in rows if n > 50) == predicted
    monkeypatch.setattr(lightgbm_estimators, "LastScores", Nothing)
    assert found == learnt(parameters, fit)


def test_those_of_dart_are_not_read(rows: list[int]) -> None:
    """LightGBM would drop trees; no bits are compared, since two trainings by DART may differ."""
    learnt({"boosting_type": "dart"}, {})
    assert sum(rows) == 4500
