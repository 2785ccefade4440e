"""The values of runs that can be compared: with the same queries or rows, metrics and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.evaluation.evaluation import Evaluation
from lambdaplus.evaluation.significance import ROUNDING
from lambdaplus.evaluation.whole_tables import RankedTable
from lambdaplus.metrics.means import mean_of

Runs = Evaluation | Sequence[Evaluation]
"""The run of a system, or several: with other seeds, or on other folds."""


def tables_of(metric: str, runs: Mapping[str, Evaluation]) -> list[tuple[RankedTable, ...]]:
    """The rows that each run ranked, of a metric without queries; an error if they differ."""
    tables = [run.rows.get(metric, ()) for run in runs.values()]
    if not all(tables):
        return []
    for name, of_run in zip(runs, tables, strict=True):
        if not _same_rows(of_run, tables[0]):
            raise ValueError(
                f"{name!r} and {next(iter(runs))!r} do not have the same labels and weights, row "
                "by row: evaluate both on the same rows in the same order"
            )
    return tables


def _equal(first: Floats | None, second: Floats | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def check_runs(runs: Mapping[str, Runs], baseline: str | None) -> dict[str, list[Evaluation]]:
    """The runs of each system; an error for anything else."""
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a dict of evaluations by name, not {type(runs).__name__}")
    several = {name: list(of) if isinstance(of, Sequence) else [of] for name, of in runs.items()}
    for name, of in several.items():
        for run in of:
            if not isinstance(run, Evaluation):
                raise TypeError(f"run {name!r} is not an Evaluation, but {type(run).__name__}")
        if not of:
            raise ValueError(f"{name!r} has no runs")
    if len(runs) < 2:
        raise ValueError(f"a comparison needs at least two runs, got {len(runs)}")
    if baseline is not None and baseline not in runs:
        raise ValueError(f"baseline={baseline!r} is not one of the runs: {', '.join(runs)}")
    return several


def mean_run(name: str, runs: Sequence[Evaluation]) -> Evaluation:
    """The evaluation whose value on each query is the mean over the runs that rank the query.

    A ValueError is raised for runs with other metrics, conventions, or weights of queries.
    """
    first = runs[0]
    if len(runs) == 1:
        return first
    for k, run in enumerate(runs[1:], start=2):
        _refuse_other_rules(f"run {k} of {name!r} and the first", first, run)
    numbered = all(np.array_equal(run.qid, np.arange(run.n_queries)) for run in runs)
    if numbered and len({run.n_queries for run in runs}) > 1:
        raise ValueError(
            f"the runs of {name!r} have different queries, all numbered from 0: evaluate them with "
            "qid=, so that the queries of each are known"
        )
    qid, place = np.unique(np.concatenate([run.qid for run in runs]), return_inverse=True)
    weights = None
    if any(run.weights is not None for run in runs):
        of_runs = np.concatenate(
            [np.ones(run.n_queries) if run.weights is None else run.weights for run in runs]
        )
        weights = np.empty(qid.size)
        weights[place] = of_runs
        if not np.allclose(weights[place], of_runs, rtol=ROUNDING, atol=0.0):
            raise ValueError(f"the runs of {name!r} have different weights of the same queries")
    per_query, mean, rows = {}, {}, {}
    for metric in first.per_query:
        values = [run.per_query[metric] for run in runs]
        if metric in first.rows:
            rows[metric], of_tables = _merged_tables(metric, runs)
            per_query[metric] = np.array([np.mean(of_tables)])
        elif all(of.size == run.n_queries for of, run in zip(values, runs, strict=True)):
            per_query[metric] = _means_at(place, np.concatenate(values), qid.size)
        else:  # one value for the whole data set
            per_query[metric] = _means_at(np.zeros(len(runs), int), np.concatenate(values), 1)
        by_query = per_query[metric].size == qid.size
        mean[metric] = mean_of(per_query[metric], weights if by_query else None)
    return replace(
        first,
        per_query=per_query,
        mean=mean,
        n_queries=qid.size,
        qid=qid,
        weights=weights,
        rows=rows,
    )


def _means_at(place: Ints, values: Floats, n: int) -> Floats:
    """The mean of the values that are not NaN at each of n places; NaN without any."""
    known = ~np.isnan(values)
    total = np.bincount(place[known], values[known], n)
    count = np.bincount(place[known], minlength=n)
    return np.asarray(np.divide(total, count, out=np.full(n, np.nan), where=count > 0))


def _merged_tables(
    metric: str, runs: Sequence[Evaluation]
) -> tuple[tuple[RankedTable, ...], list[float]]:
    """The tables of all runs, each with the scores of the runs that rank it, and their means."""
    groups: list[list[Evaluation]] = []
    for run in runs:
        same = (of for of in groups if _same_rows(of[0].rows[metric], run.rows[metric]))
        group = next(same, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    tables: list[RankedTable] = []
    means: list[float] = []
    for group in groups:
        for place, table in enumerate(group[0].rows[metric]):
            scores = (each for run in group for each in run.rows[metric][place].scores)
            tables.append(table._replace(scores=tuple(scores)))
            means.append(float(np.mean([run.mean[metric] for run in group])))
    return tuple(tables), means


def _same_rows(one: Sequence[RankedTable], other: Sequence[RankedTable]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a.labels, b.labels) and _equal(a.weights, b.weights)
        for a, b in zip(one, other, strict=True)
    )


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


def _refuse_other_weights(
    both: str, first: Floats | None, weights: Floats | None, places: list[int]
) -> None:
    """Raise a ValueError unless the queries have the weights of those of the first run."""
    one, other = (np.ones(len(places)) if w is None else w for w in (first, weights))
    if not np.allclose(one, other[places], rtol=ROUNDING, atol=0.0):
        raise ValueError(f"{both} were not evaluated with the same weights of queries")
