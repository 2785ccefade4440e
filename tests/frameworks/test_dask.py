"""Objectives on two Dask workers: queries are not split, and models are as good as elsewhere."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_data import GRADED, Small, rare

import lambdaplus as lp

lgb = pytest.importorskip("lightgbm", minversion="4")
xgb = pytest.importorskip("xgboost", minversion="3")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe")

import xgboost.dask  # noqa: E402, F401

from lambdaplus.dask import partition_by_qid  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Parameter .* will be ignored:UserWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # Compiled once, not on each worker.
    lp.lambda_ndcg(GRADED.labels, GRADED.scores(), None, GRADED.sizes)
    options: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", **options
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def frame(data: Small) -> Any:
    columns = {f"f{i}": column for i, column in enumerate(data.features.T)}
    return pd.DataFrame({**columns, "qid": data.qid, "label": data.labels})


def shuffled(data: Small) -> Any:
    return frame(data).sample(frac=1, random_state=0, ignore_index=True)


# -- partitions ----------------------------------------------------------------------------------


def pieces(series: Any) -> list[Any]:
    return [series.get_partition(i).compute() for i in range(series.npartitions)]


def test_partitions_hold_whole_queries_and_every_row_once() -> None:
    rows = shuffled(GRADED).assign(row=np.arange(GRADED.n), w=np.arange(GRADED.n) + 1.0)
    given = dd.from_pandas(rows, npartitions=5)
    parts = partition_by_qid(given, qid="qid", label="label", weight="w")
    assert parts.X.npartitions == parts.group.npartitions == 5
    assert list(parts.X.columns) == [*(f"f{i}" for i in range(5)), "row"]
    order = parts.X["row"].compute().to_numpy()
    assert_array_equal(np.sort(order), np.arange(GRADED.n))
    for column, found in (("qid", parts.qid), ("label", parts.y), ("w", parts.weight)):
        assert_array_equal(found.compute(), rows[column].to_numpy()[order])
    assert_array_equal(parts.group.compute(), GRADED.sizes)
    for qid, group, X in zip(pieces(parts.qid), pieces(parts.group), pieces(parts.X), strict=True):
        assert_array_equal(np.unique(qid, return_counts=True)[1], group)
        assert len(X) == group.sum() > 0


def test_qids_may_be_text_and_fewer_than_partitions() -> None:
    rows = shuffled(GRADED.queries(0, 2))
    rows["qid"] = "query " + rows["qid"].astype(str)
    parts = partition_by_qid(dd.from_pandas(rows, npartitions=6), qid="qid", label="label")
    assert all(len(part) for part in pieces(parts.qid))
    assert_array_equal(parts.group.compute(), rows.groupby("qid").size())


def test_frames_that_cannot_be_partitioned_raise() -> None:
    rows = shuffled(GRADED)
    without_qid = rows.assign(qid=rows["qid"].where(rows["qid"] > 3))
    for given, message in (
        (rows.drop(columns=["label"]), "label"),
        (without_qid, "missing in some rows"),
    ):
        with pytest.raises((KeyError, ValueError), match=message):
            partition_by_qid(dd.from_pandas(given, npartitions=4), qid="qid", label="label")


# -- training: what Dask distributes; what the workers do then is in test_workers.py --------------


class Kept:
    """Passes on to an objective, and keeps in a folder the queries that each worker gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, scores: Any, data: Any) -> Any:
        bounds = data.get_uint_info("group_ptr")
        np.savez(self.folder / f"{os.getpid()}.npz", labels=data.get_label(), bounds=bounds)
        return lp.lambda_ndcg(scores, data)

    def queries(self) -> list[set[tuple[float, ...]]]:
        workers = [np.load(file) for file in self.folder.iterdir()]
        return [queries_of(worker["labels"], worker["bounds"]) for worker in workers]


def queries_of(labels: Any, bounds: Any) -> set[tuple[float, ...]]:
    parts = np.split(labels.astype(np.float32), bounds.astype(int)[1:-1])
    return {tuple(np.sort(part)) for part in parts}


@pytest.mark.slow
def test_xgboost_has_whole_queries_on_each_worker(client: Any, tmp_path: Path) -> None:
    data = GRADED
    data = Small(data.features, np.arange(data.n) / 1000.0, data.sizes)  # each query its own
    expected = queries_of(data.labels, np.cumsum([0, *data.sizes]))
    given = dd.from_pandas(shuffled(data), npartitions=4)
    parts = partition_by_qid(given, qid="qid", label="label")
    raw = dd.from_pandas(frame(data), npartitions=4)
    as_they_come = (raw.drop(columns=["qid", "label"]), raw["label"], raw["qid"])
    params = {"base_score": 0.0, "nthread": 1}
    for whole, (X, y, qid) in ((True, parts[:3]), (False, as_they_come)):
        kept = Kept(tmp_path / str(whole))
        kept.folder.mkdir()
        matrix = xgb.dask.DaskQuantileDMatrix(client, X, y, qid=qid)
        xgb.dask.train(client, params, matrix, num_boost_round=1, obj=kept)
        found = kept.queries()
        assert len(found) == 2
        assert (set.union(*found) == expected) == whole


@pytest.mark.slow
def test_lightgbm_without_queries_is_refused(client: Any) -> None:
    data = rare()[0]
    rows = pd.DataFrame(data.features).add_prefix("f").assign(label=data.labels)
    # So many that each worker has some: LightGBM may train on a single machine.
    rows = client.persist(dd.from_pandas(rows, npartitions=16))
    distributed.wait(rows)
    assert len({worker for held in client.who_has(rows).values() for worker in held}) == 2
    ranker = lgb.DaskLGBMRegressor(
        client=client, objective=lp.lambda_map, n_estimators=2, verbose=-1
    )
    with pytest.raises(ValueError, match="LightGBM trains on 2 machines"):
        ranker.fit(rows.drop(columns=["label"]), rows["label"])
