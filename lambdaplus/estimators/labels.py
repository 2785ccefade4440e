"""Labels of classifiers: checks, the class that is trained, and the codes that stand for labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from lambdaplus.compute.arrays import from_gpu
from lambdaplus.estimators.parent import evaluation_sets, replace_evaluation_sets
from lambdaplus.ranking.queries import Queries


def encode(call: dict[str, Any], pos_label: Any, objective: Any) -> tuple[Any, NDArray[Any]]:
    """Replace the labels of a call of fit by 1 for the trained class and 0 for the other.

    Returns the trained class, the rarer one unless it is given, and both classes, sorted.
    """
    if call.get("eval_class_weight") is not None:
        raise ValueError("eval_class_weight is not supported: pass eval_sample_weight")
    y = _checked(call["y"])
    classes, counts = np.unique(y, return_counts=True)
    if classes.size != 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {classes.size} classes, and the objective {objective!r} is for two: "
            "use one of LightGBM or XGBoost"
            if classes.size > 2
            else f"y holds one class, {classes.tolist()}: a classifier needs rows of two"
        )
    trained = classes[int(counts[0] >= counts[1])] if pos_label is None else pos_label
    if trained not in classes:
        raise ValueError(f"pos_label={trained!r} is none of {classes.tolist()} in y")
    codes = (y == trained).astype(np.int64)
    Queries(codes, weight=call.get("sample_weight"))  # raises for invalid weights
    sets = []
    for (X, y_of_set), labels in zip(evaluation_sets(call), _of_sets(call, classes), strict=True):
        same = X is call["X"] and y_of_set is call["y"]  # the frameworks recognise this, too
        sets.append((X, codes if same else (labels == trained).astype(np.int64)))
    replace_evaluation_sets(call, sets)
    call["y"] = codes
    return trained, classes


def encode_evaluation_labels(call: dict[str, Any]) -> None:
    """Replace ``eval_y`` by 0, 1, ..., as LightGBM does with y and the labels of ``eval_set``."""
    if call.get("eval_set") is None and (given := evaluation_sets(call)):
        classes = np.unique(from_gpu(call["y"]))
        codes = (np.searchsorted(classes, labels) for labels in _of_sets(call, classes))
        replace_evaluation_sets(call, [*zip((X for X, _ in given), codes, strict=True)])


def _of_sets(call: dict[str, Any], classes: NDArray[Any]) -> list[NDArray[Any]]:
    """The labels of each evaluation set; a ValueError for those that y does not have."""
    labels = [_checked(y) for _, y in evaluation_sets(call)]
    for i, each in enumerate(labels):
        if unknown := set(each.tolist()) - set(classes.tolist()):
            raise ValueError(f"evaluation set {i}: {unknown} are none of {classes.tolist()}")
    return labels


def _checked(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(from_gpu(y), warn=True)
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        types = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"Unknown label type: y holds objects of type {' and '.join(types)}: labels must be "
            "all text or all numbers, as by y.astype(str) or y.astype(int)"
        )
    check_classification_targets(labels)
    return labels
