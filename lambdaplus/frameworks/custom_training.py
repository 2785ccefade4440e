"""Parameters of a training that a custom objective makes useless or wrong."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

# Read by the frameworks' own objectives only, as is everything that begins with lambdarank_.
# XGBoost itself warns of some of these.
_OF_BUILT_IN_OBJECTIVES = {
    "label_gain", "sigmoid", "objective_seed", "boost_from_average", "reg_sqrt", "is_unbalance",
    "scale_pos_weight", "ndcg_exp_gain",
}  # fmt: skip


def warn_of_unused(params: Mapping[str, Any], objective: Any, stacklevel: int) -> None:
    """Warn of parameters that have no effect on a custom objective."""
    for name, value in params.items():
        unused = name in _OF_BUILT_IN_OBJECTIVES or name.startswith("lambdarank_")
        if unused and value is not None:
            warnings.warn(
                f"{name} has no effect with {objective!r}: only built-in objectives read it. "
                "lambda_objective(...) has options of its own (a cutoff 'ndcg@30', gain=, sigma=, "
                "normalize=), and rows may have weights",
                stacklevel=stacklevel,
            )


def refuse_bagging_by_query(params: Mapping[str, Any]) -> None:
    """Raise a ValueError if these LightGBM parameters enable bagging by query."""
    if str(params.get("bagging_by_query", False)).strip().lower() in {"true", "+", "1"}:
        raise ValueError(
            "with bagging_by_query=True, LightGBM learns nothing from a custom objective (it is "
            "supported by built-in objectives only): set it to False; bagging by rows works"
        )
