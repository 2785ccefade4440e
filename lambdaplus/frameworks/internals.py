"""All uses of private interfaces of LightGBM and XGBoost, which are only imported when needed."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any


def lightgbm_parameter(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """The value of one of LightGBM's parameters under any of its names."""
    return next((params[alias] for alias in lightgbm_aliases(name) if alias in params), default)


@lru_cache(maxsize=64)
def lightgbm_aliases(name: str) -> tuple[str, ...]:
    """All names of one of LightGBM's parameters."""
    from lightgbm import basic

    return name, *sorted(basic._ConfigAliases.get(name) - {name})


def lightgbm_parameters() -> dict[str, list[str]]:
    """The aliases of each of LightGBM 4's parameters, by its name."""
    from lightgbm import basic

    try:
        known: dict[str, list[str]] = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("this needs LightGBM 4: pip install 'lightgbm>=4'") from None
    return known


def is_constructed(data: Any) -> bool:
    """Whether a lightgbm.Dataset is constructed, after which it may drop labels."""
    return bool(getattr(data, "_handle", None) or getattr(data, "handle", None))  # 4.x, 3.x


def calling_booster() -> Any:
    """The Booster that calls an objective or metric, found on the stack; None if there is none.

    The data set that they are called with does not have the parameters of the training.
    """
    frame = sys._getframe(1)
    for _ in range(10):
        if frame.f_back is None:
            return None
        frame = frame.f_back
        library = str(frame.f_globals.get("__name__")).partition(".")[0]
        # Reading the locals of a frame keeps them alive, so do not read those of users.
        if library in ("lightgbm", "xgboost") and "self" in frame.f_code.co_varnames:
            caller: Any = frame.f_locals.get("self")
            if type(caller).__name__ == "Booster":
                return caller
    return None


def is_called_by_xgb_ranker() -> bool:
    """Whether XGBRanker calls a metric, with one query: it weights the values by query size."""
    caller = sys._getframe(2)
    module, function = caller.f_globals.get("__name__"), caller.f_code.co_name
    return (module, function) == ("xgboost.sklearn", "task")
