"""Parameters of trees that suit rankings, for LightGBM and XGBoost.

The default parameters of both frameworks suit clean labels.  In a ranking, the gradients of
a query are made of the same few relevant documents, so trees overfit them: smaller trees on a part
of the rows and columns improve the metrics of test queries, with any objective.  Columns are drawn
anew for each node, so that a tree can split by any two features that act together.

Examples
--------
>>> from lambdaplus import ranking_trees
>>> ranking_trees("lightgbm")["subsample"]
0.5
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


SIZES = {
    "small": Trees(8, 0.05, 0.5, 0.5),
    "middle": Trees(16, 0.05, 0.5, 0.5),
    "large": Trees(31, 0.1, 0.5, 0.5),
    "table": Trees(16, 0.02, 0.8, 0.8),
}


def ranking_trees(
    framework: Literal["lightgbm", "xgboost"],
    size: Literal["small", "middle", "large", "table"] = "middle",
) -> dict[str, Any]:
    """Parameters of trees that suit rankings, for any objective.

    .. versionadded:: 0.3.0

    Parameters
    ----------
    framework : {"lightgbm", "xgboost"}
    size : {"small", "middle", "large", "table"}, default="middle"
        Small trees suit noisy labels and few queries, large ones clean labels.  Those of
        ``"table"`` suit tables without queries: middle ones that see more, with smaller steps.

    Returns
    -------
    dict
        Learning rate, leaves, the share of rows that is drawn for each tree, and that of columns
        for each node.  The names are those that both ``train`` and the estimators of the framework
        take.  The rounds are up to you: pass many, such as 1000, and stop early, after 50 rounds or
        more without a better validation value; for tables 2000 and 150.  In XGBoost, halve the
        learning rate for objectives that do not rank, such as log-loss.

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
    check_choice("framework", framework, ("lightgbm", "xgboost"))
    check_choice("size", size, tuple(SIZES))
    leaves, rate, rows, columns = SIZES[size]
    named: dict[str, dict[str, Any]] = {
        "lightgbm": {"num_leaves": leaves, "subsample": rows, "subsample_freq": 1,
                     "colsample_bynode": columns},
        "xgboost": {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide",
                    "subsample": rows, "colsample_bynode": columns},
    }  # fmt: skip
    if framework == "xgboost":
        # It doubles the Hessians of rankings, and so do objectives of lambdaplus there: half steps.
        rate *= 2
    return {"learning_rate": rate, **named[framework]}
