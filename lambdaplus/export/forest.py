"""Models of LightGBM and XGBoost: their files, and their trees as plain data."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Split(NamedTuple):
    """A node whose rows go left if their value is *less than* the threshold."""

    feature: int
    threshold: float
    missing_left: bool  # whether a row without a value goes left
    left: Node
    right: Node


Node = Split | float  # a leaf is the value that it adds to the score of a row


class Forest(NamedTuple):
    """A sum of trees."""

    trees: list[Node]
    feature_names: list[str]
    framework: str  # LightGBM compares float64 values, XGBoost float32 ones
    missing: list[int]  # features that had missing values in training, as far as is known


def read_forest(model: Any, feature_names: Sequence[str] | None = None) -> Forest:
    """Read the trees of a model; see `~lambdaplus.export.export_model` for the parameters."""
    booster = _booster(model)
    if _is_of_xgboost(booster):
        forest = _from_xgboost(booster)
    elif hasattr(type(booster), "dump_model"):
        forest = _from_lightgbm(booster)
    else:
        raise ValueError(f"a model of LightGBM or XGBoost is expected, not {type(model).__name__}")
    if feature_names is None:
        return forest
    names = list(feature_names)
    if len(names) != len(forest.feature_names) or len(set(names)) != len(names):
        raise ValueError(
            f"feature_names must be {len(forest.feature_names)} different names, one for each "
            f"column that the model was trained on; got {len(names)}"
        )
    return forest._replace(feature_names=names)


def _booster(model: Any) -> Any:
    """The booster of a model, with the rounds that `predict` uses."""
    if hasattr(type(model), "booster_"):  # LightGBM's estimators
        return model.booster_
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if _is_of_xgboost(booster):
        # XGBoost's estimators predict with the best rounds, also if they were saved and loaded.
        of_estimator = booster is not model or booster.attr("scikit_learn") is not None
        best = booster.attr("best_iteration") if of_estimator else None
        return booster if best is None else booster[: int(best) + 1]
    return booster


def _is_of_xgboost(booster: Any) -> bool:
    return hasattr(type(booster), "save_raw")


BY_CATEGORIES = (
    "it splits by categories, which no engine here reads; train it on a column of 0 and 1 for each "
    "category instead, as pandas.get_dummies makes them"
)


def _check(plain: bool, what: str) -> None:
    if not plain:
        raise ValueError(f"this model cannot be exported: {what}")


def _check_objective(objective: str, sums: tuple[str, ...]) -> None:
    _check(
        objective.startswith(sums),
        f"its objective {objective} transforms the sum of the trees, which engines do not support",
    )


def _from_lightgbm(booster: Any) -> Forest:
    dump = booster.dump_model()
    _check(dump["num_tree_per_iteration"] == 1, "it has one score for each class")
    _check(not dump["average_output"], "it is a random forest, which averages its trees")
    objective = dump.get("objective", "custom")  # not recorded for custom objectives
    _check_objective(objective, ("lambdarank", "rank_xendcg", "regression", "custom"))
    _check("sqrt" not in objective.split(), "reg_sqrt squares the sum of its trees")
    missing: set[int] = set()
    trees = [_lightgbm_node(tree["tree_structure"], missing) for tree in dump["tree_info"]]
    return Forest(trees, dump["feature_names"], "lightgbm", sorted(missing))


def _lightgbm_node(node: dict[str, Any], missing: set[int]) -> Node:
    if "leaf_value" in node:
        _check("leaf_coeff" not in node, "it has linear trees")
        return float(node["leaf_value"])
    _check(node["decision_type"] == "<=", BY_CATEGORIES)
    _check(node["missing_type"] != "Zero", "it was trained with zero_as_missing=True")
    # x <= t is x < the next number after t; JSON has no infinity.
    threshold = min(math.nextafter(node["threshold"], math.inf), sys.float_info.max)
    if node["missing_type"] == "NaN":
        missing.add(node["split_feature"])
        missing_left = bool(node["default_left"])
    else:
        missing_left = threshold > 0.0  # trained without missing values: NaN is treated as 0
    return Split(
        int(node["split_feature"]),
        threshold,
        missing_left,
        _lightgbm_node(node["left_child"], missing),
        _lightgbm_node(node["right_child"], missing),
    )


def _from_xgboost(booster: Any) -> Forest:
    learner = json.loads(booster.save_raw(raw_format="json"))["learner"]
    _check(learner["gradient_booster"]["name"] != "gblinear", "gblinear has no trees")
    shape = learner["learner_model_param"]
    outputs = max(int(shape["num_class"]), int(shape.get("num_target", 1)))
    _check(outputs <= 1, f"it has {outputs} scores for each row")
    _check_objective(
        learner["objective"]["name"],
        ("rank:", "reg:squarederror", "reg:linear", "reg:absoluteerror", "binary:logitraw"),
    )
    core = learner["gradient_booster"]
    model = core.get("gbtree", core)["model"]
    # Of dart, which XGBoost 3.4 has no longer as a booster of its own.
    weights = core.get("weight_drop") or model.get("weight_drop") or [1.0] * len(model["trees"])
    trees = [*map(_xgboost_tree, model["trees"], weights)]
    base = float(shape["base_score"].strip("[]"))  # a tree of its own, since engines do not read it
    names = learner.get("feature_names") or [f"f{i}" for i in range(int(shape["num_feature"]))]
    return Forest([*trees, base] if base else trees, names, "xgboost", [])


def _xgboost_tree(tree: dict[str, Any], weight: float) -> Node:
    _check(not any(tree["split_type"]), BY_CATEGORIES)

    def node(at: int) -> Node:
        number = float(np.float32(tree["split_conditions"][at]))  # a leaf's value, or a threshold
        if tree["left_children"][at] == -1:
            return float(weight * number)
        return Split(
            tree["split_indices"][at],
            number,
            bool(tree["default_left"][at]),
            node(tree["left_children"][at]),
            node(tree["right_children"][at]),
        )

    return node(0)


def read_model(path: str | os.PathLike[str]) -> Any:
    """Load a Booster from a file.

    Parameters
    ----------
    path : str or path
        A text file of LightGBM, or a JSON or UBJSON file of XGBoost.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster

    Raises
    ------
    ValueError
        If the file is not a model, or was truncated.
    ImportError
        If the framework is not installed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile, lightgbm as lgb, numpy as np
    >>> from lambdaplus.export import read_model
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = lgb.train({"verbose": -1}, lgb.Dataset(X, X[:, 0]), 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "model.txt")
    ...     _ = model.save_model(file)
    ...     loaded = read_model(file)
    >>> loaded.num_trees()
    3
    """
    file = Path(path)
    content = file.read_bytes()
    if content.startswith(b"tree"):
        framework, whole = "lightgbm", _has_declared_trees(content)
    elif content.startswith(b"{"):
        # The version is the last entry; XGBoost may read beyond the end of a cut UBJSON file.
        whole = content.rstrip().endswith(b"}") and b"version" in content[-80:]
        framework = "xgboost"
    else:
        raise ValueError(
            f"{file} is not a model: LightGBM's save_model writes text that begins with 'tree', "
            "XGBoost's a .json or .ubj file"
        )
    library = import_module(f"lambdaplus.{framework}")
    if whole:
        try:
            return library.Booster(model_file=str(file))
        except Exception:  # of the framework's own kinds
            whole = False
    raise ValueError(f"{file} is a broken model file, truncated or changed: save the model again")


def _has_declared_trees(content: bytes) -> bool:
    """Whether LightGBM's text has all the trees of its header: it reads the rest of a cut file."""
    sizes = re.search(rb"^tree_sizes=([0-9 ]+)$", content, re.MULTILINE)
    first, end = content.find(b"\nTree=0\n"), content.find(b"\nend of trees\n")
    return sizes is not None and end == first + sum(map(int, sizes[1].split()))
