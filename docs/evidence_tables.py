"""The tables of docs/evidence.md, from the files in benchmarks/results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.significance import holm

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
METRICS = {"map": "MAP", "auc": "AUC", "ndcg@10": "NDCG@10", "mrr": "MRR"}
WORDS = {"binary": "log-loss", "binary:logistic": "log-loss"}
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


def gains(name: str) -> str:
    """The gain of each objective over the best built-in one; bold if significant after Holm."""
    found = [gain for gain in measured(name)["gains"] if gain["on"] == "mean"]
    found = [gain for gain in found if gain["framework"] in FRAMEWORKS]
    corrected = dict(zip(map(_key, found), holm(np.array([g["p"] for g in found])), strict=True))
    by_key = {_key(gain): gain for gain in found}
    rows = []
    for metric, title in METRICS.items():
        row = [title]
        for framework in FRAMEWORKS:
            gain = by_key[metric, framework]
            text = short(f"{gain['mean']:+.3f} ± {gain['error']:.3f}")
            own = gain["own"].partition(":")[2]
            row.append(f"**{text}**" if corrected[metric, framework] < 0.05 else text)
            row.append(WORDS.get(own, f"`{own}`"))
        rows.append(row)
    heads = [h for name in FRAMEWORKS.values() for h in (name, "compared with")]
    return Table(("trained and tested by", *heads), rows).to_markdown()


def _key(gain: dict[str, Any]) -> tuple[str, str]:
    return gain["metric"], gain["framework"]


def times() -> str:
    """Training times relative to lambdarank, rank:ndcg or, without queries, log-loss."""
    rows = []
    for words, title in TRAININGS.items():
        cells = [span(*each) for each in _ratios(title, r"lambda_[\w@]+")]
        rows.append([words, *cells])
    for size, words in (("10,000", "10,000 rows"), ("1,000,000", "a million rows")):
        for cv in ("", ", cv=None"):
            found = _ratios(f"Classifiers: {size} rows", rf"\w+Classifier{cv}", ours=False)
            cells = [span(max(each, key=float)) for each in found]
            rows.append([f"a classifier of {words}{', `cv=None`' if cv else ''}", *cells])
    heads = [f"{name}, {t}" for name in FRAMEWORKS.values() for t in ("1 thread", "2 threads")]
    return Table(("data", *heads), rows).to_markdown()


def _ratios(title: str, pattern: str, *, ours: bool = True) -> list[list[str]]:
    """The ratios of the rows that a pattern describes, by framework and number of threads."""
    found = []
    for framework in FRAMEWORKS.values():
        for name in ("training-1-thread", "training"):
            wanted = re.compile(f"{framework}, {pattern}" if ours else f"{framework[:3]}{pattern}")
            rows = rows_of(name, title)
            found.append([row[2] for row in rows if wanted.fullmatch(row[0])])
    return found


def span(*ratios: str) -> str:
    """The lowest and the highest of numbers, such as .81 to .83."""
    low, high = min(ratios, key=float), max(ratios, key=float)
    return short(low) if low == high else f"{short(low)} to {short(high)}"


def short(text: str) -> str:
    """Numbers without a leading zero."""
    return re.sub(r"(?<![\d.])0\.", ".", text)


KINDS = {made.__name__: made for made in (gains, times)}
