"""Tables and files of a study."""

from __future__ import annotations

import csv
import math
import pathlib
from collections.abc import Iterator

import numpy as np

from lambdaplus.comparison.methods import Method
from lambdaplus.comparison.searches import summary, write_choices
from lambdaplus.comparison.store import versions_in_words
from lambdaplus.comparison.study import Study
from lambdaplus.evaluation import Cell, RunComparison, Table, compare_runs


def results_table(study: Study) -> Table:
    """Methods by metrics: test means over folds, with a star for the best value of a column."""
    means = np.array([[study.mean(m, k) for k in study.metrics] for m in study.methods])
    best = [np.nanmax(column) if not np.isnan(column).all() else math.nan for column in means.T]
    rows = [
        [
            method.name,
            # Methods with the same displayed digits share the star.
            *(
                Cell(float(value), "*" if f"{value:.4f}" == f"{top:.4f}" else " ")
                for value, top in zip(row, best, strict=True)
            ),
            f"{study.seconds(method):.1f}s",
        ]
        for method, row in zip(study.methods, means, strict=True)
    ]
    foot = footnotes(study)
    names = [_heading(str(metric)) for metric in study.metrics]
    return Table(
        ("method", *names, "time"),
        rows,
        [f"* best in its column. {foot[0]}", *foot[1:]],
        narrow=True,
    )


def marked_results(study: Study, found: RunComparison | None) -> Table:
    """Methods by metrics: the means of `results_table` with the marks of `comparison`.

    Without a baseline, each finished method has a letter, and a mean is marked with the letters of
    the methods that it is significantly better than.
    """
    marks: dict[str, tuple[str, list[str]]] = {}
    foot = footnotes(study)
    if found is not None:
        for name, (label, *cells) in zip(found.names, found.table.rows, strict=True):
            letter = "" if found.baseline else label.removesuffix(f" {name}")
            marks[name] = letter, [cell.mark for cell in cells]
        foot = [found.foot[0], *foot]
    rows = []
    for method in study.methods:
        letter, beaten = marks.get(method.name, ("", [""] * len(study.metrics)))
        means = [study.mean(method, metric) for metric in study.metrics]
        cells = [Cell(value, mark) for value, mark in zip(means, beaten, strict=True)]
        rows.append([method.name, letter, *cells, f"{study.seconds(method):.1f}"])
    return Table(("method", "letter", *map(str, study.metrics), "seconds"), rows, foot)


def _heading(name: str) -> str:
    name, at, cutoff = (name if "(" in name else name.upper()).partition("@")
    return f"{name}\n{at}{cutoff}" if at else name


def footnotes(study: Study) -> list[str]:
    """How the values of a study were obtained: protocol, conventions and versions."""
    others = [method for method in study.methods if not study.searches(method)]
    tried = ", ".join(f"{m.name} {len(m.points)}" for m in others if len(m.points) > 1)
    own = "each metric separately" if study.trials else "each method's own criterion"
    chosen = study.select or own
    return [
        f"Test means: over the queries of a {'split' if study.repeated else 'fold'}, then over "
        f"{_folds_in_words(study)}"
        + (f", then over seeds {', '.join(map(str, study.seeds))}" if len(study.seeds) > 1 else "")
        + "."
        + (
            " Comparisons count a query once, with its mean over the splits that test on it."
            if study.repeated
            else ""
        ),
        *_rules(study),
        "Times: training time over all folds, seeds and parameters, without the compilation of "
        "kernels.",
        _protocol(study, chosen),
        (
            f"Parameters chosen on validation data by {chosen}; sets tried: {tried}. "
            if tried
            else ""
        )
        + "Criteria: "
        + ", ".join(f"{m.name.partition(':')[2]} {m.criterion}" for m in _once(study))
        + ".",
        *_warnings(study),
        versions_in_words() + ".",
    ]


def _protocol(study: Study, chosen: str) -> str:
    """How trees were trained."""
    searched = sum(map(study.searches, study.methods))
    if not searched:
        return f"{study.settings}, seed {study.seeds[0]}."
    return (
        f"{searched} method(s) with {study.trials} trials of random search each, on every fold "
        "with every seed; parameters that all trees have in common get the same draws; at most "
        f"{study.settings.rounds:,} rounds, stopped after {study.settings.patience} without an "
        f"improvement of any metric; trial and round chosen on validation data by {chosen}. "
        f"{summary(study)}"
    )


def n_test_queries(study: Study) -> int:
    """Number of test queries; those that are tested by several splits are counted once."""
    if study.repeated:
        return len(np.unique(np.concatenate([fold.test.qid for fold in study.folds])))
    return sum(fold.test.n_queries for fold in study.folds)


