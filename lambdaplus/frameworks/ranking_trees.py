"""Parameters of trees that suit rankings, for LightGBM and XGBoost.

The default parameters of both frameworks suit clean labels.  In a ranking, the gradients of
a query are made of the same few relevant documents, so trees overfit them: smaller trees on a part
of the rows and columns improve the metrics of test queries, with any objective.  Columns are drawn
anew for each node, so that a tree can split by any two features that act together.  LightGBM can
also try each feature at one random threshold, which again improves them.

Examples
--------
>>> from lambdaplus import ranking_trees
>>> ranking_trees("lightgbm")["subsample"]
0.7
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from lambdaplus.compute.arguments import check_choice


class Trees(NamedTuple):
    """The parameters, by what they mean."""

    leaves: int
    learning_rate: float
    rows: float  # share that is drawn for each tree
    columns: float  # share that is drawn for each node
    random_thresholds: bool = False  # each feature is tried at one; LightGBM alone has them
    l2: float | None = None  # penalty of the values of leaves, if not the framework's default
    trees_a_round: int = 1  # whose mean is a step, which XGBoost alone has


_MIDDLE = Trees(16, 0.05, 0.7, 0.7, random_thresholds=True, l2=1.0)
_TABLE = Trees(16, 0.02, 0.8, 0.8)
TREES = {
    "lightgbm": {
        "small": _MIDDLE._replace(leaves=8),
        "middle": _MIDDLE,
        "large": _MIDDLE._replace(leaves=31, learning_rate=0.1),
        "table": _TABLE,
        "few": _MIDDLE,
    },
    "xgboost": {
        "small": Trees(8, 0.05, 0.5, 0.5),
        "middle": Trees(16, 0.05, 0.5, 0.5),
        "large": Trees(31, 0.1, 0.5, 0.5),
        "table": _TABLE,
        "few": Trees(16, 0.025, 0.5, 0.5, trees_a_round=2),
    },
}
SIZES = tuple(TREES["lightgbm"])


def ranking_trees(
    framework: Literal["lightgbm", "xgboost"],
    size: Literal["small", "middle", "large", "table", "few"] = "middle",
) -> dict[str, Any]:
    """Parameters of trees that suit rankings, for any objective.

    .. versionadded:: 0.3.0

    Parameters
    ----------
    framework : {"lightgbm", "xgboost"}
    size : {"small", "middle", "large", "table", "few"}, default="middle"
        Small trees suit noisy labels and few queries, large ones clean labels.  Those of
        ``"table"`` suit tables without queries: middle ones that see more, with smaller steps.
        Those of ``"few"`` suit few features, categories and missing values, and lose nothing
        elsewhere: in XGBoost, each of twice as many steps is the mean of two trees, which takes
        two to five times as long.  In LightGBM, they are those of ``"middle"``.

    Returns
    -------
    dict
        Learning rate, leaves, the share of rows that is drawn for each tree, and that of columns
        for each node; in LightGBM, also random thresholds, at one of which each feature is tried,
        and the penalty of large leaf values.  The names are those that both ``train`` and the
        estimators of the framework take.  The rounds are up to you: pass many, such as 1000, and
        stop early, after 50 rounds or more without a better validation value; for tables 2000 and
        150.  In XGBoost, halve the learning rate for objectives that do not rank, such as log-loss.

    Raises
    ------
    ValueError
        For an unknown framework or size.

    Examples
    --------
    >>> from lambdaplus import ranking_trees
    >>> ranking_trees("xgboost")["max_leaves"]
    16
    """
    check_choice("framework", framework, tuple(TREES))
    check_choice("size", size, SIZES)
    trees = TREES[framework][size]
    shares = {"subsample": trees.rows, "colsample_bynode": trees.columns}
    more: dict[str, Any] = {} if trees.l2 is None else {"reg_lambda": trees.l2}
    if framework == "lightgbm":
        leaves: dict[str, Any] = {"num_leaves": trees.leaves, "subsample_freq": 1}
        more |= {"extra_trees": True} if trees.random_thresholds else {}
        return {"learning_rate": trees.learning_rate, **leaves, **shares, **more}
    leaves = {"max_leaves": trees.leaves, "max_depth": 0, "grow_policy": "lossguide"}
    more |= {"num_parallel_tree": trees.trees_a_round} if trees.trees_a_round > 1 else {}
    # It doubles the Hessians of rankings, and so do objectives of lambdaplus there: half steps.
    return {"learning_rate": 2 * trees.learning_rate, **leaves, **shares, **more}
