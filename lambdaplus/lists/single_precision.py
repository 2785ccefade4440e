"""Numbers that LightGBM and XGBoost hold as float32."""

from typing import Any

import numpy as np

from lambdaplus.compute.messages import warn
from lambdaplus.lists.vectors import checked_array, refuse_infinite

_COARSE = 1e-4  # of the range of labels, between neighbouring numbers


def refuse_unusable_start(values: Any, name: str) -> None:
    """Raise a ValueError for initial scores that are no finite numbers; None is none.

    The frameworks would replace them, or train on them until all scores are NaN.
    """
    if values is None:
        return
    array = checked_array(values, name)
    if array.dtype.kind not in "OSUT":
        with np.errstate(over="ignore"):
            refuse_infinite(array.astype(np.float32).ravel(), name, ", as float32")


def merged_labels_in_words(labels: Any) -> str:
    """What to say of labels, (n,), that differ, but not as float32; empty for others."""
    array = np.asarray(labels)
    if array.dtype.kind not in "fiu" or not array.size or not np.isfinite(array).all():
        return ""
    low, high = float(array.min()), float(array.max())
    largest = max(abs(low), abs(high))
    if largest > float(np.finfo(np.float32).max) or (
        np.spacing(np.float32(largest)) <= _COARSE * (high - low)
    ):
        return ""
    different, kept = np.unique(array).size, np.unique(array.astype(np.float32)).size
    if kept == different:
        return ""
    return (
        f"{different} different numbers from {low:.10g} to {high:.10g}, of which "
        f"{different - kept} are equal to others as float32, which LightGBM and XGBoost train on: "
        "subtract an offset, or pass ranks"
    )


def warn_of_merged_labels(labels: Any, name: str) -> None:
    """Warn of labels that become equal as float32."""
    if words := merged_labels_in_words(labels):
        warn(f"the labels of {name} are {words}")
