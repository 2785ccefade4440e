"""Arrays on a GPU, by a stand-in for CuPy's: they are copied to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from small_data import graded

import lambdaplus as lp


class OnGPU:
    """Like cupy.ndarray, which NumPy cannot convert."""

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)
        self.dtype, self.shape, self.ndim = (
            self._values.dtype, self._values.shape, self._values.ndim,
        )  # fmt: skip
        self.__cuda_array_interface__ = {"shape": self.shape, "version": 3}

    def get(self) -> Any:
        return self._values.copy()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __len__(self) -> int:
        return len(self._values)


DATA = graded()
HOST = DATA.labels, DATA.scores(), DATA.row_weights, DATA.sizes


def test_an_objective_and_a_metric_take_them() -> None:
    given = [OnGPU(part) for part in HOST]
    for function in (lp.lambda_ndcg, lp.lambda_map):
        for one, other in zip(function(*given), function(*HOST), strict=True):
            assert_array_equal(one, other)
    assert lp.eval_ndcg(*given) == lp.eval_ndcg(*HOST)


def test_evaluate_takes_them() -> None:
    labels, scores, weight, group = map(OnGPU, HOST)
    options: dict[str, Any] = {"metrics": ["ndcg@10", "map"]}
    expected = lp.evaluate(*HOST[:2], weight=HOST[2], group=HOST[3], **options)
    by_group = lp.evaluate(labels, scores, weight=weight, group=group, **options)
    by_qid = lp.evaluate(labels, scores, weight=weight, qid=OnGPU(DATA.qid), **options)
    assert by_group.mean == by_qid.mean == expected.mean
