"""Objectives: the lambda-gradients of any declared metric, over all pairs in near-linear time.

A framework calls an `Objective` with scores and a data set, and gets gradient and Hessian of each
row; `gradients` is the same for plain arrays.  Between them lie the stages of `lambda_gradient`.

Examples
--------
>>> from lambdaplus.objectives import gradients
>>> gradient, hessian = gradients([1, 0, 0], [0.0, 1.0, 2.0], metric="map", group=[3])
>>> gradient.round(3).tolist()
[-0.709, 0.122, 0.587]
"""

from lambdaplus.objectives.lambda_gradient import Shape, gradients
from lambdaplus.objectives.objective import (
    CombinedObjective,
    LambdaObjective,
    Objective,
    combine,
    lambda_objective,
)

__all__ = [
    "CombinedObjective",
    "LambdaObjective",
    "Objective",
    "Shape",
    "combine",
    "gradients",
    "lambda_objective",
]
