"""Labels and scores as arrays, or as dictionaries, which other tools take."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from numpy.typing import ArrayLike

from lambdaplus.compute.arrays import plain
from lambdaplus.compute.identifiers import identifiers
from lambdaplus.ranking.documents import rows_by_query
from lambdaplus.ranking.runs import Run, run_of_dictionaries

Labels = ArrayLike | Mapping[Any, Mapping[Any, float]]
"""Labels or scores: (n,), or a value by query and document number."""


def read_input(
    labels: Labels,
    scores: Labels,
    group: ArrayLike | None,
    qid: ArrayLike | None,
    weight: ArrayLike | None,
    docno: ArrayLike | None,
) -> Run:
    """Read the arguments of `~lambdaplus.evaluation.evaluate`."""
    if isinstance(labels, Mapping) or isinstance(scores, Mapping):
        if not _is_of_queries(labels) or not _is_of_queries(scores):
            raise ValueError(
                "labels and scores must both be arrays, or both dictionaries of a value by query "
                "and document number, {'q1': {'d1': 1}}"
            )
        given = {"group": group, "qid": qid, "weight": weight, "docno": docno}
        for name in (name for name, value in given.items() if value is not None):
            raise ValueError(
                f"{name}= cannot be passed with dictionaries: pass flat arrays, one entry per "
                "document"
            )
        return run_of_dictionaries(labels, scores)
    run = Run("", labels, scores, qid, docno, group=group, weight=weight)
    return run if qid is None or group is not None else _by_query(run)


def _by_query(run: Run) -> Run:
    """The run with the rows of each query adjacent, otherwise in their order."""
    ids = identifiers(run.qid)
    rows = rows_by_query(ids)
    if (rows[1:] > rows[:-1]).all():
        return replace(run, qid=ids)
    changed: dict[str, Any] = {"qid": ids[rows]}
    for name in ("labels", "scores", "docno", "weight"):
        if getattr(run, name) is not None:
            values = plain(getattr(run, name), name)
            if len(values) != ids.size:
                raise ValueError(f"{name} has {len(values)} rows, but qid has {ids.size}")
            changed[name] = values[rows]
    return replace(run, **changed)


def _is_of_queries(values: Any) -> TypeGuard[Mapping[Any, Mapping[Any, float]]]:
    return isinstance(values, Mapping) and all(isinstance(of, Mapping) for of in values.values())
