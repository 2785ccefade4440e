"""What every ranking set of the library looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray


# eq=False: comparing arrays field by field has no single truth value, so two sets are equal only
# when they are the same object.
@dataclass(frozen=True, slots=True, eq=False)
class RankingData:
    """Documents with features and relevance labels, the rows of one query next to each other.

    Parameters
    ----------
    features : ndarray of shape (n, f), float64
        One row for each query-document pair; NaN marks a value that is not known. A SciPy sparse
        matrix becomes one in CSR form, whose absent values are 0.
    labels : ndarray of shape (n,), float64
        Relevance grades; the higher, the more relevant.
    qid : ndarray of shape (n,), int or str
        The query each row belongs to.
    name : str, default=""
        What to call the set in tables and messages.

    Raises
    ------
    ValueError
        If there are no rows, a shape is wrong or the lengths differ, a label is not finite, a qid
        is neither int nor str, or the rows of one query are split by another query's.

    Notes
    -----
    `features`, `labels` and `qid` may be anything NumPy turns into such an array; an array that
    has the right dtype already is kept without a copy.

    Examples
    --------
    >>> from lambdaplus.datasets import RankingData
    >>> data = RankingData([[0.1], [0.7], [0.4]], labels=[0, 2, 1], qid=["a", "a", "b"])
    >>> data.n_queries, data.group.tolist()
    (2, [2, 1])
    """

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    qid: NDArray[Any]
    name: str = ""

    def __post_init__(self) -> None:
        # A frozen dataclass can be filled in only this way.
        features: Any = self.features
        if self.is_sparse:
            features = features.tocsr().astype(np.float64, copy=False)
        else:
            features = np.asarray(features, dtype=np.float64)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", np.asarray(self.labels, dtype=np.float64))
        object.__setattr__(self, "qid", np.asarray(self.qid))
        if self.features.ndim != 2 or self.labels.ndim != 1 or self.qid.ndim != 1:
            raise ValueError(
                "features must be 2-D, labels and qid 1-D; their shapes are "
                f"{self.features.shape}, {self.labels.shape} and {self.qid.shape}"
            )
        lengths = self.features.shape[0], len(self.labels), len(self.qid)
        if len(set(lengths)) != 1:
            raise ValueError("features, labels and qid have {}, {} and {} rows".format(*lengths))
        if not len(self.labels):
            raise ValueError("a ranking set needs at least one row")
        if self.qid.dtype.kind not in "iuU":
            raise ValueError(f"qid must hold int or str, not {self.qid.dtype}")
        finite = np.isfinite(self.labels)
        if not finite.all():
            row = int(finite.argmin())
            raise ValueError(f"labels must be finite; row {row} is {self.labels[row]}")
        self._check_contiguous()

    def _check_contiguous(self) -> None:
        starts = self.qid[self._starts()]
        queries, counts = np.unique(starts, return_counts=True)
        if len(queries) != len(starts):
            raise ValueError(
                f"the rows of query {queries[counts > 1][0]} are split by another query's; sort "
                "the rows by query first, e.g. with np.argsort(qid, kind='stable')"
            )

    def _starts(self) -> NDArray[np.int64]:
        changes = np.flatnonzero(self.qid[1:] != self.qid[:-1]) + 1
        return np.concatenate([[0], changes]).astype(np.int64)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are a SciPy CSR matrix."""
        return hasattr(self.features, "tocsr")

    @property
    def dense_features(self) -> NDArray[np.float64]:
        """The features as an array; a sparse matrix is copied into one."""
        features: Any = self.features
        return cast("NDArray[np.float64]", features.toarray() if self.is_sparse else features)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self._starts())

    @property
    def group(self) -> NDArray[np.int64]:
        """Rows of each query, in order: (n_queries,) int64, as LightGBM's and XGBoost's `group`."""
        return np.diff(self._starts(), append=len(self.qid))

    def take_queries(self, queries: ArrayLike) -> RankingData:
        """The rows of some queries, counted from 0 in order of the rows: a copy."""
        starts, group = self._starts(), self.group
        chosen = np.asarray(queries, dtype=np.int64)
        # Row k of the i-th chosen query is starts[i] + k; the rows before it are `before`.
        before = np.cumsum(group[chosen]) - group[chosen]
        rows = np.arange(group[chosen].sum()) + np.repeat(starts[chosen] - before, group[chosen])
        return RankingData(self.features[rows], self.labels[rows], self.qid[rows], self.name)

    def renamed(self, name: str) -> RankingData:
        """The same set, nothing copied, under another name."""
        return replace(self, name=name)


def join(parts: Sequence[RankingData], name: str = "") -> RankingData:
    """The rows of several sets, equally wide, one after the other.

    Raises
    ------
    ValueError
        If they are not equally wide, or a query is in two of them.

    Examples
    --------
    >>> from lambdaplus.datasets import RankingData
    >>> from lambdaplus.datasets.ranking_data import join
    >>> join([RankingData([[q]], labels=[1], qid=[q]) for q in (1, 2)]).qid.tolist()
    [1, 2]
    """
    features: Any
    if any(part.is_sparse for part in parts):
        from scipy.sparse import vstack

        features = vstack([part.features for part in parts], format="csr")
    else:
        features = np.concatenate([part.features for part in parts])
    labels, qid = (np.concatenate([getattr(p, key) for p in parts]) for key in ("labels", "qid"))
    return RankingData(features, labels, qid, name)


@dataclass(frozen=True, slots=True)
class Fold:
    """One split of a ranking set into queries to train on, to tune on and to test on.

    Parameters
    ----------
    name : str
        Such as "Fold1".
    train, valid, test : RankingData
        The three parts; equally wide.

    Raises
    ------
    ValueError
        If the parts differ in their number of features.

    Examples
    --------
    >>> from lambdaplus.datasets import Fold, RankingData
    >>> part = RankingData([[0.1], [0.7]], labels=[0, 1], qid=[1, 1])
    >>> Fold("Fold1", train=part, valid=part, test=part).train.n_queries
    1
    """

    name: str
    train: RankingData
    valid: RankingData
    test: RankingData

    def __post_init__(self) -> None:
        widths = [part.features.shape[1] for part in (self.train, self.valid, self.test)]
        if len(set(widths)) != 1:
            raise ValueError(
                f"{self.name}: train, valid and test have {widths[0]}, {widths[1]} and "
                f"{widths[2]} features"
            )
