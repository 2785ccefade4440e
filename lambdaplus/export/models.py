"""Read the trees of a LightGBM or XGBoost model."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from lambdaplus.export.forest import Forest, Leaf, Node, Split
from lambdaplus.frameworks.calls import framework_of

_IDENTITY = {
    "lightgbm": ("lambdarank", "rank_xendcg", "regression", "custom"),
    "xgboost": ("rank:", "reg:squarederror", "reg:linear", "reg:absoluteerror", "binary:logitraw"),
}


def read_forest(model: Any, feature_names: Sequence[str] | None = None) -> Forest:
    """Read the trees of a model.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster or an estimator of either
        The rounds that ``predict`` uses are exported: LightGBM's Boosters and all estimators
        stop at the best iteration of early stopping, XGBoost's Boosters use all rounds unless they
        were saved by an estimator of XGBoost.
    feature_names : sequence of str, optional
        Feature names of the engine, in the order of the columns; by default, those of the model.

    Returns
    -------
    Forest

    Raises
    ------
    ValueError
        For models that are not a sum of trees with numerical splits: several outputs, linear
        trees, categorical features, random forests of LightGBM, objectives that transform the sum,
        zero_as_missing; for names that do not match the columns; and for inconsistent models from a
        damaged file.
    """
    booster = _booster(model)
    framework = framework_of(booster)
    if framework == "arrays":
        raise ValueError(f"a model of LightGBM or XGBoost is expected, not {type(model).__name__}")
    try:
        forest = _from_lightgbm(booster) if framework == "lightgbm" else _from_xgboost(booster)
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"this model is broken: {type(error).__name__}: {error}") from None
    if feature_names is None:
        return forest
    names = list(feature_names)
    if len(names) != len(forest.feature_names) or len(set(names)) != len(names):
        raise ValueError(
            f"feature_names must be {len(forest.feature_names)} different names, one for each "
            f"column that the model was trained on; got {len(names)}"
        )
    return Forest(forest.trees, names, forest.source, forest.base, forest.missing)


def _booster(model: Any) -> Any:
    if hasattr(model, "booster_"):  # LightGBM's estimators
        return model.booster_
    if hasattr(model, "get_booster"):  # XGBoost's
        return _up_to_the_best(model.get_booster())
    # Models saved by XGBoost's estimators are loaded, and predict, with the best rounds.
    if framework_of(model) == "xgboost" and model.attr("scikit_learn") is not None:
        return _up_to_the_best(model)
    return model


def _up_to_the_best(booster: Any) -> Any:
    best = booster.attr("best_iteration")
    return booster if best is None else booster[: int(best) + 1]


def _check(plain: bool, what: str) -> None:
    if not plain:
        raise ValueError(f"this model cannot be exported: {what}")


def _check_objective(framework: str, objective: str) -> None:
    _check(
        objective.startswith(_IDENTITY[framework]),
        f"its objective {objective} transforms the sum of the trees, which engines do not support",
    )


# LightGBM --------------------------------------------------------------------------------------


def _from_lightgbm(booster: Any) -> Forest:
    dump = booster.dump_model()
    _check(dump["num_tree_per_iteration"] == 1, "it has one score for each class")
    _check(not dump["average_output"], "it is a random forest, which averages its trees")
    objective = dump.get("objective", "custom")  # not recorded for custom objectives
    _check_objective("lightgbm", objective)
    _check("sqrt" not in objective.split(), "reg_sqrt squares the sum of its trees")
    missing: set[int] = set()
    trees = [_lightgbm_node(tree["tree_structure"], missing) for tree in dump["tree_info"]]
    return Forest(trees, dump["feature_names"], "lightgbm", 0.0, tuple(sorted(missing)))


def _lightgbm_node(node: dict[str, Any], missing: set[int]) -> Node:
    if "leaf_value" in node:
        _check("leaf_coeff" not in node, "it has linear trees")
        return Leaf(float(node["leaf_value"]))
    _check(node["decision_type"] == "<=", "it splits by categories, which no engine here reads")
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


# XGBoost ---------------------------------------------------------------------------------------


def _from_xgboost(booster: Any) -> Forest:
    learner = json.loads(booster.save_raw(raw_format="json"))["learner"]
    _check(learner["gradient_booster"]["name"] != "gblinear", "gblinear has no trees")
    shape = learner["learner_model_param"]
    outputs = max(int(shape["num_class"]), int(shape.get("num_target", 1)))
    _check(outputs <= 1, f"it has {outputs} scores for each row")
    _check_objective("xgboost", learner["objective"]["name"])
    core = learner["gradient_booster"]
    weights = core.get("weight_drop")  # dart
    model = core["gbtree"]["model"] if "gbtree" in core else core["model"]
    n_features = int(shape["num_feature"])
    trees = [_xgboost_tree(tree, 1.0 if weights is None else weights[i], n_features)
             for i, tree in enumerate(model["trees"])]  # fmt: skip
    names = learner.get("feature_names") or [f"f{i}" for i in range(n_features)]
    return Forest(trees, names, "xgboost", float(shape["base_score"].strip("[]")))


def _xgboost_tree(tree: dict[str, Any], weight: float, n_features: int) -> Node:
    _check(not any(tree["split_type"]), "it splits by categories, which no engine here reads")
    if max(tree["split_indices"]) >= n_features:
        raise LookupError(f"a split by feature {max(tree['split_indices'])} of {n_features}")

    def node(at: int) -> Node:
        number = float(np.float32(tree["split_conditions"][at]))  # a leaf's value, or a threshold
        if tree["left_children"][at] == -1:
            return Leaf(weight * number)
        return Split(
            tree["split_indices"][at],
            number,
            bool(tree["default_left"][at]),
            node(tree["left_children"][at]),
            node(tree["right_children"][at]),
        )

    return node(0)
