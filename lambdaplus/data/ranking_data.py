"""`RankingData`, the container of ranking data, and `Fold`, three of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.data.feature_rows import FeatureRows, SharedFeatures
from lambdaplus.lists.features import refuse_dates
from lambdaplus.lists.keys import identifiers
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.vectors import checked_array


@dataclass(frozen=True, eq=False)
class RankingData:
    """Documents with features and relevance labels; the rows of a query are adjacent.

    Parameters
    ----------
    features : array_like of shape (n, f)
        One row for each query-document pair, float64; NaN marks a missing value.
    labels : array_like of shape (n,)
        Relevance grades, float64; higher is more relevant.
    qid : array_like of shape (n,), int or str
        The query of each row.
    name : str, default=""
        Name of the data set in tables and messages.
    feature_names : tuple of str, default=()
        Names of the f features if they have names, as in a CSV or Parquet file.
    weights : array_like of shape (n,), optional
        Row weights, float64.
    categories : tuple of str, default=()
        Names of the features that are codes of categories, 0, 1, ... or NaN.
    grouped : bool, default=True
        False for a table without queries: all rows are one ranking, `qid` is 0 in each row, and a
        row of weight k counts as k rows.

    Attributes
    ----------
    queries : Queries
        Checked labels and boundaries of the queries.

    Raises
    ------
    ValueError
        If there are no rows, a shape is wrong or the lengths differ, features are sparse or not
        numbers, an array has masked entries, a label is not finite, a qid is neither int nor str,
        the rows of a query are not adjacent, two features have the same name, a category is no
        feature, or weights are negative or not finite.

    Examples
    --------
    >>> from lambdaplus.data import RankingData
    >>> data = RankingData([[0.1], [0.7], [0.4]], labels=[0, 2, 1], qid=["a", "a", "b"])
    >>> data.n_queries, data.group.tolist()
    (2, [2, 1])
    """

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    qid: NDArray[Any]
    name: str = ""
    feature_names: tuple[str, ...] = ()
    weights: NDArray[np.float64] | None = None
    categories: tuple[str, ...] = ()
    grouped: bool = True
    queries: Queries = field(init=False, repr=False)
    held_features: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        features = self.held_features
        if hasattr(features, "tocsr"):
            raise ValueError("features must be a dense array: pass features.toarray()")
        if not isinstance(features, FeatureRows):
            refuse_dates(features, "features")
            features = checked_array(features, "features").astype(np.float64, copy=False)
        qid, names = identifiers(self.qid), tuple(self.feature_names)
        queries = Queries(self.labels, qid=qid if self.grouped else None, weight=self.weights)
        if not self.grouped and qid.shape != queries.labels.shape:
            raise ValueError(f"qid has shape {qid.shape} for {queries.n_documents} labels")
        if qid.dtype.kind not in "iuU":
            raise ValueError(f"qid must be int or str, not {qid.dtype}")
        if len(features.shape) != 2 or features.shape[0] != queries.n_documents:
            raise ValueError(
                f"features must be 2-D with a row for each of the {queries.n_documents} labels, "
                f"not of shape {features.shape}"
            )
        if len(names) not in (0, features.shape[1]):
            raise ValueError(f"{len(names)} feature_names for {features.shape[1]} features")
        if len(set(names)) < len(names):
            raise ValueError(f"two features have the same name: {_shown(names)}")
        if other := [name for name in self.categories if name not in names]:
            raise ValueError(f"the category {other[0]!r} is not the name of a feature")
        checked = {
            "features": features, "labels": queries.labels, "qid": qid, "feature_names": names,
            "weights": queries.weights, "categories": tuple(self.categories), "queries": queries,
        }  # fmt: skip
        for name, value in checked.items():  # the only way to set fields of a frozen dataclass
            object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.held_features.shape[1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.queries.n_queries

    @property
    def group(self) -> NDArray[np.int64]:
        """Number of rows of each query, in order: (n_queries,) int64."""
        return self.queries.sizes

    def take_queries(self, queries: ArrayLike) -> RankingData:
        """Copy the rows of some queries.

        Parameters
        ----------
        queries : array_like of int
            Indices of queries, from 0, in the order of the rows. Of a mask, pass
            ``np.flatnonzero(mask)``.

        Returns
        -------
        RankingData

        Raises
        ------
        ValueError
            For anything but indices from 0 to ``n_queries - 1``, and if there are none.
        """
        indices = np.asarray(queries)
        integers = indices.ndim == 1 and (indices.dtype.kind in "iu" or not indices.size)
        if not integers or not ((indices >= 0) & (indices < self.n_queries)).all():
            raise ValueError(
                f"queries must be a list of indices from 0 to {self.n_queries - 1}, got {queries!r}"
            )
        return rows_of_data(self, rows_of_queries(self, indices))


class _Features:
    """The field of features, which are copied when they are read if they are rows of others."""

    def __get__(self, data: RankingData | None, owner: Any) -> Any:
        if data is None:
            return self
        held = data.held_features
        return held.read() if isinstance(held, FeatureRows) else held

    def __set__(self, data: RankingData, features: Any) -> None:
        object.__setattr__(data, "held_features", features)


# Set here, since as a default it would be one of the constructor.
RankingData.features = _Features()  # type: ignore[assignment]


def rows_of_queries(data: RankingData, queries: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of the rows of some queries."""
    rows_of = np.split(np.arange(len(data.labels)), data.queries.boundaries[1:-1])
    return np.concatenate([np.arange(0), *(rows_of[query] for query in queries.tolist())])


