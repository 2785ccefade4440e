"""Trainings that differ in the objective alone, for `benchmarks/defaults.py`.

The n-th draw of the trees' parameters is the same for every objective and set, and is trained on
the n-th fold.  Metrics of the validation queries are evaluated every `EVERY` rounds, and the value
of a training is the highest mean of `WINDOW` consecutive evaluations, since single ones fluctuate.
No test query is read.  Finished trainings are kept in a file, one line each, and are not trained
again.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import time
from functools import lru_cache
from typing import Any

import lightgbm
import numpy as np
import xgboost

from lambdaplus import eval_metric, lambda_objective
from lambdaplus.data import Fold, read_folds

METRICS = ("map", "ndcg", "auc", "ndcg@10", "ndcg@5", "map@5", "p@5", "mrr", "success@1")
EVERY, WINDOW = 5, 5
LONGER = 4  # times as many rounds on generated sets, whose clean labels can be learned for longer
NATIVE = {"lightgbm": ("lambdarank", "rank_xendcg"), "xgboost": ("rank:ndcg", "rank:map")}
DAMPED = {
    "": {},
    ", damping": {"damping": 0.01},
    ", noise": {"noise": 1.0},
}
CUT = ("ndcg@10", "ndcg@5", "map@5", "p@5", "mrr", "success@1")
OURS: dict[str, tuple[str, dict[str, Any]]] = {  # name: the metric, options
    **{m + name: (m, options) for m in ("map", "ndcg", "auc") for name, options in DAMPED.items()},
    **{m: (m, {}) for m in ("ndcg@10", "ndcg@5", "map@5", "p@5", "mrr")},
    **{m: (m, {}) for m in ("ndcg + auc", "map + auc", "mrr + auc", "mrr + map")},
    **{f"{m}, noise": (m, {"noise": 1.0}) for m in CUT},
}


def objective(name: str) -> Any:
    metric, options = OURS[name]
    surrogate = {} if "+" in metric else {"surrogate": metric}  # the metric itself, no default
    return lambda_objective(metric, **{"damping": None, **surrogate, **options})


# Training -----------------------------------------------------------------------------------------


def trees(draw: int) -> dict[str, Any]:
    """Parameters of the trees of a draw, the same for every objective and set."""
    rng = np.random.default_rng([28, draw])
    leaves = round(float(np.exp(rng.uniform(np.log(4), np.log(32)))))
    rate = float(np.exp(rng.uniform(np.log(0.02), np.log(0.1))))
    return {
        "leaves": leaves,
        "rate": rate,
        "rounds": EVERY * round(float(np.clip(45 / rate / leaves**0.5, 150, 400)) / EVERY),
        "documents": int(rng.choice([5, 10, 20, 50])),
        "Hessian": 10 ** rng.uniform(-2, 0),
        "features": rng.uniform(0.5, 1.0),
        "l2": 10 ** rng.uniform(-1, 1),
    }


class Watch:
    """Metrics of the validation queries, every so many rounds."""

    def __init__(self) -> None:
        self.rounds, self.metrics = 0, eval_metric(*METRICS)
        self.curves: dict[str, list[float]] = {metric: [] for metric in METRICS}

    def see(self, scores: Any, data: Any) -> None:
        self.rounds += 1
        if self.rounds % EVERY == 0:
            for metric, value, *_ in self.metrics(scores, data):
                self.curves[metric].append(float(value))

    def best(self) -> dict[str, tuple[float, int]]:
        """Of each metric: the highest mean of a window, and the round at its middle."""
        means = {
            metric: np.convolve(curve, np.full(WINDOW, 1 / WINDOW), "valid")
            for metric, curve in self.curves.items()
        }
        return {
            metric: (float(mean.max()), EVERY * (int(mean.argmax()) + 1 + WINDOW // 2))
            for metric, mean in means.items()
        }


@lru_cache(1)
def fold_of(folder: str, fold: int) -> Fold:
    return read_folds(pathlib.Path(folder))[fold]


@lru_cache(2)
def lightgbm_data(folder: str, fold: int) -> tuple[Any, Any]:
    parts = fold_of(folder, fold)
    params = {"feature_pre_filter": False, "verbose": -1, "num_threads": 1}
    train, valid = (
        (part.dense_features, {"label": part.labels, "group": part.group})
        for part in (parts.train, parts.valid)
    )
    data = lightgbm.Dataset(train[0], **train[1], params=params, free_raw_data=False).construct()
    return data, data.create_valid(valid[0], **valid[1]).construct()


@lru_cache(2)
def xgboost_data(folder: str, fold: int, two_grades: bool) -> tuple[Any, Any]:
    parts = fold_of(folder, fold)
    train, valid = (
        xgboost.DMatrix(part.dense_features, labels, group=part.group, nthread=1)
        for part, labels in (
            (parts.train, np.minimum(parts.train.labels, 1) if two_grades else parts.train.labels),
            (parts.valid, parts.valid.labels),
        )
    )
    return train, valid


def train(framework: str, name: str, folder: str, draw: int, watch: Watch) -> None:
    drawn, fold = trees(draw), draw % 5
    generated = pathlib.Path(folder).name.startswith("generated")
    rounds = drawn["rounds"] * (LONGER if generated else 1)
    own = name in NATIVE[framework]
    if framework == "lightgbm":

        def look(scores: Any, data: Any) -> tuple[str, float, bool]:
            watch.see(scores, data)
            return "seen", 0.0, True

        params = {
            "objective": name if own else objective(name), "num_leaves": drawn["leaves"],
            "learning_rate": drawn["rate"], "min_data_in_leaf": drawn["documents"],
            "lambda_l2": drawn["l2"], "feature_fraction": drawn["features"], "seed": draw,
            "metric": "None", "verbose": -1, "num_threads": 1, "feature_pre_filter": False,
        }  # fmt: skip
        data, valid = lightgbm_data(folder, fold)
        lightgbm.train(params, data, rounds, [valid], feval=look)
        return

    def see(scores: Any, data: Any) -> tuple[str, float]:
        watch.see(scores, data)
        return "seen", 0.0

    params = {
        "max_leaves": drawn["leaves"], "max_depth": 0, "grow_policy": "lossguide",
        "tree_method": "hist", "learning_rate": drawn["rate"], "reg_lambda": drawn["l2"],
        "min_child_weight": drawn["Hessian"], "colsample_bytree": drawn["features"],
        "seed": draw, "nthread": 1, "disable_default_eval_metric": 1,
        **({"objective": name} if own else {}),
    }  # fmt: skip
    data, valid = xgboost_data(folder, fold, name == "rank:map")
    xgboost.train(
        params, data, rounds, evals=[(valid, "valid")], custom_metric=see,
        obj=None if own else objective(name), verbose_eval=False,
    )  # fmt: skip


def kept_in(path: pathlib.Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The finished trainings of a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(one["training"]): one for one in map(json.loads, lines)}


def train_all(folders: list[str], draws: range, names: list[str], kept: pathlib.Path) -> None:
    done = kept_in(kept)
    for draw, folder, framework in itertools.product(draws, folders, NATIVE):
        for name in [*names, *NATIVE[framework]]:
            key = framework, name, pathlib.Path(folder).name, draw
            if key in done:
                continue
            start, watch = time.process_time(), Watch()
            train(framework, name, folder, draw, watch)
            line = {"training": key, "best": watch.best(), "s": time.process_time() - start}
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
