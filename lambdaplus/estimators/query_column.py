"""The column "qid" of a frame, which holds the query of each row and is no feature."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from lambdaplus.lists.columns import columns_of
from lambdaplus.lists.keys import codes, identifiers, numbered

OF_INDICES = ("categorical_feature", "interaction_constraints")
OF_EACH_FEATURE = ("feature_contri", "feature_name", "feature_types", "feature_weights",
                   "max_bin_by_feature", "monotone_constraints")  # fmt: skip
IN_FILES = ("forcedbins_filename", "forcedsplits_filename")


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
    """Raise a ValueError for numbers of features that are others without the column "qid".

    ``given`` has the arguments of the framework by name.
    """
    columns = columns_of(X) or []
    if "qid" not in columns:
        return
    place, instead = columns.index("qid"), "X without that column, and qid=X['qid']"
    for name in OF_INDICES:
        value = given.get(name)
        moved = {i for i in _indices(_read(value)) if i >= place}
        if moved:
            names = [column for i, column in enumerate(columns) if i in moved]
            raise ValueError(
                f"{name}={value!r} numbers columns from 0, and the column 'qid', number {place}, "
                f"is no feature: pass names, here {names}, or {instead}"
            )
    for name in IN_FILES:
        if given.get(name) and place < len(columns) - 1:
            raise ValueError(
                f"the features in {name}={given[name]!r} are numbers, and the column 'qid', number "
                f"{place}, is no feature: number the features without it, and pass {instead}; or "
                "make it the last column"
            )
    for name in OF_EACH_FEATURE:
        entries = _read(given.get(name))
        if isinstance(entries, list | tuple | np.ndarray) and len(entries) != len(columns) - 1:
            features = [column for column in columns if column != "qid"]
            raise ValueError(
                f"{name} has {len(entries)} entries, and there are {len(features)} features, "
                f"{features}, since the column 'qid' is none: pass one entry for each, or {instead}"
            )


def _read(value: Any) -> Any:
    """Numbers in text such as "[0,1],[2]" as a list; anything else as it is."""
    if isinstance(value, str) and re.fullmatch(r"[-\d\s.,()\[\]]+", value):
        return [int(float(number)) for number in re.findall(r"-?[\d.]+", value)]
    return value


def _indices(value: Any) -> Iterator[int]:
    """The whole numbers in a list, and in lists of it."""
    if isinstance(value, int | np.integer):
        yield int(value)
    elif isinstance(value, list | tuple | set | np.ndarray):
        for entry in value:
            yield from _indices(entry)
