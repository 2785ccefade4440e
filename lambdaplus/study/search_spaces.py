"""What a random search draws the parameters of a method from."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Range:
    """Numbers between two bounds, which are included."""

    low: float
    high: float
    log: bool = False  # uniform on a log scale
    integer: bool = False
    like: str = ""  # parameters of different names get the same draws if this is equal

    def at(self, share: float) -> float | int:
        """The number at this share of the range, in [0, 1)."""
        low, high = self.low, self.high + self.integer  # the same share for each integer
        number = low * (high / low) ** share if self.log else low + share * (high - low)
        return min(int(number), int(self.high)) if self.integer else float(f"{number:.4g}")


Draw = Range | Sequence[Any]
"""The numbers of a range, or one of several values with equal probabilities."""

Space = Mapping[str, Draw]


def draw(space: Space, seed: int, trial: int) -> dict[str, Any]:
    """Draw one set of parameters.

    A draw depends only on the seed, the number of the trial and the name of the parameter.
    Therefore all methods get the same values of the parameters that all trees have in common, and a
    new parameter does not change the draws of the others.
    """
    drawn = {}
    for name, values in space.items():
        like = getattr(values, "like", "") or name
        share = np.random.default_rng([seed, trial, zlib.crc32(like.encode())]).random()
        drawn[name] = (
            values.at(share) if isinstance(values, Range) else values[int(share * len(values))]
        )
    return drawn


# Parameters that all trees have in common ---------------------------------------------------------

LEAVES = Range(3, 64, log=True, integer=True, like="leaves")
RATE = Range(0.03, 0.3, log=True, like="rate")
DOCUMENTS = Range(1, 100, log=True, integer=True, like="documents")
FEATURES = Range(0.2, 1.0, like="features")
L2 = Range(0.01, 30.0, log=True, like="l2")
ROWS = Range(0.4, 1.0, like="rows")
YES_OR_NO = (False, True)

LIGHTGBM: Space = {
    "num_leaves": LEAVES,
    "learning_rate": RATE,
    "min_data_in_leaf": DOCUMENTS,
    "feature_fraction_bynode": FEATURES,
    "lambda_l2": L2,
    "bagging_fraction": ROWS,
    "bagging_freq": (1,),
    "extra_trees": YES_OR_NO,
    # With it, LightGBM drops features that it cannot split, and raises an error if none is left.
    "feature_pre_filter": (False,),
}
XGBOOST: Space = {
    "max_leaves": LEAVES,
    "learning_rate": RATE,
    # A bound on the sum of Hessians in a leaf, which are about 1/20 for most documents.
    "min_child_weight": Range(0.05, 5.0, log=True, like="documents"),
    "colsample_bynode": FEATURES,
    "lambda": L2,
    "subsample": ROWS,
}

# Options of single objectives ---------------------------------------------------------------------

LAMBDA_OBJECTIVE: Space = {
    "sigma": Range(0.3, 3.0, log=True),
}
BY_QUERY: Space = {"bagging_by_query": YES_OR_NO}  # not ours
LAMBDARANK: Space = {
    **BY_QUERY,
    "lambdarank_truncation_level": Range(5, 100, log=True, integer=True),
    "sigmoid": Range(0.3, 3.0, log=True, like="sigma"),
    "lambdarank_norm": YES_OR_NO,
}
XGBOOST_PAIRS: Space = {
    "lambdarank_pair_method": ("topk", "mean"),
    "lambdarank_num_pair_per_sample": Range(1, 64, log=True, integer=True),
}
