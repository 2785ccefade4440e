"""Censored times as labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lambdaplus.compute.arguments import flags_of_rows, numbers
from lambdaplus.compute.array_types import Floats


def survival_labels(time: ArrayLike, event: ArrayLike) -> Floats:
    """Encode censored times as labels, as XGBoost's ``survival:cox`` does: negative if censored.

    .. versionadded:: 0.2.0

    Parameters
    ----------
    time : (n,) array_like
        Positive times, of the event or of censoring.
    event : (n,) array_like of bool
        Whether the event was observed; otherwise the time is censored.

    Returns
    -------
    (n,) float64
        Labels for the metric ``cindex`` and its objective, in which a label of 0 is an event.

    Raises
    ------
    ValueError
        For times that are not positive and finite, and if the lengths differ.

    Examples
    --------
    >>> from lambdaplus import survival_labels
    >>> survival_labels([5.0, 3.0], [True, False]).tolist()
    [5.0, -3.0]
    """
    times = np.asarray(numbers(time, "time"), dtype=np.float64)
    if times.ndim != 1:
        raise ValueError(f"time must be one-dimensional, got shape {times.shape}")
    wrong = ~((times > 0) & np.isfinite(times))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"times must be positive and finite: {times[row]} in row {row}")
    return np.where(flags_of_rows(event, times.size, "event"), times, -times)
