"""Queries: invalid input raises a clear error, and valid input is consistent."""

import itertools
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from drawn_queries import label_lists
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.lists.order import by_query
from lambdaplus.lists.queries import Kind, Queries

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("labels", np.empty((0, 1)), "labels is empty"),
        ("labels", [1, 0, NAN], "labels must be finite: 1 of 3 are not, the first is nan in row 2"),
        ("labels", [INF, 0, NAN], "2 of 3 are not, the first is inf in row 0"),
        ("labels", [[1, 0, 2]], "must be one-dimensional, got shape (1, 3): pass one column"),
        ("group", [2, 2], "group sizes add up to 4, but there are 3 rows"),
        ("group", [3, 0], "at least 1 each"),
        ("group", [1.5, 1.5], "query sizes: integers"),
        ("group", [], "group must be a list of query sizes, got shape (0,)"),
        ("group", 3, "group must be a list of query sizes, got shape ()"),
        ("group", ["a", "b"], "group must be numbers, not text: convert it"),
        ("qid", [7, 5, 7], "the rows of query 7 are not adjacent (it begins again in row 2)"),
        ("qid", [1, 1], "qid must have one entry per row: shape (2,) for 3 rows"),
        (
            "qid",
            [[1, 1], [1, 1], [2, 2]],
            "qid must have one entry per row: shape (3, 2) for 3 rows",
        ),
        ("weight", [1, 1], "2 weights for 3 rows"),
        ("weight", [1, -0.5, 1], "weights must not be negative: -0.5 in row 1"),
        ("weight", [1, 1, INF], "weight must be finite: 1 of 3 are not, the first is inf in row 2"),
        ("weight", [1, 9e-31, 1], "from 1e-30 to 1e30, since gradients are float32"),
        ("weight", [1, 2e30, 1], "from 1e-30 to 1e30, since gradients are float32"),
        ("weight", [0, 0, 0], "all weights are zero"),
        ("scores", [1, 2], "2 scores for 3 labels"),
        ("scores", [1, NAN, 2], "scores must be finite: 1 of 3 are not, the first is nan in row 1"),
        ("scores", [[1, 2, 3], [4, 5, 6]], "scores must be one-dimensional, got shape (2, 3)"),
        ("scores", ["a", 1, 2], "scores must be numbers"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_unusable_input_is_refused_with_what_and_where(name: str, value: Any, message: str) -> None:
    given_ = {"labels": [1, 0, 2], "scores": [1, 2, 3], name: value}
    scores = given_.pop("scores")
    with pytest.raises(ValueError, match=re.escape(message)):
        Queries(**given_).check_scores(scores)
    with pytest.raises(ValueError, match=r"either group= .* or qid= .*, not both"):
        Queries([1, 0, 2], group=[3], qid=[1, 1, 1])


CLOSE = ["0.10000000000000000001", "0.10000000000000000002", "1"]  # two are equal as float64
DECIMALS, FRACTIONS = [*map(Decimal, CLOSE)], [*map(Fraction, CLOSE)]
EXACT: dict[str, Any] = {
    "decimals": DECIMALS,
    "fractions": FRACTIONS,
    "decimals and others": [*DECIMALS[:2], 1.0],
    "an array": np.array(DECIMALS),
    "a column": np.array(FRACTIONS)[:, None],
    "NumPy's integers": np.array([np.int64(2**53), np.int64(2**53 + 1), 1], object),
    "NumPy's long double": np.array([1, 1 + np.finfo(np.longdouble).eps, 2], np.longdouble),
    "pandas": pd.Series(DECIMALS),
    "pandas of pyarrow": pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(30, 22))),
    "polars": pl.Series(DECIMALS),
    "pyarrow": pa.array(DECIMALS),
}


@pytest.mark.parametrize("values", EXACT.values(), ids=EXACT)
def test_numbers_that_float64_would_merge_are_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="scores contains numbers that differ, but are equal as f"):
        Queries([1, 0, 2]).check_scores(values)
    with pytest.raises(ValueError, match="labels contains numbers that differ, but are equal as f"):
        Queries(values)


