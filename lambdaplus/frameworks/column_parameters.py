"""Parameters of the frameworks that number columns of features, or have an entry for each one.

LightGBM ignores numbers of columns that there are not, or ends Python, and both frameworks read
lists of other lengths.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from lambdaplus.frameworks.internals import lightgbm_aliases

OF_INDICES = ("categorical_feature", "interaction_constraints")
OF_EACH_FEATURE = (
    "cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy", "feature_contri", "feature_name",
    "feature_types", "feature_weights", "max_bin_by_feature", "monotone_constraints",
)  # fmt: skip
PADDED_BY_XGBOOST = ("monotone_constraints",)  # by zeros
IN_FILES = ("forcedbins_filename", "forcedsplits_filename")

_LISTS = r"\s*\[[\d\s,]*\]\s*(,\s*\[[\d\s,]*\]\s*)*"
_GROUPS = re.compile(rf"{_LISTS}|\s*\[{_LISTS}\]\s*")


def by_names_of_lightgbm(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters and arguments, where those of columns have LightGBM's main name."""
    names = {
        alias: name
        for name in OF_INDICES + OF_EACH_FEATURE + IN_FILES
        for alias in lightgbm_aliases(name)
    }
    return {names.get(name, name): value for name, value in given.items()}


def refuse_unknown_columns(
    given: Mapping[str, Any], width: int, padded: Collection[str] = ()
) -> None:
    """Raise a ValueError for numbers of columns, or lists, that are not those of so many features.

    ``given`` has parameters and arguments by the framework's main names.  Of those that are
    ``padded``, lists may be shorter.
    """
    for name in OF_INDICES:
        unknown = next((i for i in indices(entries(given.get(name))) if not 0 <= i < width), None)
        if unknown is not None:
            raise ValueError(
                f"{name}={given[name]!r}: there is no column {unknown}, since the {width} features "
                f"are numbered from 0 to {width - 1}"
            )
    for name in OF_EACH_FEATURE:
        listed = n_entries(given.get(name))
        if listed > width or (0 < listed < width and name not in padded):  # an empty one is none
            raise ValueError(
                f"{name} has {listed} entries, and there are {width} features: pass one entry for "
                "each"
            )


def refuse_forms_lightgbm_ignores(given: Mapping[str, Any], categories: Any) -> None:
    """Raise a ValueError for numbers of columns in forms that LightGBM ignores or misreads.

    ``categories`` are an argument of a data set or of fit, and no parameter.
    """
    by_default = categories is None or (isinstance(categories, str) and categories == "auto")
    if not by_default and not isinstance(categories, list):
        raise ValueError(
            f"categorical_feature={categories!r}: pass a list, as in ['colour'] or [3], since "
            "LightGBM ignores anything else here"
        )
    groups = given.get("interaction_constraints")
    if isinstance(groups, str):
        readable = _GROUPS.fullmatch(groups or "[]") is not None
    else:
        readable = groups is None or (
            isinstance(groups, list | tuple)
            and all(isinstance(one, list) and all(map(_is_index, one)) for one in groups)
        )
    if not readable:
        raise ValueError(
            f"interaction_constraints={groups!r}: LightGBM reads lists of numbers of columns "
            "alone, as in [[0, 1], [2]]"
        )


def as_xgboost_reads(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with constraints in lists of numbers, as LightGBM has them, in XGBoost's forms."""
    read, groups = dict(params), params.get("interaction_constraints")
    if isinstance(signs := params.get("monotone_constraints"), list | np.ndarray):
        read["monotone_constraints"] = tuple(map(_as_int, signs))
    if isinstance(groups, list | tuple):
        lists = [list(one) for one in groups if isinstance(one, list | tuple)]
        if len(lists) == len(groups) and all(_is_index(i) for one in lists for i in one):
            read["interaction_constraints"] = str([[*map(int, one)] for one in lists])
    return read


def entries(value: Any) -> Any:
    """Numbers in text such as "[0,1],[2]" as a list; anything else as it is."""
    if isinstance(value, str) and re.fullmatch(r"[-\d\s.,()\[\]]+", value):
        return [int(float(number)) for number in re.findall(r"-?[\d.]+", value)]
    return value


def n_entries(value: Any) -> int:
    """The number of entries of a list, or of text such as "(1,0)"; 0 for anything else."""
    listed = entries(value)
    return len(listed) if hasattr(listed, "__len__") and not isinstance(listed, str | dict) else 0


def indices(value: Any) -> Iterator[int]:
    """The whole numbers in a list, and in lists of it."""
    if isinstance(value, int | np.integer):
        yield int(value)
    elif isinstance(value, list | tuple | set | np.ndarray):
        for entry in value:
            yield from indices(entry)


def _as_int(value: Any) -> Any:
    """A number as int if it is whole; XGBoost refuses anything else."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return int(value) if number and float(value).is_integer() else value


def _is_index(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