def rows_of_data(data: RankingData, rows: NDArray[Any], *, shared: bool = False) -> RankingData:
    """Copy rows, of whole queries if the data has queries; shared features only when read."""
    held: Any = data.held_features
    features: Any
    if isinstance(held, FeatureRows):
        features = held.taken(rows) if shared else held.taken(rows).read()
    elif shared:
        features = FeatureRows([held], [len(held)], data.n_features, rows)
    else:
        features = held[rows]
    return replace(
        data,
        features=features,
        labels=data.labels[rows],
        qid=data.qid[rows],
        weights=None if data.weights is None else data.weights[rows],
    )


def numeric_part(data: RankingData) -> RankingData:
    """The data without its categories."""
    if not data.categories:
        return data
    kept = [j for j, name in enumerate(data.feature_names) if name not in data.categories]
    names = tuple(data.feature_names[j] for j in kept)
    features = data.features[:, kept]
    return replace(data, features=features, feature_names=names, categories=())


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join((*names[:5], "...") if len(names) > 6 else names) or "no names"


@dataclass(frozen=True, slots=True)
class Fold:
    """One split of a data set into training, validation and test queries.

    Parameters
    ----------
    name : str
        For example "Fold1".
    train, valid, test : RankingData

    Raises
    ------
    ValueError
        If the three parts have different numbers or names of features.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> fold = digits_queries()[0]
    >>> fold.name, fold.test.features.shape
    ('Fold1', (3936, 29))
    """

    name: str
    train: RankingData
    valid: RankingData
    test: RankingData

    def __post_init__(self) -> None:
        names, width = self.train.feature_names, self.train.n_features
        for what, part in (("valid", self.valid), ("test", self.test)):
            both = f"{self.name}'s train has", f"and {self.name}'s {what} has"
            if part.n_features != width:
                raise ValueError(f"{both[0]} {width} features, {both[1]} {part.n_features}")
            if part.feature_names != names:
                raise ValueError(
                    f"the parts of a fold need the same features in the same order: {both[0]} "
                    f"{_shown(names)}, {both[1]} {_shown(part.feature_names)}"
                )

    @property
    def parts(self) -> tuple[RankingData, RankingData, RankingData]:
        """Training, validation and test data."""
        return self.train, self.valid, self.test


def named_fold(name: str, train: RankingData, valid: RankingData, test: RankingData) -> Fold:
    """A fold whose parts are named after it."""
    parts = {"train": train, "vali": valid, "test": test}
    named = (
        replace(data, name=f"{name} {part}", features=data.held_features)
        for part, data in parts.items()
    )
    return Fold(name, *named)


def in_memory(data: RankingData) -> RankingData:
    """The data with features of its own."""
    return replace(data)  # which reads them


def sharing(data: RankingData, features: SharedFeatures) -> RankingData:
    """The data with its features among others, if it has queries."""
    if isinstance(data.held_features, FeatureRows):
        return data
    shared: Any = features.rows(data.features, data.queries.boundaries)
    return replace(data, features=shared)


def joined(fold: Fold) -> RankingData:
    """All parts of a fold, with queries numbered."""
    sizes = np.concatenate([part.group for part in fold.parts])
    weights = [part.weights for part in fold.parts if part.weights is not None]
    return replace(
        fold.train,
        features=np.concatenate([part.features for part in fold.parts]),
        labels=np.concatenate([part.labels for part in fold.parts]),
        qid=np.repeat(np.arange(sizes.size), sizes) * fold.train.grouped,
        weights=np.concatenate(weights) if weights else None,
    )
