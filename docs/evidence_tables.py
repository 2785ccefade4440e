"""The tables of docs/evidence.md, from the files in benchmarks/results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lambdaplus.evaluation import Table

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
SHOWN = ("MAP", "NDCG@10")
REAL = "LETOR, MSLR, ClueWeb09, flights"
LONG = "lists of 1,000 documents"
OF_KINDS = (  # words, kind in the results, and metric; the page Accuracy has all metrics
    (LONG, LONG, "MAP"),
    (f"{LONG}, trees that see every row", f"{LONG}, trees that see every row", "MAP"),
    ("short lists with grades, flights", REAL, "MAP"),
    ("short lists, which nobody else trains", REAL, "AUC"),
    ("clean labels: images of digits", "images of digits", "MAP"),
    ("categories and missing cells", "categories and missing cells", "MAP"),
)
TRAININGS = {  # rows of the table of times, and the titles of what was measured
    "12,000 rows in short queries": "Whole training: README's example",
    "180,000 rows in queries of about 120": "Whole training: queries of about 120",
    "300,000 rows in queries of 10 to 50": "Whole training: queries of 10 to 50",
    "a million rows without queries": "Rare positives",
}


def measured(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def rows_of(name: str, title: str) -> list[list[str]]:
    """The rows of the first table whose title begins so."""
    return next(t["rows"] for t in measured(name)["tables"] if t["title"].startswith(title))


def boxes() -> str:
    """What trees and objectives gain on real sets; bold if significant after Holm."""
    found: dict[str, Any] = next(
        t for t in measured("accuracy")["tables"] if t["title"] == "Real sets"
    )
    shown = [i for i, head in enumerate(found["columns"]) if head.startswith(SHOWN)]
    rows = [[_code(row[0]), *(_cell(row[i]) for i in shown)] for row in found["rows"]]
    return Table(("", *(found["columns"][i] for i in shown)), rows).to_markdown()


def kinds() -> str:
    """lambdaplus less the best built-in objective with the same trees, by kind of data."""
    alone, both = map(_by_kind, ("By kind", "By kind, pairs with log-loss"))
    shown = [
        [words, metric.replace("RECALL", "recall"), *(
            _cell(found.get(kind, {}).get(f"{metric}, {name}", ""), named=found is alone)
            for found in (alone, both) for name in FRAMEWORKS.values()
        )]
        for words, kind, metric in OF_KINDS
    ]  # fmt: skip
    of_tables = [_less_log_loss(framework) for framework in FRAMEWORKS]
    of_ranks, of_tweedie = (
        _cell(next(row[2] for row in rows_of(*of) if row[0] == name).partition(" (")[0])
        for of, name in (
            (("returns", "Rank IC"), "squared error of ranks within dates"),
            (("claims", "Gini"), "Tweedie"),
        )
    )
    none = [""] * 3
    shown += [
        ["tables without queries", "AUC", *of_tables, *none[1:]],
        ["decimals: returns", "rank correlation", f"{of_ranks} (squared error of ranks)", *none],
        ["decimals: claims", "Gini", f"{of_tweedie} (Tweedie)", *none],
    ]  # fmt: skip
    heads = (*FRAMEWORKS.values(), *(f"with log-loss, {name}" for name in FRAMEWORKS.values()))
    return Table(("data", "metric", *heads), shown).to_markdown()


def _by_kind(title: str) -> dict[str, dict[str, str]]:
    """The cells of a table of `benchmarks/accuracy.py` by kind of data and column."""
    table = next(t for t in measured("accuracy")["tables"] if t["title"] == title)
    return {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}


def _less_log_loss(framework: str) -> str:
    """The AUC of lambda_auc on whole tables less that of log-loss."""
    found = {row[0]: row[1] for row in rows_of("whole-tables", f"Less log-loss, {framework}")}
    return f"{_cell(found['lambda_auc'])} (log-loss)"


def _cell(text: str, named: bool = True) -> str:
    """A difference with three digits, bold if it has a star; what follows, names as code."""
    if not text:
        return ""
    difference, _, name = text.partition(" (")
    star = difference.endswith("*")
    mean, _, error = difference.rstrip("*").partition(" ± ")
    if not error:
        return short(f"{float(mean):.3f}")
    rounded = round(float(mean), 3) + 0.0  # not -0.0
    cell = short(f"{rounded:+.3f} ± {float(error):.3f}")
    cell = f"**{cell}**" if star else cell
    if not named:
        return cell + ", level" * text.endswith(", level")
    return f"{cell} ({_code(name)}" if name else cell


def _code(text: str) -> str:
    """The names of objectives and functions as code."""
    return re.sub(r"\b(?:lambdarank|rank:\w+|rank_xendcg|ranking_trees)\b", r"`\g<0>`", text)


def times() -> str:
    """Training times relative to lambdarank, rank:ndcg or, without queries, log-loss."""
    rows = []
    for words, title in TRAININGS.items():
        cells = [span(*each) for each in _ratios(title)]
        rows.append([words, *cells])
    heads = [f"{name}, {t}" for name in FRAMEWORKS.values() for t in ("1 thread", "2 threads")]
    return Table(("data", *heads), rows).to_markdown()


def _ratios(title: str) -> list[list[str]]:
    """The ratios of the rows of lambdaplus, by framework and number of threads."""
    return [
        [
            row[2]
            for row in rows_of(name, title)
            if re.fullmatch(rf"{framework}, lambda_[\w@]+", row[0])
        ]
        for framework in FRAMEWORKS.values()
        for name in ("training-1-thread", "training")
    ]


def span(*ratios: str) -> str:
    """The lowest and the highest of numbers, such as .81 to .83."""
    low, high = min(ratios, key=float), max(ratios, key=float)
    return short(low) if low == high else f"{short(low)} to {short(high)}"


def short(text: str) -> str:
    """Numbers without a leading zero."""
    return re.sub(r"(?<![\d.])0\.", ".", text)


KINDS = {made.__name__: made for made in (boxes, kinds, times)}
