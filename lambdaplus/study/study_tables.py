"""Tables and files of the results of a study."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from lambdaplus.evaluation import Cell, Table
from lambdaplus.study.results import Results
from lambdaplus.study.summary import Summary, count, label

OURS_IN_WORDS = (
    "lambdaplus: objectives and rankers of this library; lambda_X optimises the metric X. The "
    "others are there for comparison."
)


def results_table(summary: Summary) -> Table:
    """Methods by metrics, for the terminal: test means, with a mark for the best of each column.

    Means that are significantly below the best of their column are marked too, or with a baseline
    those that are significantly above or below it.
    """
    results = summary.results
    columns = [_marks(summary, metric) for metric in summary.metrics]
    by_origin: dict[str, list[str]] = {}
    for method in results.methods:
        by_origin.setdefault(summary.origins[method], []).append(method)
    rows: list[list[Any]] = []
    for origin, methods in by_origin.items():
        rows.append([f"{origin}:", *("" for _ in summary.metrics), ""])
        for method in methods:
            cells = (
                Cell(results.mean(method, metric), marks.get(method, " "))
                for metric, marks in zip(summary.metrics, columns, strict=True)
            )
            rows.append([method, *cells, f"{results.seconds.get(method, 0.0):.1f}s"])
    said = "* highest of its column"
    if (found := summary.comparison) is not None:
        said += "; - significantly below it"
        if found.baseline is not None:
            said = f"+, - significantly above, below {found.baseline}"
    foot = [
        *summary.notes(),
        f"{said}. {summary.test_in_words()}".strip(),
        *([OURS_IN_WORDS] if "lambdaplus" in by_origin else []),
        "time: training over all folds, seeds and parameters.",
        *warnings_of(results),
    ]
    heads = [label(metric).replace("@", "\n@") for metric in summary.metrics]
    return Table(("method", *heads, "time"), rows, foot, narrow=True)


def _marks(summary: Summary, metric: str) -> dict[str, str]:
    """By method: * for the highest mean as far as it is shown, + and - where significant."""
    found = summary.comparison
    if found is not None and found.baseline is not None:
        pairs = [pair for pair in found.of(metric) if pair.p_corrected < found.alpha]
        return {pair.first: "-+"[pair.difference > 0] for pair in pairs}
    if (best := summary.best(metric)) is None:
        return {}
    means = {method: summary.results.mean(method, metric) for method in summary.evaluations}
    # Methods that agree in what is shown are best together.
    top = [method for method, mean in means.items() if f"{mean:.4f}" == f"{means[best]:.4f}"]
    return {**dict.fromkeys(summary.below(metric, best), "-"), **dict.fromkeys(top, "*")}


def lettered_table(summary: Summary) -> Table:
    """Methods by metrics, for a report: test means with the marks of `RunComparison.table`.

    Without a baseline, each finished method has a letter, and a mean is marked with the letters of
    the methods that it is significantly better than.
    """
    results, found = summary.results, summary.comparison
    letters: dict[str, str] = {}
    marks: dict[tuple[str, str], str] = {}
    foot = summary.notes()
    if found is not None:
        for name, (lettered, *cells) in zip(found.names, found.table.rows, strict=True):
            letters[name] = lettered.removesuffix(name).strip()
            marks |= {(name, m): c.mark for m, c in zip(found.means, cells, strict=True)}
        foot.insert(0, found.foot[0])
    rows = [
        [
            method,
            summary.origins[method],
            label(summary.criteria[method]),
            letters.get(method, ""),
            *(
                Cell(results.mean(method, metric), marks.get((method, metric), ""))
                for metric in summary.metrics
            ),
            f"{results.seconds.get(method, 0.0):.1f}",
        ]
        for method in results.methods
    ]
    heads = ("method", "by", "trained for", "letter", *map(label, summary.metrics), "seconds")
    return Table(heads, rows, foot)


def pairs_table(summary: Summary) -> Table | None:
    """Wins, losses, ties and p-values of each pair of methods."""
    if (found := summary.comparison) is None:
        return None
    _, _, *heads = found.pair_table.columns
    return replace(found.pair_table, columns=("metric", "method", *heads))


def folds_table(summary: Summary) -> Table:
    """Means of each fold."""
    results = summary.results
    rows = []
    for metric in summary.metrics:
        for method in results.methods:
            means = results.fold_means(method, metric)
            by_fold = (means.get(fold, math.nan) for fold in results.folds)
            rows.append((method, label(metric), results.mean(method, metric), *by_fold))
    return Table(("method", "metric", "mean", *results.folds), rows)


def chosen_fits(results: Results) -> pl.DataFrame:
    """The parameters and the round that were chosen on each fold, as ``choices.csv`` has them."""
    return results.fits.filter("chosen").select(
        "method", "fold", "seed", "metric", "trial", pl.col("round").alias("rounds"),
        pl.col("validation").alias("value"), "parameters",
    )  # fmt: skip


def choices_table(results: Results) -> Table:
    """`chosen_fits`, for a report."""
    frame = chosen_fits(results)
    rows = [
        (*row, parameters.strip("{}").replace('"', "") or "none tried")
        for *row, parameters in frame.iter_rows()
    ]
    return Table(frame.columns, rows)


def rules_table(results: Results) -> Table:
    """The rules by which metrics were computed; metrics with equal rules share a row."""
    by_rules: dict[str, list[str]] = {}
    for metric, rules in results.about["rules"].items():
        by_rules.setdefault(rules, []).append(label(metric))
    return Table(
        ("metric", "rules"), [(", ".join(metrics), rules) for rules, metrics in by_rules.items()]
    )


def warnings_of(results: Results) -> list[str]:
    """Warnings of the chosen fits: each message once, with the methods and their counts."""
    by_text: dict[str, dict[str, int]] = {}
    keys = ["method", "fold", "seed", "trial"]
    for row in results.fits.filter("chosen").unique(keys, maintain_order=True).to_dicts():
        for line in row["warnings"].splitlines():
            # Numbers in messages differ between folds, but not before the first bracket.
            counts = by_text.setdefault(line.partition(" (")[0], {})
            counts[row["method"]] = counts.get(row["method"], 0) + 1
    return [
        f"Warning: {text}: "
        + ", ".join(f"{name} ({count(n, 'fit')})" for name, n in counts.items())
        + "."
        for text, counts in by_text.items()
    ]


def write_parquet(results: Results, folder: Path) -> None:
    """Write ``per_query.parquet``: the rows of per_query.csv, with null if there is no value."""
    folder.mkdir(parents=True, exist_ok=True)
    results.values.rename({"query": "qid"}).write_parquet(folder / "per_query.parquet")


def write_csv(results: Results, folder: Path) -> None:
    """Write ``per_query.csv``, ``summary.csv`` and ``choices.csv``.

    per_query.csv has the columns method, fold, seed, qid, metric and value, which is empty if a
    metric has no value on a query; summary.csv has method, metric, mean, and the mean of each fold;
    choices.csv has the parameters chosen on validation data.
    """
    folder.mkdir(parents=True, exist_ok=True)
    means = [
        {"method": method, "metric": metric, "mean": results.mean(method, metric), **by_fold}
        for method in results.methods
        for metric in results.metrics
        if (by_fold := results.fold_means(method, metric))
    ]
    columns = {"method": pl.String, "metric": pl.String}
    numbers = dict.fromkeys(("mean", *results.folds), pl.Float64)
    tables = {
        "per_query.csv": results.values.rename({"query": "qid"}),
        "summary.csv": pl.DataFrame(means, schema={**columns, **numbers}),
        "choices.csv": chosen_fits(results),
    }
    for name, table in tables.items():
        (folder / name).write_text(safe_csv(table), encoding="utf-8")


def safe_csv(table: pl.DataFrame) -> str:
    """The table as CSV, with an apostrophe before text that spreadsheets take for a formula."""
    text = pl.selectors.string()
    formula = text.str.contains(r"^[=+\-@\t\r]") & text.cast(pl.Float64, strict=False).is_null()
    safe = pl.when(formula).then("'" + text).otherwise(text).name.keep()
    return table.with_columns(safe, pl.selectors.float().fill_nan(None)).write_csv()
