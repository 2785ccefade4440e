"""Whole queries on each Dask worker.

LightGBM's and XGBoost's Dask interfaces call an objective on each worker with that worker's rows.
All rows of a query have to be on one worker.  Otherwise its parts are ranked separately, without an
error: LightGBM uses partitions as they are, XGBoost splits queries at the ends of partitions.
`partition_by_qid` distributes whole queries; `refuse_cut_queries` raises an error if partitions
split a query.  Data without queries need none of this with XGBoost.

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

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

try:
    import dask
    from dask import dataframe as _  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError("Dask is not installed: pip install 'lambdaplus[dask]'") from error


class QueryPartitions(NamedTuple):
    """Ranking data for the Dask interfaces; all parts have the same rows in each partition.

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
        Rows in any order.  They are shuffled, and the result is kept in the workers' memory, in as
        many partitions (fewer if there are fewer queries): have at least one for each worker.
    qid, label : str
        Columns with the query and the relevance label; all other columns are features.
    weight : str, optional
        Column of row weights.

    Raises
    ------
    KeyError
        For columns that are not in the frame.
    ValueError
        For rows without a qid.

    Notes
    -----
    The parts are passed to LightGBM and XGBoost (``client`` is a ``dask.distributed.Client``)::

        ranker = lightgbm.DaskLGBMRanker(objective=lambda_objective("ndcg@10"), metric="None")
        ranker.fit(parts.X, parts.y, group=parts.group)

        data = xgboost.dask.DaskQuantileDMatrix(client, parts.X, parts.y, qid=parts.qid)
        xgboost.dask.train(client, {"base_score": 0.0}, data, obj=lambda_objective("ndcg@10"))
    """
    columns = [column for column in (qid, label, weight) if column]
    if bool(frame[columns][qid].isna().any().compute()):
        raise ValueError(f"{qid} is missing in some rows: every row needs its query")
    # All rows with the same index value are in the same partition, for any divisions.
    frame = frame.set_index(qid, drop=False, npartitions=frame.npartitions).persist()
    return QueryPartitions(
        X=frame.drop(columns=columns),
        y=frame[label],
        qid=frame[qid],
        group=frame[qid].map_partitions(_sizes, meta=("group", np.int64), enforce_metadata=False),
        weight=None if weight is None else frame[weight],
    )


def refuse_cut_queries(qid: Any) -> None:
    """Raise a ValueError if a query is split between partitions or its rows are not adjacent.

    Parameters
    ----------
    qid : dask Series or Array, (n,)
        Query identifiers of the training data, in its order.
    """
    first_rows = dask.compute(*[dask.delayed(_one_per_run)(part) for part in qid.to_delayed()])
    ids, runs = np.unique(np.concatenate(first_rows), return_counts=True)
    if (runs > 1).any():
        raise ValueError(
            f"query {ids[runs > 1][0]} is split between partitions, or has rows that are not "
            f"adjacent ({int((runs > 1).sum())} of {ids.size} queries are): partition the rows "
            "with lambdaplus.dask.partition_by_qid"
        )


def _one_per_run(part: Any) -> Any:
    """The query of each run of rows with the same one."""
    ids = np.asarray(part)
    return ids[np.append(True, ids[1:] != ids[:-1])[: ids.size]]


def _sizes(part: Any) -> Any:
    return part.groupby(part.to_numpy(), sort=False).size().astype(np.int64).reset_index(drop=True)