@pytest.mark.parametrize("kind", [Decimal, Fraction, np.float32, float])
def test_numbers_that_are_equal_stay_equal(kind: Any) -> None:
    values = np.array([kind("0.5"), kind("0.50"), kind("0.1"), kind("1")], object)
    assert Queries([1, 0, 2, 0]).check_scores(values)[[0, 1, 3]].tolist() == [0.5, 0.5, 1.0]
    with pytest.raises(ValueError, match="the first is nan in row 1"):
        Queries([1, 0, 2, 0]).check_scores([values[0], None, *values[2:]])


def test_labels_and_weights_are_copied_and_may_be_a_column() -> None:
    labels, weight = np.array([[1.0], [0.0]]), np.array([2.0, 1.0])
    queries = Queries(labels, weight=weight)
    labels[:], weight[:] = 5, 5
    assert queries.labels.tolist() == [1, 0]
    assert queries.weights.tolist() == [2, 1]


DAYS = [date(2020, 1, 1), date(1901, 1, 1), date(2020, 1, 3), date(2500, 1, 1)]
TIMES = [datetime(day.year, day.month, day.day, 9, 30, 0, 1) for day in DAYS]
ABROAD = [time.replace(tzinfo=timezone(timedelta(hours=5))) for time in TIMES]
NANOSECONDS = [pd.Timestamp(f"2020-01-01T00:00:00.00000000{i}") for i in range(4)]
DATES: dict[str, Any] = {
    "a list": DAYS,
    "a list of times": TIMES,
    "a list of a time zone": ABROAD,
    "a list of pandas' times": NANOSECONDS,
    "a list of NumPy's": [np.datetime64(day) for day in DAYS],
    "objects": np.array(DAYS, dtype=object),
    "pandas": pd.Series(pd.to_datetime(NANOSECONDS)),
    "pandas, of a time zone": pd.Series(pd.to_datetime(NANOSECONDS)).dt.tz_localize("Asia/Tokyo"),
    "pandas of pyarrow": pd.Series(DAYS, dtype="date32[day][pyarrow]"),
    "polars": pl.Series(DAYS),
    "polars of times": pl.Series(TIMES),
    "polars, of a time zone": pl.Series(TIMES).dt.replace_time_zone("Asia/Tokyo"),
    "pyarrow": pa.array(DAYS),
    "pyarrow in chunks": pa.chunked_array([DAYS[:1], DAYS[1:]]),
    "pyarrow, of a time zone": pa.array(ABROAD),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dates", DATES.values(), ids=DATES)
def test_dates_of_any_kind_are_queries(dates: Any) -> None:
    several = [dates[i] for i in (1, 1, 3, 0, 0, 0, 2)]
    if hasattr(dates, "take"):
        several = dates.take([1, 1, 3, 0, 0, 0, 2])
    elif hasattr(dates, "gather"):
        several = dates.gather([1, 1, 3, 0, 0, 0, 2])
    assert Queries(np.arange(7), qid=several).sizes.tolist() == [2, 1, 3, 1]
    by_days = by_query(np.arange(7.0)[:, None], np.arange(7), qid=several)
    assert by_days.queries.sizes.tolist() == [2, 1, 3, 1]


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([DAYS[0], TIMES[0], DAYS[0]], "row 1 is the datetime"),
        ([TIMES[0], DAYS[0], TIMES[0]], "row 1 is the date"),
        ([DAYS[0], "2020-01-01", DAYS[0]], "row 1 is the str"),
        ([TIMES[0], ABROAD[0], TIMES[0]], "with and without a time zone"),
        ([TIMES[0], TIMES[0], pd.NaT], "qid is missing in row 2"),
        (pl.Series([DAYS[0], DAYS[0], None]), "qid is missing in row 2"),
    ],
    ids=str,
)
def test_dates_that_could_be_merged_or_are_missing_are_refused(qid: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Queries([1, 0, 2], qid=qid)


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8))
@examples(50)
def test_group_and_qid_give_the_same_boundaries(sizes) -> None:
    n = sum(sizes)
    names = [f"q{-i}" for i, size in enumerate(sizes) for _ in range(size)]
    for queries in (Queries([0] * n, group=sizes), Queries([0] * n, qid=names)):
        assert queries.grouped
        assert queries.boundaries.tolist() == [0, *itertools.accumulate(sizes)]
        assert queries.sizes.tolist() == sizes
        assert (queries.n_queries, queries.n_documents) == (len(sizes), n)
    table = Queries([0] * n)
    assert table.kind is Kind.WEIGHTED_ROWS
    assert table.boundaries.tolist() == [0, n]


