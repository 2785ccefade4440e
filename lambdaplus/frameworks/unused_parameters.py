"""Parameters of the frameworks that a custom objective does not read, and what to set instead."""

from collections.abc import Mapping
from typing import Any

from lambdaplus.compute.messages import warn

_WEIGHTS = (
    "AUC does not depend on the share of positives, and average precision is computed at the share "
    "in the data; to weigh rows, pass weights with the data (weight=, or sample_weight= to fit)"
)
_GAIN = "set the gains in the objective, as in 'ndcg(gain=0/1/3/7/15)@10' or gain='linear'"
_PAIRS = "all pairs are compared; the metric may have a cutoff, as in 'ndcg@30'"
_NDCG = "; the framework's own metric ndcg still reads it"

# Only built-in objectives read these, and all others that begin with lambdarank_.
_INSTEAD = {
    "label_gain": _GAIN + _NDCG,
    "ndcg_exp_gain": _GAIN + _NDCG,
    "sigmoid": "lambda_objective has sigma=",
    "lambdarank_norm": "lambda_objective has normalize=",
    "lambdarank_normalization": "lambda_objective has normalize=",
    "lambdarank_truncation_level": _PAIRS,
    "lambdarank_num_pair_per_sample": _PAIRS,
    "lambdarank_position_bias_regularization": "PositionBias has regularization=",
    "lambdarank_unbiased": "PositionBias learns the bias of positions",
    **dict.fromkeys(("is_unbalance", "unbalance", "unbalanced_sets", "scale_pos_weight"), _WEIGHTS),
    **dict.fromkeys(("objective_seed", "boost_from_average", "reg_sqrt"), "remove it"),
}


def warn_of_unused(params: Mapping[str, Any], objective: Any) -> None:
    """Warn of parameters that have no effect on a custom objective."""
    for name, value in params.items():
        instead = _INSTEAD.get(name, "remove it" if name.startswith("lambdarank_") else "")
        if instead and value is not None:
            warn(f"{name} has no effect with {objective!r}: {instead}")
