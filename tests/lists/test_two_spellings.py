"""Queries as text in two spellings are two, with one warning."""

import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lambdaplus as lp
from lambdaplus.lists.order import by_query
from lambdaplus.lists.queries import Queries

NEW = count(100)
TWICE: dict[str, Callable[[str], str]] = {
    "decimals": lambda name: f"{name}.0", "a sign": lambda name: f"+{name}",
    "a blank": lambda name: f"{name} ", "a letter's form": lambda name: f"\ufeff{name}",
}  # fmt: skip
READ: dict[str, Callable[[Any], Any]] = {
    "query_folds": lambda qid: lp.query_folds(qid=qid, n_splits=2),
    "Queries": lambda qid: Queries([0, 1] * 3, qid=qid),
    "by_query": lambda qid: by_query(np.zeros((6, 1)), [0, 1] * 3, qid=qid),
    "evaluate": lambda qid: lp.evaluate([0, 1] * 3, np.arange(6), qid=qid, metrics="map"),
}
FORMS: dict[str, Callable[[list[str]], Any]] = {
    "list": list, "NumPy": np.array, "objects": lambda qid: np.array(qid, object),
    "pandas": pd.Series, "polars": pl.Series,
    "categories": lambda qid: pd.Series(pd.Categorical(qid)),
}  # fmt: skip


def told(read: Callable[[Any], Any], qid: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(qid)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("read", READ.values(), ids=READ)
@pytest.mark.parametrize("spelled", TWICE.values(), ids=TWICE)
def test_queries_in_two_spellings_are_warned_of_once(spelled: Any, read: Any, form: Any) -> None:
    name = str(next(NEW))
    qid = form([name, name, spelled(name), spelled(name), "7", "7"])
    [message] = told(read, qid)
    assert message.startswith("qid has ")
    assert repr(name) in message
    assert repr(spelled(name)) in message
    assert message.endswith(", which are different: write each identifier in one way")
    assert told(read, qid) == []


@pytest.mark.parametrize("read", READ.values(), ids=READ)
@pytest.mark.parametrize(
    "names", [["7", "07", "007"], ["a", "A", "a1"], ["1e", "-1", "1"], [1, 2, 3]], ids=str
)
def test_other_queries_are_not_warned_of(names: Any, read: Any) -> None:
    assert told(read, np.repeat(names, 2)) == []
