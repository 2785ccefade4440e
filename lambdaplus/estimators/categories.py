"""Categorical columns of data frames: a category is its value, in training and ever after.

LightGBM and XGBoost number the categories of a frame as it comes.  The same column as text or as
integers, at prediction, would be read as other numbers without a word; here it is either turned
into the categories of the training data, by value, or refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.queries import Ints

_NUMBERS = {"integer", "floating", "mixed-integer-float"}


def is_categorical(kind: Any) -> bool:
    """Whether a column's dtype, of pandas or polars, is a categorical one."""
    return str(kind).startswith(("category", "Categorical", "Enum"))


def has_categories(X: Any) -> bool:
    """Whether X is a pandas or polars frame with a categorical column."""
    return any(is_categorical(kind) for kind in getattr(X, "dtypes", ()))


def as_pandas(X: Any) -> Any:
    """A polars frame as a pandas one; others as they are."""
    return X if hasattr(X, "iloc") else X.to_pandas()


def with_declared(frame: Any, declared: list[Any]) -> Any:
    """The frame with these columns made categorical."""
    return frame.astype(dict.fromkeys(declared, "category")) if declared else frame


def categories_of(frame: Any) -> dict[str, Any]:
    """The pandas dtype of each categorical column, by the column's name."""
    return {name: kind for name, kind in frame.dtypes.items() if is_categorical(kind)}


def recoded(frame: Any, known: dict[str, Any]) -> Any:
    """A frame whose categorical columns have the categories of the training data.

    A categorical column may hold categories that training did not have: they count as missing
    values.  A column of another dtype is converted if all its values are known categories.

    Parameters
    ----------
    frame : pandas.DataFrame
        With the training data's columns.
    known : dict
        From `categories_of` the training data.

    Raises
    ------
    ValueError
        For categories of another kind (numbers for text), values that are no known category in
        a column that is not categorical, and categorical columns that were not so in training.
    """
    import pandas  # type: ignore[import-untyped]

    new = [name for name in categories_of(frame) if name not in known]
    if new:
        raise ValueError(
            f"column {new[0]!r} is categorical, but was not when this model was fitted: convert "
            "it to numbers as in training"
        )
    frame = frame.copy(deep=False)
    for name, dtype in known.items():
        column = frame[name]
        codes = _codes_of_categories if is_categorical(column.dtype) else _codes_of_values
        frame[name] = pandas.Series(
            pandas.Categorical.from_codes(codes(name, column, dtype), dtype=dtype),
            index=frame.index,
        )
    return frame


def _codes_of_categories(name: str, column: Any, dtype: Any) -> Ints:
    mine = column.cat.categories
    kinds = _kind(mine), _kind(dtype.categories)
    if len(mine) and len(dtype.categories) and kinds[0] != kinds[1]:
        raise ValueError(
            f"the categories of column {name!r} are {kinds[0]} ({_listed(mine)}), but were "
            f"{kinds[1]} when this model was fitted ({_listed(dtype.categories)}): convert the "
            "column to the training data's categories"
        )
    codes = column.cat.codes.to_numpy()
    where = np.append(dtype.categories.get_indexer(mine), -1)  # -1, a missing value, stays -1
    found: Ints = where[codes]
    return found


def _codes_of_values(name: str, column: Any, dtype: Any) -> Ints:
    import pandas

    codes: Ints = dtype.categories.get_indexer(pandas.Index(column))
    unknown = (codes < 0) & column.notna().to_numpy()
    if unknown.any():
        raise ValueError(
            f"column {name!r} was categorical when this model was fitted, with the categories "
            f"{_listed(dtype.categories)}, and now holds {_listed(column[unknown].unique())}: "
            "pass the categories' own values, or, if these are new categories that are to count "
            "as missing values, make the column categorical (astype('category'))"
        )
    return codes


def _kind(categories: Any) -> str:
    import pandas

    kind = pandas.api.types.infer_dtype(categories)
    return "numbers" if kind in _NUMBERS else "text" if kind == "string" else str(kind)


def _listed(values: Any) -> str:
    shown = [repr(value.item() if hasattr(value, "item") else value) for value in values[:5]]
    return ", ".join([*shown, *(["..."] if len(values) > 5 else [])])
