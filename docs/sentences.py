"""The numbers that sentences of the README and of the pages print, from benchmarks/results.

`generate.py` writes them: a page that has the words of a sentence with other numbers gets these.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FRAMEWORKS = ("LightGBM", "XGBoost")


def measured(name: str) -> dict[str, Any]:
    text = (ROOT / "benchmarks" / "results" / f"{name}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def rows(name: str, title: str) -> dict[str, list[str]]:
    """The rows of the first table whose title begins so, by their first cell."""
    found = next(t["rows"] for t in measured(name)["tables"] if t["title"].startswith(title))
    return {row[0]: list(map(str, row[1:])) for row in found}


def starred(cell: str) -> str:
    """A difference as tables print it, without leading zeros."""
    return re.sub(r"(?<![\d.])0\.", ".", re.sub(r" \(.*", "", cell))


def plain(cell: str) -> str:
    """As sentences print it, without a star."""
    return starred(cell).replace("*", "")


def span(values: list[float], digits: int = 2) -> str:
    return plain(f"{min(values):.{digits}f} to {max(values):.{digits}f}")


def short(number: float, sign: str = "", digits: int = 3) -> str:
    return plain(f"{number:{sign}.{digits}f}")


def training(title: str, framework: str, threads: int) -> list[float]:
    """Time of trainings with lambdaplus relative to the framework's own objective."""
    found = rows("training-1-thread" if threads == 1 else "training", title)
    ours = re.compile(f"{framework}, lambda_[a-z0-9@]+")
    return [float(row[1]) for name, row in found.items() if ours.fullmatch(name)]


def gradients() -> list[dict[str, float]]:
    """Time relative to lambdarank of each table of gradients on one thread."""
    return [
        {row[0]: float(row[3]) for row in table["rows"]}
        for table in measured("speed")["tables"]
        if re.match("One gradient: .*, 1 thread", table["title"])
    ]


def of_lambdaplus(table: dict[str, float]) -> list[float]:
    return [time for name, time in table.items() if name.startswith("lambdaplus")]


def less_log_loss(framework: str, name: str = "whole-tables") -> list[str]:
    return rows(name, f"Less log-loss, {framework.lower()}")["lambda_auc"]


def classifiers(name: str, of: str = "10,000") -> dict[str, float]:
    found = rows(name, f"Classifiers: {of} rows")
    return {row: float(cells[1]) for row, cells in found.items()}


def halves(of: str) -> list[float]:
    """Time of a default classifier relative to one with cv=None."""
    each = (classifiers(name, of) for name in ("training-1-thread", "training"))
    names = [f"{framework}Classifier" for framework in FRAMEWORKS]
    return [times[name] / times[f"{name}, cv=None"] for times in each for name in names]


def sentences_of_a_gradient() -> list[str]:
    every = [time for table in gradients() for time in of_lambdaplus(table)]
    cheapest = [table["LightGBM rank_xendcg"] for table in gradients()]
    first = [float(row[0]) for name, row in rows("speed", "Start").items() if "first" in name]
    return [
        f"takes {span(every)} of the time of `lambdarank`'s",
        f"takes {span(cheapest)}.",
        f"takes {first[1]:.1f} s after installation, and {plain(f'{first[0]:.1f}')} s in later",
    ]


def sentences_of_the_readme() -> list[str]:
    both, alone = (
        [short(float(cell.split()[0].strip("*"))) for cell in rows("accuracy", "Real sets")[of][:2]]
        for of in ("lambdaplus, ranking_trees", "lambdarank, rank:ndcg, ranking_trees")
    )
    lightgbm, xgboost = (training("Whole training: queries", name, 1) for name in FRAMEWORKS)
    return [
        f"together improve MAP by {both[0]} in LightGBM and {both[1]} in XGBoost",
        f"trees alone, by {alone[0]} and {alone[1]}.",
        f"takes {span(lightgbm)} of the time of one with `lambdarank`",
        f"and {span(xgboost)} of one with `rank:ndcg`",
        f"takes up to {longest_on_a_table():.1f} times as long as log-loss",
    ]


def to_the_best(place: int) -> list[str]:
    """Rounds (4) or seconds (5) of `map` relative to lambdarank and rank:ndcg, on real sets."""
    [table] = [t for t in measured("accuracy")["tables"] if t["title"].startswith("Time to")]
    return [
        short(float(row[place]), digits=2)
        for row in table["rows"]
        if row[0].startswith("LETOR") and row[1:3] == ["ranking_trees", "map"]
    ]


def sentences_of_moving() -> list[str]:
    (lightgbm, xgboost), (seconds, of_xgboost) = map(to_the_best, (4, 5))
    return [
        f"`map` takes {lightgbm} of the rounds of `lambdarank` and {xgboost} of those of",
        f"and {seconds} and {of_xgboost} of the seconds",
    ]


def longest_on_a_table() -> float:
    """Time of a training without queries relative to log-loss, at most."""
    return max(
        max(training("Rare positives", name, threads)) for name in FRAMEWORKS for threads in (1, 2)
    )


