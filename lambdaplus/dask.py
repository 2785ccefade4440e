"""Ranking data for the Dask interfaces of LightGBM and XGBoost.

These call an objective on each worker with the rows of that worker, so all rows of a query have to
be on one worker.  Otherwise the parts of a query are ranked separately, without an error.  For data
without queries, use XGBoost, where rows may be on any worker.

Examples
--------
>>> import pandas as pd
>>> import dask.dataframe as dd
>>> from lambdaplus.dask import partition_by_qid
>>> rows = pd.DataFrame({"qid": [3, 1, 3, 2], "label": [1, 0, 0, 1], "x": [0.1, 0.2, 0.3, 0.4]})
>>> parts = partition_by_qid(dd.from_pandas(rows, npartitions=2), qid="qid", label="label")
>>> parts.qid.compute().tolist(), parts.group.compute().tolist()
([1, 2, 3, 3], [1, 1, 2])
"""

from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compute.extras import installation

try:
    from dask import dataframe as _  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError(f"Dask is not installed: {installation('dask')}") from error


class QueryPartitions(NamedTuple):
    """The result of `partition_by_qid`; all parts have the same rows in each partition.

    Attributes
    ----------
    X : dask DataFrame, (n, f)
    y : dask Series, (n,)
    qid : dask Series, (n,)
        Non-decreasing query identifiers, for XGBoost.
    group : dask Series, (n_queries,)
        Number of rows of each query, for LightGBM.
    weight : dask Series, (n,), or None
        For LightGBM; XGBoost's Dask interface does not support weights for data with queries.
    """

    X: Any
    y: Any
    qid: Any
    group: Any
    weight: Any


def partition_by_qid(
    frame: Any, *, qid: str, label: str, weight: str | None = None
) -> QueryPartitions:
    """Sort rows by query and distribute them to partitions of whole queries.

    Parameters
    ----------
    frame : dask DataFrame
        Rows in any order, in at least as many partitions as there are workers.
    qid, label : str
        Columns with the query and the relevance label; all other columns are features.
    weight : str, optional
        Column of row weights.

    Returns
    -------
    QueryPartitions
        Kept in the workers' memory, in as many partitions as the frame, or fewer if there are
        fewer queries.

    Raises
    ------
    KeyError
        For columns that are not in the frame.
    ValueError
        For rows without a query.

    Notes
    -----
    Pass the parts to LightGBM or XGBoost (``client`` is a ``dask.distributed.Client``)::

        ranker = lightgbm.DaskLGBMRanker(objective=lambda_objective("ndcg@10"), metric="None")
        ranker.fit(parts.X, parts.y, group=parts.group)

        data = xgboost.dask.DaskQuantileDMatrix(client, parts.X, parts.y, qid=parts.qid)
        xgboost.dask.train(client, {"base_score": 0.0}, data, obj=lambda_objective("ndcg@10"))
    """
    columns = [column for column in (qid, label, weight) if column]
    if bool(frame[columns][qid].isna().any().compute()):
        raise ValueError(f"{qid} is missing in some rows: each row needs a query")
    # Dask puts all rows with the same index value into one partition.
    frame = frame.set_index(qid, drop=False, npartitions=frame.npartitions).persist()
    return QueryPartitions(
        X=frame.drop(columns=columns),
        y=frame[label],
        qid=frame[qid],
        group=frame[qid].map_partitions(_sizes, meta=("group", np.int64), enforce_metadata=False),
        weight=None if weight is None else frame[weight],
    )


def _sizes(part: Any) -> Any:
    return part.groupby(part.to_numpy(), sort=False).size().astype(np.int64).reset_index(drop=True)
