"""Arrays of users as those of NumPy: labels, scores, weights, sizes and flags are made here.

An error is raised where NumPy would silently change values.
"""

import math
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.compute.parallel import extremes
from lambdaplus.lists.columns import columns_of, from_gpu, from_narwhals, native


def checked_array(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array, also from a GPU; a ValueError if NumPy would change some."""
    array = unmasked(values, name)
    if array.dtype.kind in "cmMV":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    return array


def unmasked(values: Any, name: str) -> NDArray[Any]:
    """Convert the values to an array, also from a GPU; a ValueError for masked entries."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.argwhere(np.ma.getmaskarray(values))
        if len(masked):
            raise ValueError(
                f"{name} is a masked array with {len(masked)} masked "
                f"{'entry' if len(masked) == 1 else 'entries'}, the first in row {masked[0][0]}: "
                "leave those rows out or fill them"
            )
    try:
        return np.asarray(from_gpu(from_narwhals(values)))
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"{name} is a list of lists of different lengths: pass one list of all rows, and the "
            "lengths as group="
        ) from None


def numbers(values: Any, name: str, copy: bool = False) -> NDArray[np.float64]:
    """Convert to float64; a ValueError as in `checked_array`, for text, or if numbers merge."""
    if type(values) is np.ndarray and values.dtype in (np.float32, np.float64):
        return values.astype(np.float64, copy=copy)
    array = checked_array(values, name)
    finer = array.dtype.kind == "f" and array.dtype.itemsize > 8  # than float64
    text = array.dtype.kind in "SUT"
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        refuse_rounding(array[(array > 2**53) | (array < -(2**53))].tolist(), name)
    elif array.dtype.kind == "O":
        objects = array.ravel().tolist()
        text = any(isinstance(x, (str, bytes)) for x in objects)
        refuse_rounding((x for x in objects if isinstance(x, int)), name)
        finer = not all(isinstance(x, float | int) for x in objects)  # decimals and fractions
    if text:
        raise ValueError(f"{name} must be numbers, not text: convert it, for example with float()")
    try:
        converted = array.astype(np.float64, copy=copy)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if finer and _different(converted) < _different(array):
        raise ValueError(
            f"{name} contains numbers that differ, but are equal as float64: subtract an offset, "
            "or pass ranks"
        )
    return converted


def _different(array: NDArray[Any]) -> int:
    """How many different numbers there are."""
    if array.dtype.kind == "O":
        return len({x for x in array.ravel().tolist() if x is not None and x == x})
    return np.unique(array[array == array]).size


def refuse_infinite(array: NDArray[np.floating[Any]], name: str, why: str = "") -> None:
    """Raise a ValueError that names the first entry that is not finite."""
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(
            f"{name} must be finite: {bad.size} of {array.size} are not, the first is "
            f"{array[bad[0]]} in row {bad[0]}{why}"
        )


def refuse_rounding(integers: Iterable[int], name: str) -> None:
    """Raise a ValueError for an integer that a float64 cannot represent."""
    for number in integers:
        try:
            exact = float(number) == number
        except OverflowError:
            exact = False
        if not exact:
            raise ValueError(
                f"{name} contains {reprlib.repr(number)}, which a float64 cannot represent: "
                "integers beyond 2**53 would become equal to others; subtract an offset, or pass "
                "ranks"
            )


def as_vector(values: Any) -> Any:
    """A single column as a vector; all else as it is, but in this machine's memory and byte order.

    A column is an array of shape (n, 1), a frame or table with one column, or a list of lists of
    one entry.
    """
    values = from_gpu(from_narwhals(values))
    if isinstance(values, list | tuple):
        nested = bool(values) and isinstance(values[0], list | tuple | np.ndarray)
        is_column = nested and all(np.shape(one) == (1,) for one in values)
        return [one[0] for one in values] if is_column else list(values)
    shape = getattr(values, "shape", ())
    if isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1:
        if hasattr(values, "iloc"):
            values = values.iloc[:, 0]
        elif hasattr(values, "to_series"):  # of polars
            values = values.to_series()
        elif hasattr(values, "column_names"):  # of pyarrow
            values = values.column(0)
        elif isinstance(values, np.ndarray):
            values = np.ravel(values)
    return native(values)


