"""Labels and scores as other tools take them: a row for each query, or dictionaries."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compute.arguments import identifiers, plain
from lambdaplus.data.run_files import Run, run_of_dictionaries
from lambdaplus.ranking.queries import Queries

Labels = ArrayLike | Mapping[Any, Mapping[Any, float]]
"""Labels or scores: (n,), (n_queries, m), or a value by query and document number."""


class Input(NamedTuple):
    """What is evaluated."""

    queries: Queries
    scores: Any  # (n,)
    names: NDArray[Any] | None = None  # (n_queries,) identifiers of the queries, if they are known
    docno: Any = None  # (n,) or None
    judged: Any = None  # (n,) bool, False for documents that metrics such as bpref ignore; or None


def input_of_run(run: Run) -> Input:
    """The documents of a run, as they are evaluated."""
    queries = run.queries
    names = None if run.qid is None else identifiers(run.qid)[queries.boundaries[:-1]]
    return Input(queries, run.scores, names, run.docno, run.judged)


def read_input(
    labels: Labels,
    scores: Labels,
    group: ArrayLike | None,
    qid: ArrayLike | None,
    weight: ArrayLike | None,
    docno: ArrayLike | None,
) -> Input:
    """Read the arguments of `~lambdaplus.evaluation.evaluate`."""
    labels, scores = _of_ranx(labels), _of_ranx(scores)
    if isinstance(labels, Mapping) or isinstance(scores, Mapping):
        if not _is_of_queries(labels) or not _is_of_queries(scores):
            raise ValueError(
                "labels and scores must both be arrays, or both dictionaries of a value by query "
                "and document number, {'q1': {'d1': 1}}"
            )
        _refuse("dictionaries", group=group, qid=qid, weight=weight, docno=docno)
        return input_of_run(run_of_dictionaries(labels, scores))
    labels = plain(labels, "labels")
    if labels.ndim == 2 and labels.shape[1] > 1 and group is None and qid is None:
        scores = plain(scores, "scores")
        if scores.shape != labels.shape:
            raise ValueError(
                f"labels of shape {labels.shape} have a row for each query, so scores must have "
                f"the same shape, not {scores.shape}"
            )
        _refuse("two-dimensional labels", weight=weight, docno=docno)
        group = np.full(labels.shape[0], labels.shape[1])
        labels, scores = labels.ravel(), scores.ravel()
    ids = None if qid is None else identifiers(qid)
    queries = Queries(labels, group=group, qid=ids, weight=weight)
    of_queries = None if ids is None else ids[queries.boundaries[:-1]]
    return Input(queries, scores, of_queries, docno)


def _of_ranx(values: Any) -> Any:
    """The dictionary of a Qrels or Run of ranx, whose own mappings are compiled by numba."""
    return values.to_dict() if type(values).__module__.partition(".")[0] == "ranx" else values


def _is_of_queries(values: Any) -> TypeGuard[Mapping[Any, Mapping[Any, float]]]:
    return isinstance(values, Mapping) and all(isinstance(of, Mapping) for of in values.values())


def _refuse(form: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name}= cannot be passed with {form}: pass flat arrays, one entry per document"
            )
