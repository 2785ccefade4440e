"""Labels of classifiers: checks, the class that is trained, and the codes that stand for labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from lambdaplus.lists.columns import from_gpu
from lambdaplus.lists.vectors import as_weights


def encode(call: dict[str, Any], pos_label: Any, objective: Any) -> tuple[Any, NDArray[Any]]:
    """Replace the labels of a call of fit by 1 for the trained class and 0 for the other.

    Returns the trained class and both classes, sorted.  Unless it is given, it is the one whose
    rows weigh less, or the second one if they weigh the same.
    """
    if call.get("eval_class_weight") is not None:
        raise ValueError("eval_class_weight is not supported: pass eval_sample_weight")
    y = _checked(call["y"])
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size != 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {classes.size} classes, and the objective {objective!r} is for two: "
            "use one of LightGBM or XGBoost"
            if classes.size > 2
            else f"y holds one class, {classes.tolist()}: a classifier needs rows of two"
        )
    given = call.get("sample_weight")
    weights = None if given is None else as_weights(given, codes.size)
    weight = np.bincount(codes, weights)
    trained = classes[int(weight[0] >= weight[1])] if pos_label is None else pos_label
    if trained not in classes:
        raise ValueError(f"pos_label={trained!r} is none of {classes.tolist()} in y")
    codes = (y == trained).astype(np.int64)
    sets = []
    for i, (X, y_of_set) in enumerate(call.get("eval_set") or ()):
        same = X is call["X"] and y_of_set is call["y"]  # the frameworks recognise this, too
        labels = y if same else _checked(y_of_set, f"evaluation set {i} ")
        if unknown := set(labels.tolist()) - set(classes.tolist()):
            raise ValueError(f"evaluation set {i}: {unknown} are none of {classes.tolist()}")
        sets.append((X, codes if same else (labels == trained).astype(np.int64)))
    call |= {"y": codes, "eval_set": sets or None}
    return trained, classes


def _checked(y: Any, where: str = "") -> NDArray[Any]:
    if y is None:
        raise ValueError(f"{where}requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(from_gpu(y), warn=True)
    if labels.dtype.kind == "O" and not all(isinstance(label, str) for label in labels):
        types = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"Unknown label type: y holds objects of type {' and '.join(types)}: labels must be "
            "all text or all numbers, as by y.astype(str) or y.astype(int)"
        )
    check_classification_targets(labels)
    return labels
