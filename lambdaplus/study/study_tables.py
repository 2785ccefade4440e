"""Tables and files of a study."""

from __future__ import annotations

import csv
import math
import pathlib
from collections.abc import Iterator

import numpy as np

from lambdaplus.data.whole_files import csv_row
from lambdaplus.evaluation import Cell, RunComparison, Table
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.differences import significantly_below
from lambdaplus.study.methods import Method
from lambdaplus.study.searches import summary, write_choices
from lambdaplus.study.shown_metrics import same_in_words, shown_metrics
from lambdaplus.study.store import versions_in_words
from lambdaplus.study.study import Study


def results_table(study: Study, found: RunComparison | None = None) -> Table:
    """Methods by metrics: test means over folds, with a mark for the best of each column.

    Parameters
    ----------
    study : Study
    found : RunComparison, optional
        What `comparison` found: then means that are significantly below the best of their column
        are marked too, or with a baseline those that are significantly above or below it.
    """
    metrics = shown_metrics(study)
    columns = [_marks(study, metric, found) for metric in metrics]
    rows = [
        [
            method.name,
            *(
                Cell(study.mean(method, metric), marks.get(method.name, " "))
                for metric, marks in zip(metrics, columns, strict=True)
            ),
            f"{study.seconds(method):.1f}s",
        ]
        for method in study.methods
    ]
    first, *foot = footnotes(study)
    names = [_heading(str(metric)) for metric in metrics]
    said = "* highest of its column"
    if found is not None:
        said += "; - significantly below it"
        if found.baseline is not None:
            said = f"+, - significantly above, below {found.baseline}"
    return Table(("method", *names, "time"), rows, [f"{said}. {first}", *foot], narrow=True)


def _marks(study: Study, metric: RankingMetric, found: RunComparison | None) -> dict[str, str]:
    """By method: * for the highest mean as far as it is shown, + and - where significant."""
    tested = found is not None and str(metric) in found.means
    if found is not None and tested and found.baseline is not None:
        pairs = [pair for pair in found.of(metric) if pair.p_corrected < found.alpha]
        return {pair.first: "-+"[pair.difference > 0] for pair in pairs}
    means = {method.name: study.mean(method, metric) for method in study.methods}
    known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    best = max(known, key=lambda name: known[name], default=None)
    if best is None:
        return {}
    below = significantly_below(found, str(metric), best) if found is not None and tested else []
    # Methods that agree in what is shown are best together.
    top = [name for name, mean in known.items() if f"{mean:.4f}" == f"{known[best]:.4f}"]
    return {**dict.fromkeys(below, "-"), **dict.fromkeys(top, "*")}


def marked_results(study: Study, found: RunComparison | None) -> Table:
    """Methods by metrics: the means of `results_table` with the marks of `comparison`.

    Without a baseline, each finished method has a letter, and a mean is marked with the letters of
    the methods that it is significantly better than.
    """
    metrics = shown_metrics(study)
    marks: dict[str, tuple[str, list[str]]] = {}
    foot = footnotes(study)
    if found is not None:
        for name, (label, *cells) in zip(found.names, found.table.rows, strict=True):
            letter = "" if found.baseline else label.removesuffix(f" {name}")
            marks[name] = letter, [cell.mark for cell in cells]
        foot = [found.foot[0], *foot]
    rows = []
    for method in study.methods:
        letter, beaten = marks.get(method.name, ("", [""] * len(metrics)))
        means = [study.mean(method, metric) for metric in metrics]
        cells = [Cell(value, mark) for value, mark in zip(means, beaten, strict=True)]
        rows.append([method.name, letter, *cells, f"{study.seconds(method):.1f}"])
    return Table(("method", "letter", *map(str, metrics), "seconds"), rows, foot)


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
        *same_in_words(study),
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
    done = [choice.evaluation for found in study.chosen.values() for choice in found]
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
            writer.writerow(csv_row([*names, "" if math.isnan(value) else repr(value)]))
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
