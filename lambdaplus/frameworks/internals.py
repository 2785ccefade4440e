"""The private interfaces of LightGBM and XGBoost that are used, all in this file.

Neither framework is imported before it is needed.
"""

from __future__ import annotations

import sys
from typing import Any


def lightgbm_parameter(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """The value that is set for one of LightGBM's parameters, under any of its names."""
    return next((params[alias] for alias in lightgbm_aliases(name) if alias in params), default)


def lightgbm_aliases(name: str) -> list[str]:
    """All names of one of LightGBM's parameters."""
    from lightgbm import basic

    return [name, *sorted(basic._ConfigAliases.get(name) - {name})]


def lightgbm_parameters() -> dict[str, list[str]]:
    """The aliases of each of LightGBM 4's parameters, by its name.

    LightGBM ignores a parameter that it does not know, and all but one of several aliases, without
    an error.
    """
    from lightgbm import basic

    try:
        known: dict[str, list[str]] = basic._ConfigAliases._get_all_param_aliases()
    except AttributeError:
        raise ImportError("this needs LightGBM 4: pip install 'lightgbm>=4'") from None
    return known


def is_constructed(data: Any) -> bool:
    """Whether a lightgbm.Dataset was given to the library, after which it may drop the labels."""
    return bool(getattr(data, "_handle", None) or getattr(data, "handle", None))  # 4.x, 3.x


def calling_booster() -> Any:
    """The framework's Booster that calls the caller of this, some frames above; None without one.

    Objectives and metrics are called with a data set alone, which does not know the parameters of
    the training, such as the number of threads.
    """
    frame = sys._getframe(1)
    for _ in range(10):
        if frame.f_back is None:
            return None
        frame = frame.f_back
        library = str(frame.f_globals.get("__name__")).partition(".")[0]
        # Reading a frame's locals keeps them alive: the user's frames are left alone.
        if library in ("lightgbm", "xgboost") and "self" in frame.f_code.co_varnames:
            caller: Any = frame.f_locals.get("self")
            if type(caller).__name__ == "Booster":
                return caller
    return None


def is_called_by_xgb_ranker() -> bool:
    """Whether XGBRanker calls the caller of this with one query.

    XGBRanker wraps a callable metric in a function of its own, which calls it query by query and
    weights the values by query size; nothing that it passes says so.
    """
    caller = sys._getframe(2)
    module, function = caller.f_globals.get("__name__"), caller.f_code.co_name
    return (module, function) == ("xgboost.sklearn", "task")