def _folds_in_words(study: Study) -> str:
    queries = n_test_queries(study)
    if not study.repeated:
        return f"{len(study.folds)} fold(s) ({queries} test queries)"
    tested = sum(fold.test.n_queries for fold in study.folds)
    return (
        f"{len(study.folds)} repeated split(s) ({queries} queries, each tested "
        f"{tested / queries:.3g} times on average)"
    )


def _rules(study: Study) -> list[str]:
    """The rules by which metrics were computed; metrics with equal rules are grouped."""
    done = [choice.evaluation for found in study.results.values() for choice in found]
    by_rules: dict[str, list[str]] = {}
    for metric, rules in done[0].conventions.items() if done else ():
        by_rules.setdefault(rules, []).append(metric)
    said = "; ".join(f"{', '.join(metrics)}: {rules}" for rules, metrics in by_rules.items())
    return [f"Rules by metric: {said}."] if said else []


def _warnings(study: Study) -> list[str]:
    """Warnings of the selected fits: each message once, with the methods and their counts."""
    by_text: dict[str, dict[str, int]] = {}
    for method in study.methods:
        for choice in study.results[method.name]:
            for text in choice.fit.warnings:
                # Numbers in messages differ between folds, but not before the first bracket.
                counts = by_text.setdefault(text.partition(" (")[0], {})
                counts[method.name] = counts.get(method.name, 0) + 1
    return [
        f"Warned: {text}: " + ", ".join(f"{name} ({n})" for name, n in counts.items()) + "."
        for text, counts in by_text.items()
    ]


def _once(study: Study) -> list[Method]:
    """One method of each objective, from any framework."""
    return list({m.name.partition(":")[2]: m for m in reversed(study.methods)}.values())[::-1]


def comparison(study: Study, baseline: str | None = None) -> RunComparison | None:
    """Compare methods on the test queries of all folds; None if fewer than two are finished."""
    found = {method.name: study.evaluation(method) for method in study.methods}
    runs = {name: evaluation for name, evaluation in found.items() if evaluation is not None}
    return compare_runs(runs, baseline=baseline) if len(runs) > 1 else None


def per_query_rows(study: Study) -> Iterator[tuple[str, str, int, str, str, float]]:
    """method, fold, seed, qid, metric, value of every test query."""
    for method in study.methods:
        for choice in study.results[method.name]:
            found = choice.evaluation
            for metric, values in found.per_query.items():
                # A metric over the whole data set has one value and no query.
                qids = found.qid.tolist() if len(values) == found.n_queries else ["all"]
                for qid, value in zip(qids, values.tolist(), strict=True):
                    yield method.name, choice.fold.name, choice.seed, str(qid), metric, value


PER_QUERY = ("method", "fold", "seed", "qid", "metric", "value")


def write_parquet(study: Study, folder: pathlib.Path) -> None:
    """Write ``per_query.parquet``: the rows of per_query.csv, with null if there is no value.

    Raises
    ------
    ImportError
        If polars is not installed.
    """
    try:
        import polars
    except ImportError:
        raise ImportError("Parquet needs polars: pip install 'lambdaplus[dataframe]'") from None
    kinds = (polars.String, polars.String, polars.Int64, polars.String, polars.String)
    schema = dict(zip(PER_QUERY, (*kinds, polars.Float64), strict=True))
    frame = polars.DataFrame(list(per_query_rows(study)), schema=schema, orient="row")
    folder.mkdir(parents=True, exist_ok=True)
    frame.with_columns(polars.col("value").fill_nan(None)).write_parquet(
        folder / "per_query.parquet"
    )


def write_csv(study: Study, folder: pathlib.Path) -> None:
    """Write ``per_query.csv``, ``summary.csv`` and, after searches, ``choices.csv``.

    per_query.csv has the columns method, fold, seed, qid, metric and value, which is empty if a
    metric has no value on a query; summary.csv has method, metric, mean, and the mean of each fold.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "per_query.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(PER_QUERY)
        for *names, value in per_query_rows(study):
            writer.writerow([*names, "" if math.isnan(value) else repr(value)])
    with (folder / "summary.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = [fold.name for fold in study.folds]
        writer.writerow(["method", "metric", "mean", *names])
        for method in study.methods:
            for metric in study.metrics:
                means = study.fold_means(method, metric)
                if means:
                    whole = study.mean(method, metric)
                    mean = "" if np.isnan(whole) else repr(whole)
                    cells = [repr(means[name]) if name in means else "" for name in names]
                    writer.writerow([method.name, str(metric), mean, *cells])
    write_choices(study, folder)
