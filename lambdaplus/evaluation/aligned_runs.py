"""The values of runs that can be compared: with the same queries or rows, metrics and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation.evaluation import Evaluation, queries_in_words
from lambdaplus.evaluation.significance import ROUNDING, RankedRows


def aligned_rows(metric: str, runs: Mapping[str, Evaluation]) -> list[tuple[RankedRows, ...]]:
    """The rows that each run ranked, of a metric without queries; an error if they differ."""
    ranked = [run.rows.get(metric, ()) for run in runs.values()]
    if not all(ranked):
        return []
    for name, of_run in zip(runs, ranked, strict=True):
        same = len(of_run) == len(ranked[0]) and all(
            np.array_equal(a.labels, b.labels) and np.array_equal(a.weights, b.weights)  # type: ignore[arg-type]
            for a, b in zip(of_run, ranked[0], strict=True)
        )
        if not same:
            raise ValueError(
                f"{name!r} and {next(iter(runs))!r} do not have the same labels and weights, row "
                "by row: evaluate both on the same rows in the same order"
            )
    return ranked


def mean_run(name: str, runs: Sequence[Evaluation]) -> Evaluation:
    """The mean of several runs of a system, such as those of seeds, on each query.

    A query without a value in some runs has the mean of the others.
    """
    first, *others = runs
    if not others:
        return first
    numbered = {f"run {number} of {name}": run for number, run in enumerate(runs, start=1)}
    per_query, rows = {}, {}
    for metric, values in aligned_values(numbered).items():
        known = np.ma.masked_invalid([*values.values()])
        per_query[metric] = known.mean(axis=0).filled(np.nan)
        if ranked := aligned_rows(metric, numbered):
            rows[metric] = tuple(map(_with_all_scores, zip(*ranked, strict=True)))
    return replace(
        first,
        per_query=per_query,
        mean={metric: float(np.mean([run.mean[metric] for run in runs])) for metric in per_query},
        undefined={metric: int(np.isnan(values).sum()) for metric, values in per_query.items()},
        rows=rows,
    )


def _with_all_scores(same: Sequence[RankedRows]) -> RankedRows:
    """The rows, which are the same in all of these, with the scores of each of them."""
    return same[0]._replace(scores=tuple(scores for each in same for scores in each.scores))


def systems(
    runs: Mapping[str, Evaluation | Sequence[Evaluation]], baseline: str | None
) -> dict[str, list[Evaluation]]:
    """The runs of each system; a ValueError for fewer than two, or an unknown baseline."""
    if len(runs) < 2:
        raise ValueError(f"a comparison needs at least two runs, got {len(runs)}")
    if baseline is not None and baseline not in runs:
        raise ValueError(f"baseline={baseline!r} is not one of the runs: {', '.join(runs)}")
    every = {}
    for name, given in runs.items():
        each = list(given) if isinstance(given, list | tuple) else [given]
        if not each or not all(isinstance(run, Evaluation) for run in each):
            raise ValueError(
                f"{name!r} is not a result of evaluate, nor a list of such results, such as those "
                "of several seeds"
            )
        every[name] = cast(list[Evaluation], each)
    return every


def aligned_values(runs: Mapping[str, Evaluation]) -> dict[str, dict[str, Floats]]:
    """Per-query values by metric and run, with queries in the order of the first run."""
    first_name, first = next(iter(runs.items()))
    queries = first.qid.tolist()
    aligned: dict[str, dict[str, Floats]] = {metric: {} for metric in first.per_query}
    for name, run in runs.items():
        both = f"{name!r} and {first_name!r}"
        _refuse_other_rules(both, first, run)
        place = {query: i for i, query in enumerate(run.qid.tolist())}
        missing = [query for query in queries if query not in place]
        if missing or run.n_queries != first.n_queries:
            raise ValueError(
                f"{both} do not have the same queries: they have {run.n_queries} and "
                f"{first.n_queries}, and {len(missing)} of {first_name!r} are missing in {name!r}"
                + (f", such as {missing[0]!r}" if missing else "")
            )
        places = [place[query] for query in queries]
        _refuse_other_weights(both, first.weights, run.weights, places)
        _refuse_other_labels(both, first, run, places)
        for metric, values in run.per_query.items():
            by_query = len(values) == run.n_queries
            aligned[metric][name] = values[places] if by_query else values
    return aligned


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
