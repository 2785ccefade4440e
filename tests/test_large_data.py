"""Data that does not fit in memory: batches, files and sequences give the same gradients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import Recorder, Small, graded

import lambdaplus as lp
from lambdaplus import lambda_objective


def one_long_query() -> Small:
    """A query of 3,000 rows between short ones."""
    random = np.random.default_rng(0)
    sizes = np.array([20, 3000, 7, 40])
    features = random.normal(size=(sizes.sum(), 4))
    labels = np.digitize(features[:, 0] + 0.5 * random.normal(size=sizes.sum()), [1.0, 2.0])
    return Small(features, labels.astype(np.float64), sizes)


both_kinds = pytest.mark.parametrize(
    "data", [graded(), one_long_query()], ids=["short", "one long query"]
)


def external(data: Small, ends: Any, folder: Path, ranking: bool = True) -> Any:
    """An ExtMemQuantileDMatrix of batches that end at these rows."""
    xgb = pytest.importorskip("xgboost", minversion="3")

    class Batches(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(cache_prefix=str(folder / "cache"))
            self.at = 0

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self.at == len(ends):
                return False
            rows = slice(ends[self.at - 1] if self.at else 0, ends[self.at])
            self.at += 1
            more = {"qid": data.qid[rows]} if ranking else {}
            input_data(data=data.features[rows], label=data.labels[rows], **more)
            return True

        def reset(self) -> None:
            self.at = 0

    return xgb.ExtMemQuantileDMatrix(Batches())


@both_kinds
def test_external_memory_has_the_same_queries_and_gradients(data: Small, tmp_path: Path) -> None:
    ends = np.cumsum(data.sizes)[[0, 1, -2, -1]]
    given = external(data, ends, tmp_path)
    assert_array_equal(np.diff(given.get_uint_info("group_ptr").astype(int)), data.sizes)
    for metric in ("auc", "ndcg@10"):
        objective = lambda_objective(metric)
        expected = objective(data.labels, data.scores(), None, data.sizes)
        found = objective(data.scores().astype(np.float32), given)
        for one, other, factor in zip(found, expected, (1, 2), strict=True):
            assert_array_equal(one, factor * other)  # XGBoost gets twice the Hessian


def test_external_memory_without_queries_is_one_ranking(tmp_path: Path) -> None:
    data = graded()
    binary = Small(data.features, data.binary.astype(float), data.sizes)
    given = external(binary, [7, 300, 301, data.n], tmp_path, ranking=False)
    expected = lp.lambda_map(binary.labels, data.scores())
    for one, other in zip(lp.lambda_map(data.scores(), given), expected, strict=True):
        assert_array_equal(one, other)


@both_kinds
@pytest.mark.parametrize("kind", ["sequence", "binary file"])
def test_sequences_and_binary_files_train_the_same_model(
    kind: str, data: Small, tmp_path: Path
) -> None:
    lgb = pytest.importorskip("lightgbm", minversion="4")

    class Rows(lgb.Sequence):  # type: ignore[misc]
        batch_size = 100

        def __init__(self, values: Any) -> None:
            self.values = values

        def __getitem__(self, index: Any) -> Any:
            return self.values[index]

        def __len__(self) -> int:
            return len(self.values)

    plain = lgb.Dataset(data.features, data.labels, group=data.sizes)
    if kind == "sequence":  # two, the cut within a query
        halves = np.split(data.features, [data.n // 2 + 3])
        given = lgb.Dataset([*map(Rows, halves)], data.labels, group=data.sizes)
    else:
        file = tmp_path / "train.bin"
        lgb.Dataset(data.features, data.labels, group=data.sizes).save_binary(file)
        given = lgb.Dataset(file)
    models, scores = [], []
    for dataset in (plain, given):
        recorder = Recorder(lambda_objective("ndcg@10"), lambda scores, data: scores.copy())
        params = {"verbose": -1, "num_threads": 1, "deterministic": True, "objective": recorder}
        models.append(lgb.train(params, dataset, 5))
        scores.append(recorder.seen)
    assert_allclose(*scores, rtol=1e-9, atol=1e-12)
    here, there = (model.predict(data.features) for model in models)
    assert_allclose(here, there, rtol=1e-9, atol=1e-12)
    assert np.ptp(here) > 0.1
