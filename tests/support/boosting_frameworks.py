"""LightGBM and XGBoost behind one interface, on one thread, for the tests of both.

Threads of LightGBM spin while they wait, and the data of these tests are small.
"""

import importlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from small_data import Small

KEEP: Any = object()


@dataclass
class Trained:
    """A booster, and the value of each metric on each evaluation set after each round."""

    booster: Any
    curves: dict[str, Any] = field(default_factory=dict)

    def scores(self, data: Small, rounds: int = 0) -> Any:
        if type(self.booster).__module__.startswith("lightgbm"):
            return self.booster.predict(data.features, num_iteration=rounds or None)
        matrix = XGBoost.module.DMatrix(data.features)
        return self.booster.predict(matrix, iteration_range=(0, rounds), output_margin=True)


class LightGBM:
    """LightGBM 4, or 3 in an environment of its own."""

    name = "lightgbm"
    module: Any = None
    own: Any = None
    quiet: ClassVar[dict[str, Any]] = {"verbosity": -1, "num_threads": 1}
    one_step: ClassVar[dict[str, Any]] = {
        "learning_rate": 1.0,
        "num_leaves": 2,
        "min_data_in_leaf": 1,
    }
    native = "lambdarank"
    row_weights = True

    def data(
        self, data: Small, *, label: Any = None, sizes: Any = KEEP, weight: Any = None,
        start: Any = None,
    ) -> Any:  # fmt: skip
        return self.module.Dataset(
            data.features, data.labels if label is None else label,
            group=data.sizes if sizes is KEEP else sizes, weight=weight, init_score=start,
            free_raw_data=False, params=self.quiet,
        ).construct()  # fmt: skip

    def train(
        self, objective: Any, data: Any, rounds: int = 8, *, params: Any = None, metric: Any = None,
        valid: Any = None, stop: int = 0, model: Any = None, own: bool = False,
    ) -> Trained:  # fmt: skip
        params, more = {**self.quiet, **(params or {})}, dict[str, Any]()
        if own or (callable(objective) and self.module.__version__.startswith("3.")):
            more["fobj"] = objective
        elif objective is not None:
            params["objective"] = objective
        curves: dict[str, Any] = {}
        callbacks = [self.module.record_evaluation(curves)] if valid else []
        if stop:
            callbacks.append(self.module.early_stopping(stop, verbose=False))
        train = self.own.train if own else self.module.train
        valid = valid or {}
        booster = train(
            params, data, rounds, valid_sets=[*valid.values()], valid_names=[*valid],
            feval=metric, init_model=model and model.booster, callbacks=callbacks, **more,
        )  # fmt: skip
        return Trained(booster, curves)

    def best_round(self, trained: Trained) -> int:
        return int(trained.booster.best_iteration)

    def n_rounds(self, trained: Trained) -> int:
        return int(trained.booster.num_trees())

    def by_hand(self, objective: Any, data: Any, rounds: int) -> Trained:
        booster = self.module.Booster({**self.quiet, "objective": "none"}, data)
        for _ in range(rounds):
            booster.update(fobj=objective)
        return Trained(booster)


class XGBoost:
    name = "xgboost"
    module: Any = None
    own: Any = None
    quiet: ClassVar[dict[str, Any]] = {
        "nthread": 1,
        "disable_default_eval_metric": 1,
        "base_score": 0.0,
    }
    one_step: ClassVar[dict[str, Any]] = {
        "eta": 1.0, "lambda": 0.0, "min_child_weight": 0.0, "max_depth": 1,
    }  # fmt: skip
    native = "rank:pairwise"
    row_weights = False

    def data(
        self, data: Small, *, label: Any = None, sizes: Any = KEEP, weight: Any = None,
        start: Any = None, kind: str = "DMatrix",
    ) -> Any:  # fmt: skip
        sizes = data.sizes if sizes is KEEP else sizes
        return getattr(self.module, kind)(
            data.features, data.labels if label is None else label, weight=weight,
            qid=None if sizes is None else np.repeat(np.arange(len(sizes)), sizes),
            base_margin=start,
        )  # fmt: skip

    def train(
        self, objective: Any, data: Any, rounds: int = 8, *, params: Any = None, metric: Any = None,
        valid: Any = None, stop: int = 0, model: Any = None, own: bool = False,
    ) -> Trained:  # fmt: skip
        params = {**self.quiet, **(params or {})}
        if isinstance(objective, str):
            params["objective"], objective = objective, None
        curves: dict[str, Any] = {}
        booster = (self.own if own else self.module).train(
            params, data, rounds, obj=objective, custom_metric=metric, verbose_eval=False,
            evals=[(part, name) for name, part in (valid or {}).items()], evals_result=curves,
            early_stopping_rounds=stop or None, xgb_model=model and model.booster,
        )  # fmt: skip
        return Trained(booster, curves)

    def best_round(self, trained: Trained) -> int:
        return int(trained.booster.best_iteration) + 1

    def n_rounds(self, trained: Trained) -> int:
        return int(trained.booster.num_boosted_rounds())

    def by_hand(self, objective: Any, data: Any, rounds: int) -> Trained:
        booster = self.module.Booster(self.quiet, [data])
        for turn in range(rounds):
            booster.update(data, turn, fobj=objective)
        return Trained(booster)


def _installed(kind: Any) -> list[Any]:
    try:
        kind.module = importlib.import_module(kind.name)
        kind.own = importlib.import_module(f"lambdaplus.{kind.name}")
    except ImportError:
        return []  # its tests are skipped
    return [kind()]


LIGHTGBM, XGBOOST = _installed(LightGBM), _installed(XGBoost)
ARGUMENTS = {"framework": LIGHTGBM + XGBOOST, "lightgbm_alone": LIGHTGBM, "xgboost_alone": XGBOOST}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with these arguments for each framework."""
    for name, frameworks in ARGUMENTS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, frameworks, ids=lambda framework: framework.name)
