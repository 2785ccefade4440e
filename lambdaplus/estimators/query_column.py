"""The column "qid" of a frame, which holds the query of each row and is no feature."""

from typing import Any

import numpy as np

from lambdaplus.frameworks.column_parameters import (
    IN_FILES,
    OF_EACH_FEATURE,
    OF_INDICES,
    entries,
    indices,
    n_entries,
)
from lambdaplus.lists.columns import columns_of
from lambdaplus.lists.keys import codes, identifiers, numbered


def without_qid(X: Any) -> tuple[Any, Any]:
    """The features, and the column "qid" of a frame or table, which is None if it has none."""
    names = columns_of(X) or []
    if "qid" not in names:
        return X, None
    kept = [name for name in names if name != "qid"]
    return (X.select(kept) if hasattr(X, "select") else X[kept]), X["qid"]


def refuse_other_queries(column: Any, qid: Any, group: Any) -> None:
    """Raise a ValueError if these are not the queries of the column, under any names."""
    given = numbered(group) if qid is None else qid
    of_column = codes(identifiers(column))
    of_given = codes(identifiers(given))
    pairs = np.unique(np.stack([of_column, of_given]), axis=1).shape[1]
    if not pairs == of_column.max() + 1 == of_given.max() + 1:
        raise ValueError(
            f"the queries of {'group' if qid is None else 'qid'}= are not those of the column "
            "'qid' of X: leave one of them out (sizes are in the order of the rows, and those of "
            "groupby are in the order of the identifiers)"
        )


def refuse_moved_indices(X: Any, given: dict[str, Any]) -> None:
    """Raise a ValueError for numbers and lists of features that are others without column "qid".

    ``given`` has the arguments of the framework by name.
    """
    columns = columns_of(X) or []
    if "qid" not in columns:
        return
    place, instead = columns.index("qid"), "X without that column, and qid=X['qid']"
    for name in OF_INDICES:
        value = given.get(name)
        moved = {i for i in indices(entries(value)) if i >= place}
        if moved:
            names = [column for i, column in enumerate(columns) if i in moved]
            # Of interaction_constraints, LightGBM reads no names.
            by_name = f"names, here {names}, or " if name == "categorical_feature" else ""
            raise ValueError(
                f"{name}={value!r} numbers columns from 0, and the column 'qid', number {place}, "
                f"is no feature: pass {by_name}{instead}"
            )
    for name in OF_EACH_FEATURE:
        if n_entries(given.get(name)) == len(columns):
            raise ValueError(
                f"{name} has {len(columns)} entries, and there are {len(columns) - 1} features, "
                f"since the column 'qid' is none: pass one entry for each, or {instead}"
            )
    for name in IN_FILES:
        if given.get(name) and place < len(columns) - 1:
            raise ValueError(
                f"the features in {name}={given[name]!r} are numbers, and the column 'qid', number "
                f"{place}, is no feature: number the features without it, and pass {instead}; or "
                "make it the last column"
            )
