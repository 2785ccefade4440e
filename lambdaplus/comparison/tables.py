"""A study as a table on the terminal and as CSV files."""

from __future__ import annotations

import csv
import importlib.metadata
import math
import pathlib
from typing import TYPE_CHECKING

import numpy as np

from lambdaplus.comparison.methods import Method
from lambdaplus.comparison.study import Study

if TYPE_CHECKING:
    from rich.table import Table


def results_table(study: Study) -> Table:
    """Methods by metrics: test means over folds, the best of each column marked with a star."""
    from rich import box
    from rich.table import Table

    means = np.array([[study.mean(m, k) for k in study.metrics] for m in study.methods])
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for metric in study.metrics:
        table.add_column(_heading(str(metric)), justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    best = [np.nanmax(column) if not np.isnan(column).all() else math.nan for column in means.T]
    for method, row in zip(study.methods, means, strict=True):
        # Methods that agree in what is shown are best together.
        shown = [(_digits(value), _digits(top)) for value, top in zip(row, best, strict=True)]
        cells = [
            "- " if text == "nan" else f"[bold green]{text}*[/]" if text == top else f"{text} "
            for text, top in shown
        ]
        table.add_row(method.name, *cells, f"{study.seconds(method):.1f}s")
    return table


def _digits(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")  # seven metrics fit in 80 columns


def _heading(name: str) -> str:
    name, at, cutoff = (name if "(" in name else name.upper()).partition("@")
    return f"{name}\n{at}{cutoff}" if at else name


def footnotes(study: Study) -> list[str]:
    """What the numbers of the table are."""
    queries = sum(fold.test.n_queries for fold in study.folds)
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions().items())
    return [
        f"Test means: over the queries of a fold, then over {len(study.folds)} folds ({queries} "
        "test queries). * best in its column.",
        "Queries on which a metric has no value (no relevant document) are left out; ties count "
        "at the mean over their orders; NDCG: gain 2^l - 1, discount log2(1 + rank).",
        f"{study.settings}.",
        "Stopped on: "
        + ", ".join(f"{method.name.partition(':')[2]} {method.stops_on}" for method in _once(study))
        + ".",
        versions + ".",
    ]


def _once(study: Study) -> list[Method]:
    """One method of each objective, whatever its framework."""
    return list({m.name.partition(":")[2]: m for m in reversed(study.methods)}.values())[::-1]


def installed_versions() -> dict[str, str]:
    """Versions of lambdaplus and of what it runs on, of those that are installed."""
    found = {}
    for name in ("lambdaplus", "lightgbm", "xgboost", "numpy", "numba", "scikit-learn"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def write_csv(study: Study, folder: pathlib.Path) -> None:
    """Write ``per_query.csv`` and ``summary.csv``.

    per_query.csv has method, fold, qid, metric, value, blank where a metric has no value on a
    query; summary.csv has method, metric, mean, and a column of means for each fold.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "per_query.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "fold", "qid", "metric", "value"])
        for result in study.results:
            if result.evaluation is None:
                continue
            test = result.fold.test
            qids = test.qid[np.cumsum(test.group) - 1]
            for name, values in result.evaluation.per_query.items():
                for qid, value in zip(qids, values, strict=True):
                    shown = "" if np.isnan(value) else repr(float(value))
                    writer.writerow([result.method.name, result.fold.name, qid, name, shown])
    with (folder / "summary.csv").open("w", newline="") as file:
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
