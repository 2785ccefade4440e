"""Measures of ir_measures that no declaration can express, computed by it.

They depend on which documents were returned or judged, or on a maximum over ranks.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats
from lambdaplus.metrics import Metric
from lambdaplus.ranking.queries import Queries

MEASURES = {name.lower(): name for name in ("Judged", "SetP", "SetR", "SetF", "SetAP", "IPrec")}


def measure_of(name: Metric) -> Any:
    """The measure of this name, such as ``Judged@10``; None for a metric of this library.

    Raises a ValueError for invalid options, and an ImportError if ir_measures is not installed.
    """
    parts = re.fullmatch(r"\s*([A-Za-z]+)(.*)", name) if isinstance(name, str) else None
    if parts is None:
        return None
    known = MEASURES.get(parts[1].lower())
    if parts[1].lower() == "infap":
        raise ValueError(
            "infAP needs documents that were pooled and not judged, with label -1, which count as "
            "not pooled here: call ir_measures itself"
        )
    if known is None:
        return None
    try:
        import ir_measures
    except ImportError:
        raise ImportError(f"{known} is computed by ir_measures: pip install ir_measures") from None
    try:
        measure: Any = ir_measures.parse_measure(known + parts[2])
        measure.validate_params()
    except (AssertionError, TypeError, ValueError):
        raise ValueError(
            f"{name!r} is not a measure of ir_measures, such as Judged@10, IPrec@0.1 or SetP(rel=2)"
        ) from None
    return measure


def values_of_measure(
    measure: Any, queries: Queries, scores: Floats, judged: Bools | None, docno: Any
) -> Floats:
    """The value on each query, (n_queries,); NaN where ir_measures has none."""
    import ir_measures

    if not queries.grouped:
        raise ValueError(f"{measure} needs queries: pass group= or qid=")
    if (queries.labels != np.floor(queries.labels)).any():
        raise ValueError(f"{measure} needs labels that are whole numbers")
    numbers = np.arange(scores.size) if docno is None else docno
    rows = [*zip(queries.query_of_row.astype(str), numbers.astype(str), strict=True)]
    in_qrels = range(scores.size) if judged is None else np.flatnonzero(judged)
    in_run = range(scores.size) if queries.returned is None else np.flatnonzero(queries.returned)
    qrels = (ir_measures.Qrel(*rows[i], int(queries.labels[i])) for i in in_qrels)
    run = (ir_measures.ScoredDoc(*rows[i], float(scores[i])) for i in in_run)
    values = np.full(queries.n_queries, np.nan)
    for found in ir_measures.iter_calc([measure], qrels, run):
        values[int(found.query_id)] = found.value
    return values
