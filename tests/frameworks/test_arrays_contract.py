"""Objectives and metrics on arrays: what they refuse, and what they warn of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from contracts import Raises, Rows, Warns, contract, hold
from small_trainings import forms

import lambdaplus as lp
from lambdaplus import eval_metric, lambda_objective
from lambdaplus.lists.queries import Queries


def call(labels: Any, scores: Any, weight: Any, group: Any) -> Any:
    return forms(None, lambda made: made(labels, scores, weight, group))


LONG, OTHER = np.array([2]), lp.lambda_map.on([1, 0])
ARRAYS: Rows = {
    "NaN score": (lambda: call([1, 0], [0.0, np.nan], None, [2]), Raises("finite.*nan in row 1")),
    "sizes": (lambda: call([1, 0], [0, 1], None, [3]), Raises("add up to 3, but there are 2 rows")),
    "weight": (lambda: call([1, 0], [0, 1], [1, -1], LONG), Raises("negative: -1.0 in row 1")),
    "label below 0": (lambda: call([1, -1], [0, 1], None, LONG), Raises("needs labels >= 0.*-1")),
    "huge label": (lambda: call([1, 1000], [0, 1], None, LONG), Raises("not fit a float64; use g")),
    "option": (lambda: lambda_objective("ndcg", gian=1), Raises("no option 'gian'; it has: gain")),
    "surrogate": (lambda: lambda_objective("ndcg", surrogate="ndgc"), Raises("metric 'ndgc'")),
    "sigma": (lambda: lambda_objective("ndcg", sigma=0), Raises("sigma must be a number at least")),
    "balance": (lambda: lambda_objective("ndcg", balance=1.1), Raises("and at most 1, got 1.1")),
    "weight of a part": (lambda: lambda_objective("1e39*map"), Raises("and at most 1e.06")),
    **{
        f"{metric} without a value": (
            lambda metric=metric: eval_metric(metric)([0] * 4, [1, 2, 3, 4], None, [2, 2]),
            Raises(f"{metric} has no value on any query"),
        )
        for metric in ("auc", "mauc", "map", "mrr", "ndcg")
    },
    "ERR of many labels": (  # without the gradient, which takes a second
        lambda: lambda_objective("err")._gradient_on(Queries(np.arange(500) / 200, group=[500])),
        Warns("err visits the documents .* for each pair of its labels, .* 500: .* a second"),
    ),
    "NDCG of many labels":
        (lambda: lp.lambda_ndcg(np.arange(500) / 200, np.zeros(500), None, [500])[0].size, 500),
    **{
        f"{metric} of {labels}": (
            lambda metric=metric, labels=labels, group=group: lambda_objective(metric)(
                labels, np.zeros(3), None, group
            ),
            Warns(f"{metric} has nothing to rank, so its gradient is zero"),
        )
        for metric, labels, group in (
            ("auc", [1, 1, 1], None), ("auc", [0, 0, 0], None), ("map", [0, 0, 0], None),
            ("ndcg", [2, 2, 2], [3]), ("ndcg", [0, 1, 1], [1, 2]), ("cindex", [-1, -2, -3], None),
        )
    },
    **{
        f"a Hessian that overflows: {given}": (
            lambda given=given, weight=weight: lambda_objective("dcg", **given)(
                [1, 0, 2], np.arange(3), weight, [3]
            ),
            Raises("dcg.* with sigma=.* has Hessians that would be too large: divide"),
        )
        for given, weight in (
            ({"sigma": 1e15, "gain": [0, 1e280, 1e281]}, None),
            ({"sigma": 1e12, "gain": [0, 1e14, 1e15], "normalize": False}, None),
            ({"sigma": 1e10}, [1, 1e30, 1]),
        )
    },
    "surrogate='default'":
        (lambda: lambda_objective("mrr", surrogate="default"), Raises("unknown metric 'default'")),
    "weights of one class":
        (lambda: lp.lambda_auc([1, 0], [0, 1], [1, 0]), Raises("but one have weight 0")),
    "labels of its own, and other rows":
        (lambda: [OTHER([1, 0], [0, 1], None, LONG), OTHER([0, 1], [0, 1], None, LONG)],
         Raises("is for the rows of another data set")),
    "gains whose sums overflow": (
        lambda: lambda_objective("dcg(gain=linear)")([1e308, 1e308, 0, 3], np.arange(4), None, [4]),
        Raises("too large for its gradient: divide the labels"),
    ),
    "gains that float32 cannot hold": (
        lambda: lambda_objective("dcg(gain=linear)", normalize=False)(
            [1e35, 1e35, 0, 3], np.arange(4), None, [4]
        ),
        Raises("too large for its gradient: divide the labels"),
    ),
}  # fmt: skip


@contract(ARRAYS)
def test_arrays(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
