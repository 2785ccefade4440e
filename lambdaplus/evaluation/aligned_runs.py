"""The values of runs that can be compared: with the same queries or rows, metrics and weights."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.effects import ROUNDING
from lambdaplus.evaluation.evaluation import Evaluation, queries_in_words
from lambdaplus.evaluation.significance import RankedRows


class FoldRuns(NamedTuple):
    """The runs of all systems on the queries or rows of one fold.

    Attributes
    ----------
    runs : dict of str to list of Evaluation
        By system.
    values : dict of str to dict of str to (runs, queries) array
        By metric and system, with queries in the order of the first run.
    rows : dict of str to list of RankedRows
        Those of all runs, system by system, of the metrics that rank all rows of a table.
    """

    runs: Mapping[str, list[Evaluation]]
    values: dict[str, dict[str, Floats]]
    rows: dict[str, list[RankedRows]]

    @property
    def first(self) -> Evaluation:
        return next(iter(self.runs.values()))[0]


def aligned_folds(every: Mapping[str, list[Evaluation]]) -> list[FoldRuns]:
    """The runs by fold: those of a system on other queries or rows are of another fold."""
    by_fold = {name: _by_fold(name, runs) for name, runs in every.items()}
    first_name, first = next(iter(by_fold.items()))
    for name, folds in by_fold.items():
        if len(folds) == len(first) == 1:  # whose differences have errors that say more
            continue
        if folds.keys() != first.keys():
            raise ValueError(
                f"{name!r} and {first_name!r} do not have runs on the same folds: they have "
                f"{len(folds)} and {len(first)}, of which {len(folds.keys() & first.keys())} have "
                "the same queries or rows; evaluate each with the qid of the whole data set"
            )
    if len(first) == 1:
        return [_aligned(every)]
    return [_aligned({name: folds[fold] for name, folds in by_fold.items()}) for fold in first]


def _by_fold(name: str, runs: Sequence[Evaluation]) -> dict[Any, list[Evaluation]]:
    """The runs of a system by their queries, or by the labels and weights of their rows."""
    folds: dict[Any, list[Evaluation]] = {}
    for number, run in enumerate(runs, start=1):
        key: Any = frozenset(run.qid.tolist())
        for rows in run.rows.values():
            weights = b"" if rows.weights is None else rows.weights.tobytes()
            key = key, rows.labels.tobytes(), weights
        for other in folds if not run.rows else ():
            if key != other and not key.isdisjoint(other):
                _queries_in_order(f"run 1 of {name}", runs[0], f"run {number} of {name}", run)
        folds.setdefault(key, []).append(run)
    return folds


def _aligned(runs: Mapping[str, list[Evaluation]]) -> FoldRuns:
    named = {
        f"run {number} of {name}" if len(of_system) > 1 else name: run
        for name, of_system in runs.items()
        for number, run in enumerate(of_system, start=1)
    }
    by_run = {metric: iter(found.values()) for metric, found in aligned_values(named).items()}
    values = {
        metric: {
            name: np.array([next(in_turn) for _ in of_system]) for name, of_system in runs.items()
        }
        for metric, in_turn in by_run.items()
    }
    rows = {metric: ranked for metric in values if (ranked := aligned_rows(metric, named))}
    return FoldRuns(runs, values, rows)


def aligned_rows(metric: str, runs: Mapping[str, Evaluation]) -> list[RankedRows]:
    """The rows that each run ranked, of a metric without queries; an error if they differ."""
    ranked = [run.rows[metric] for run in runs.values() if metric in run.rows]
    if len(ranked) < len(runs):
        return []
    for name, rows in zip(runs, ranked, strict=True):
        same = np.array_equal(rows.labels, ranked[0].labels)
        if not (same and np.array_equal(rows.weights, ranked[0].weights)):  # type: ignore[arg-type]
            raise ValueError(
                f"{name!r} and {next(iter(runs))!r} do not have the same labels and weights, row "
                "by row: evaluate both on the same rows in the same order"
            )
    return ranked


def systems(
    runs: Mapping[str, Evaluation | Sequence[Evaluation]], baseline: str | None
) -> dict[str, list[Evaluation]]:
    """The runs of each system; an error for fewer than two, or an unknown baseline."""
    if not isinstance(runs, Mapping):
        raise TypeError(
            f"runs must be a dictionary of results of evaluate by the names of systems, such as "
            f"{{'new': new, 'old': old}}, not {type(runs).__name__}"
        )
    if len(runs) < 2:
        raise ValueError(f"a comparison needs at least two runs, got {len(runs)}")
    if baseline is not None and baseline not in runs:
        raise ValueError(f"baseline={baseline!r} is not one of the runs: {', '.join(runs)}")
    every = {}
    for name, given in runs.items():
        of_system = list(given) if isinstance(given, list | tuple) else [given]
        if not of_system or not all(isinstance(run, Evaluation) for run in of_system):
            raise ValueError(
                f"{name!r} is not a result of evaluate, nor a list of such results, such as those "
                "of several seeds or folds"
            )
        every[name] = cast(list[Evaluation], of_system)
    return every


def aligned_values(runs: Mapping[str, Evaluation]) -> dict[str, dict[str, Floats]]:
    """Per-query values by metric and run, with queries in the order of the first run."""
    first_name, first = next(iter(runs.items()))
    aligned: dict[str, dict[str, Floats]] = {metric: {} for metric in first.per_query}
    for name, run in runs.items():
        both = f"{name!r} and {first_name!r}"
        _refuse_other_rules(both, first, run)
        places = _queries_in_order(first_name, first, name, run)
        _refuse_other_weights(both, first.weights, run.weights, places)
        _refuse_other_labels(both, first, run, places)
        for metric, values in run.per_query.items():
            by_query = len(values) == run.n_queries
            aligned[metric][name] = values[places] if by_query else values
    return aligned


def _queries_in_order(first_name: str, first: Evaluation, name: str, run: Evaluation) -> list[int]:
    """The places in a run of the queries of the first; an error unless they are the same."""
    place = {query: i for i, query in enumerate(run.qid.tolist())}
    queries = first.qid.tolist()
    missing = [query for query in queries if query not in place]
    if missing or run.n_queries != first.n_queries:
        raise ValueError(
            f"{name!r} and {first_name!r} do not have the same queries: they have "
            f"{run.n_queries} and {first.n_queries}, and {len(missing)} of {first_name!r} are "
            f"missing in {name!r}" + (f", such as {missing[0]!r}" if missing else "")
        )
    return [place[query] for query in queries]


def _refuse_other_rules(both: str, first: Evaluation, run: Evaluation) -> None:
    """Raise a ValueError unless a run has the metrics and conventions of the first."""
    if list(run.conventions.items()) != list(first.conventions.items()):
        raise ValueError(
            f"{both} were not evaluated with the same metrics and conventions: "
            f"{run.conventions} and {first.conventions}"
        )
    for metric in first.metrics.keys() & run.metrics.keys():
        if first.metrics[metric] != run.metrics[metric]:
            raise ValueError(
                f"{both} were evaluated with different metrics of the name {metric}: rename "
                "one, or evaluate both with the same Declaration"
            )


def _refuse_other_labels(both: str, first: Evaluation, run: Evaluation, places: list[int]) -> None:
    """Raise a ValueError unless the queries have the labels of those of the first run."""
    if first.labels is None or run.labels is None:  # of results that `evaluate` did not make
        return
    differs = np.flatnonzero(first.labels != run.labels[places])
    if differs.size:
        raise ValueError(
            f"{both} do not have the same labels: those of {differs.size} of "
            f"{queries_in_words(first.n_queries)} differ, such as {first.qid.item(differs[0])!r}; "
            "evaluate all runs with the labels of all documents, also of those that a run lacks"
        )


def _refuse_other_weights(
    both: str, first: Floats | None, weights: Floats | None, places: list[int]
) -> None:
    """Raise a ValueError unless the queries have the weights of those of the first run."""
    one, other = (np.ones(len(places)) if w is None else w for w in (first, weights))
    if not np.allclose(one, other[places], rtol=ROUNDING, atol=0.0):
        raise ValueError(f"{both} were not evaluated with the same weights of queries")