def test_weights_count_copies_without_queries_only() -> None:
    weight = [1.0, 2.0, 6.0]
    alone = Queries([0, 1, 2], weight=weight)
    grouped = Queries([0, 1, 2], group=[1, 2], weight=weight)
    assert alone.multiplicities.tolist() == weight
    assert grouped.multiplicities is None
    assert grouped.query_weights.tolist() == [1.0, 4.0]
    one_query = alone.of_kind(Kind.ONE_LIST)
    assert one_query.multiplicities is None
    assert one_query.query_weights.tolist() == [3.0]
    assert Queries([0, 1]).multiplicities is Queries([0, 1]).query_weights is None


@given(
    parts=st.lists(label_lists(8), min_size=1, max_size=5),
    relevant=st.none() | st.sampled_from([0.5, 1.0, 2.0]),
    weighted=st.booleans(),
)
@examples(100)
def test_strata_are_the_classes_of_every_query(parts, relevant, weighted) -> None:
    labels = [label for part in parts for label in part]
    grouped = len(parts) > 1 or not weighted
    weight = 1.0 + np.arange(len(labels)) % 3 if weighted else None
    queries = Queries(labels, group=[*map(len, parts)] if grouped else None, weight=weight)
    strata = queries.strata(relevant)

    def class_of(label: float) -> float:
        return label if relevant is None else float(label >= relevant)

    expected, start = [], 0
    for q, part in enumerate(parts):
        for c in sorted({class_of(label) for label in part}):
            rows = [start + i for i, label in enumerate(part) if class_of(label) == c]
            counted = len(rows) if grouped or weight is None else weight[rows].sum()
            expected.append((c, counted, q))
        start += len(part)
    found = zip(strata.label, strata.count, strata.query, strict=True)
    assert list(found) == expected
    assert strata.edges.tolist() == [
        sum(q < query for _, _, q in expected) for query in range(len(parts) + 1)
    ]
    by_row = strata.label[strata.edges[queries.query_of_row] + strata.code]
    assert by_row.tolist() == [class_of(label) for label in labels]
    assert strata.sum(strata.count).tolist() == [
        sum(counted for _, counted, q in expected if q == query) for query in range(len(parts))
    ]


def test_a_threshold_reaches_a_label_that_a_framework_rounded() -> None:
    """LightGBM and XGBoost keep labels in float32, where 0.7 is a little less."""
    kept = np.array([0.7, 0.6, 0.8], np.float32)
    assert float(kept[0]) < 0.7
    assert Queries(kept).strata(0.7).count.tolist() == [1, 2]
    assert Queries(kept.astype(float) - 1e-7).strata(0.7).count.tolist() == [2, 1]


@given(qid=st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
@examples(50)
def test_rows_of_a_query_come_together_in_their_order(qid: list[str]) -> None:
    documents = by_query(np.arange(len(qid)), np.arange(len(qid)), qid=qid)
    _, queries, rows = documents
    expected = sorted(range(len(qid)), key=lambda row: qid.index(qid[row]))
    assert queries.labels.tolist() == expected
    assert queries.sizes.tolist() == [qid.count(query) for query in dict.fromkeys(qid)]
    assert (rows is None) == (expected == list(range(len(qid))))
    assert rows is None or rows.tolist() == expected
    assert documents.in_original_order(documents.X).tolist() == list(range(len(qid)))