MOST_NAMES = 20  # of columns in an error
_HINTS = {  # what to do about two dimensions
    "scores": ": leave out num_class, since a ranking has one score per row",
    "labels": ": pass one column, and the others to objectives and metrics of their own, as in "
    "combine({lambda_ndcg: 1, lambda_map.on(purchases): 0.5}) and eval_map.on(purchases); of lists "
    "of queries, pass one list of all rows, and the lengths as group=",
}


def vector(values: ArrayLike, name: str, copy: bool = True, single: bool = False) -> Floats:
    """One-dimensional float64 without NaN or infinity; a single column counts as a vector."""
    # Of an array, nothing but its numbers has to be read.
    is_vector = type(values) is np.ndarray and values.ndim == 1
    kept = single and is_vector and values.dtype == np.float32  # type: ignore[union-attr]
    given: Any = values if is_vector else as_vector(values)
    array: Floats = given if kept else numbers(given, name, copy)
    if array.shape == (0, 0):  # from XGBoost 3.4 on, the scores of a worker without rows
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(_of_several_columns(values, name, array.ndim))
    if array.size and not single and not all(map(math.isfinite, extremes(array))):
        refuse_infinite(array, name)
    return array


def _of_several_columns(values: Any, name: str, dimensions: int) -> str:
    named = columns_of(values) or []
    if named:
        shown = ", ".join(repr(column) for column in named[:MOST_NAMES])
        one = next((c for c in named if str(c) == name.removesuffix("s")), named[0])
        return (
            f"{name} is a frame with the columns {shown}: pass one of them, as frame[{one!r}], and "
            "others by their own arguments, such as qid= and weight="
        )
    hint = _HINTS.get(name.split(": ")[-1], "") if dimensions == 2 else ""
    return f"{name} must be one-dimensional, got shape {np.shape(values)}{hint}"


def as_labels(values: ArrayLike) -> Floats:
    """The labels of a whole data set, (n,) float64; a ValueError for invalid or no ones."""
    labels = vector(values, "labels")
    refuse_nothing(labels.size)
    return labels


def as_scores(values: ArrayLike, n: int, single: bool = False) -> Floats:
    """Scores of n rows, float64; with ``single``, float32 stays, and may be infinite."""
    scores = vector(values, "scores", copy=False, single=single)
    if scores.size != n:
        raise ValueError(f"{scores.size} scores for {n} labels")
    return scores


def as_weights(values: ArrayLike, n: int, whole: bool = True) -> Floats:
    """Weights of n rows, float64; a ValueError for invalid ones, and if those of all are zero.

    Rows that are not the ``whole`` data set, but those of one worker, may all weigh zero.
    """
    weights = vector(values, "weight")
    if weights.size != n:
        raise ValueError(f"{weights.size} weights for {n} rows")
    for bad, problem in (
        (weights < 0, "weights must not be negative"),
        (
            (weights > 1e30) | ((weights > 0) & (weights < 1e-30)),
            "weights must be 0 or from 1e-30 to 1e30, since gradients are float32: divide them by "
            "a constant",
        ),
    ):
        if bad.any():
            row = int(bad.argmax())
            raise ValueError(f"{problem}: {weights[row]} in row {row}")
    if whole:
        refuse_nothing(n, bool(weights.any()))
    return weights


def refuse_nothing(rows: int, weigh: bool = True) -> None:
    """Raise a ValueError for no rows, and for rows that all have the weight 0."""
    if not rows:
        raise ValueError("labels is empty: there is nothing to rank")
    if not weigh:
        raise ValueError("all weights are zero: there is nothing to rank")


def as_sizes(group: ArrayLike, n: int | None = None) -> Ints:
    """Sizes of queries, (n_queries,) int64; a ValueError for invalid ones, or not of n rows."""
    sizes = numbers(as_vector(group), "group")
    if sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"group must be a list of query sizes, got shape {sizes.shape}")
    if not ((sizes >= 1) & (sizes < 2**53) & (sizes == np.floor(sizes))).all():
        raise ValueError("group must contain query sizes: integers, at least 1 each")
    whole = sizes.astype(np.int64)
    if n is not None and whole.sum() != n:
        raise ValueError(f"group sizes add up to {whole.sum()}, but there are {n} rows")
    return whole


def as_flags(values: Any, n: int, name: str) -> Bools:
    """Convert the values to (n,) bool; a ValueError if they are not n times True or False."""
    flags = checked_array(as_vector(values), name)
    if flags.shape != (n,) or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"{name} must be True or False for each of the {n} rows")
    return flags.astype(bool)