def sentences_of_speed() -> list[str]:
    titles = {"about 120 documents, five grades": "120", "10 to 50 documents, three grades": "a m"}
    found = []
    for words in titles:
        [table] = [
            [(row[0], float(row[3]), float(row[4])) for row in table["rows"]]
            for table in measured("speed")["tables"]
            if words in table["title"] and ", 1 thread" in table["title"]
            and "10,000 rows" not in table["title"]
        ]  # fmt: skip
        ours = [row for row in table if row[0].startswith("lambdaplus")]
        both = [span([row[i] for row in ours]) for i in (1, 2)]
        found.append(f"| {words} | {both[0]} ({both[1]}) |")
    labels = [row[1:] for row in measured("many-labels")["tables"][0]["rows"]]
    of_5000 = [list(map(float, row[2:5])) for row in labels if row[0] == "5,000"]
    million = [row for row in labels if row[0] == "1,000,000"]
    lists = rows("long-lists", "One gradient").items()
    of_lists = [list(map(float, row)) for name, row in lists if ", 1,000,000 rows" in name]
    shorter = [float(row[0]) for name, row in lists if ", 50,000 rows" in name]
    cheapest = [table["LightGBM rank_xendcg"] for table in gradients()]
    return [
        *found,
        f"compares no pairs, takes {span(cheapest)}.",
        f"takes {span([row[0] for row in of_lists], 0)} ns a row on one thread",
        f"and {span([row[1] for row in of_lists], 0)} ns after few rounds",
        f"With 50,000 rows it is {span(shorter, 0)} ns a row",
        f"labels takes {span([float(row[2]) / 1000 for row in million])} s.",
        *sentences_of_a_gradient()[2:],
        f"this takes {span(halves('10,000'), 1)} times as long as `cv=None`",
        f"with one half, {span(halves('1,000,000'), 1)} times",
        f"takes {span([row[0] for row in of_5000], 1)} ms with the",
        f"it takes {span([row[2] / row[0] for row in of_5000])} of the",
        f"and {span([row[1] for row in of_5000], 1)} ms pair by pair",
    ]


def sentences_of_options() -> list[str]:
    lightgbm, xgboost = map(less_log_loss, FRAMEWORKS)
    sizes = [less_log_loss(framework, "whole-tables-sizes")[0] for framework in FRAMEWORKS]
    validation = rows("whole-tables", "Validation")["lambda_auc"]
    return [
        f"by {plain(validation[0])[1:]} and {plain(validation[2])[1:]}.",
        f"by {plain(lightgbm[0])} (LightGBM) and {plain(xgboost[0])} (XGBoost) in AUC, and by "
        f"{plain(lightgbm[2])} and {plain(xgboost[2])} in average precision",
        f"AUC differs by {plain(sizes[0])} and {plain(sizes[1])}.",
    ]


def sentences_of_short_options() -> list[str]:
    return sentences_of_options()[:1]


def sentences_of_rare_positives() -> list[str]:
    [ap] = [t for t in measured("whole-tables")["tables"] if t["title"].startswith("AP by table")]
    ours = [i for i, column in enumerate(ap["columns"]) if column.startswith("lambda_auc")]
    largest = max(abs(float(row[i].split()[0])) for row in ap["rows"] for i in ours)
    found = [f"differs by up to {short(largest, digits=2)} in either direction"]
    for name, written in (("lambda_auc", "lambda_auc"), ("map", "lambda_map")):
        both = [rows("whole-tables", f"Less log-loss, {each.lower()}")[name] for each in FRAMEWORKS]
        cells = [starred(less[place]) for place in (0, 2) for less in both]
        found.append(f"| `{written}` | {' | '.join(cells)} |")
    for size, title in (("10,000 rows", "10,000"), ("a million rows", "1,000,000")):
        one, two = (classifiers(name, title) for name in ("training-1-thread", "training"))
        names = [f"{each}Classifier{cv}" for each in FRAMEWORKS for cv in ("", ", cv=None")]
        cells = [f"{one[name]:.1f} ({two[name]:.1f})" for name in names]
        found.append(f"| {size} | {' | '.join(cells)} |")
    return found


def sentences_of_accuracy() -> list[str]:
    """Significant differences from the best built-in objective, by set and metric."""
    cells = [
        cell.partition(" (")[0]
        for table in measured("accuracy")["tables"]
        if table["title"].startswith("By set")
        for row in table["rows"]
        for cell in row[1:]
    ]
    stars = [cell for cell in cells if cell.endswith("*")]
    ahead = [cell for cell in stars if cell.startswith("+")]
    return [
        f"{len(stars)} of {len(list(filter(None, cells)))} differences from the best",
        f"is ahead in {len(ahead)}",
        f"is behind in {len(stars) - len(ahead)}",
    ]


PAGES = {
    "README.md": sentences_of_the_readme,
    "docs/rare-positives.md": sentences_of_rare_positives,
    "docs/evidence.md": sentences_of_a_gradient,
    "docs/move-a-pipeline.md": sentences_of_moving,
    "benchmarks/results/accuracy.md": sentences_of_accuracy,
    "benchmarks/results/options.md": sentences_of_options,
    "docs/research/results/accuracy.md": sentences_of_accuracy,
    "docs/research/results/speed.md": sentences_of_speed,
    "docs/research/results/options.md": sentences_of_short_options,
}


NUMBER = r"[+-]?\d*\.?\d+\*?"


def rewritten(name: str, page: str) -> str:
    """The text of a page with the numbers of its sentences."""
    for sentence in PAGES[name]() if name in PAGES else ():
        if sentence in " ".join(page.split()):
            continue
        words = [re.escape(part).replace(r"\ ", r"\s+") for part in re.split(NUMBER, sentence)]
        found = re.findall(NUMBER.join(words), page)
        if len(found) != 1:
            raise ValueError(f"{name} has no single sentence such as {sentence!r}")
        page = page.replace(found[0], _with(re.findall(NUMBER, sentence), found[0]))
    return page


def _with(numbers: list[str], sentence: str) -> str:
    left = iter(numbers)
    return re.sub(NUMBER, lambda _: next(left), sentence)
