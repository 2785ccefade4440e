"""When validation data end a training, and the model of the best round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.training import Curves, LightGBM, XGBoost
from lambdaplus.training.xgboost import forget_best


@dataclass
class EarlyStopping:
    """Ends a training when one curve has not risen for some rounds.

    LightGBM's own callback looks at every evaluation set, and stops at the first that stagnates.

    Attributes
    ----------
    framework : LightGBM or XGBoost
    data, metric : str
        The curve.
    rounds : int
    """

    framework: LightGBM | XGBoost
    data: str
    metric: str
    rounds: int

    def curve(self, curves: Curves) -> list[float]:
        return curves[self.data][self.metric]

    def best(self, curves: Curves) -> int:
        """The best round, counted from 0; the first of equals."""
        return int(np.argmax(self.curve(curves)))

    def __call__(self, booster: Any, curves: Curves) -> bool:
        return len(self.curve(curves)) - 1 - self.best(curves) >= self.rounds

    def first(self, booster: Any, rounds: int) -> Any:
        """The booster with the first rounds alone, the last of which is the best."""
        return self.framework.first(booster, rounds)


class KeepingBest(EarlyStopping):
    """Keeps the model of the best round, for models that can't be cut back to it."""

    model: Any = None

    def __call__(self, booster: Any, curves: Curves) -> bool:
        if self.best(curves) == len(self.curve(curves)) - 1:
            self.model = booster.save_raw()
        return super().__call__(booster, curves)

    def first(self, booster: Any, rounds: int) -> Any:
        import lambdaplus.xgboost as xgb

        return forget_best(xgb.Booster(model_file=self.model))
