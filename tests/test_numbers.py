"""The numbers that README and user pages print are those of the files in benchmarks/results."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lambdaplus import lambda_objective
from lambdaplus.evaluation.significance import holm

ROOT = Path(__file__).parents[1]
FRAMEWORKS = ("LightGBM", "XGBoost")
METRICS = {"map": "MAP", "auc": "AUC", "ndcg@10": "NDCG@10", "mrr": "MRR"}


def page(name: str) -> str:
    """The text of a page in one line."""
    return " ".join((ROOT / name).read_text().split())


def measured(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (ROOT / "benchmarks" / "results" / f"{name}.json").read_text()
    )
    return found


def table(name: str, title: str) -> dict[str, list[str]]:
    """The rows of the table whose title begins so, by their first cell."""
    [rows] = [t["rows"] for t in measured(name)["tables"] if t["title"].startswith(title)]
    return {row[0]: list(map(str, row[1:])) for row in rows}


def short(number: float, sign: str = "", digits: int = 3) -> str:
    return re.sub(r"\b0\.", ".", f"{number:{sign}.{digits}f}")


def gain(mean: float, error: float) -> str:
    return f"{short(mean, '+')} ± {short(error)}"


def span(ratios: list[float]) -> str:
    low, high = min(ratios), max(ratios)
    return f"{short(low, digits=2)} to {short(high, digits=2)}"


def gains(name: str) -> list[dict[str, Any]]:
    """The gain over the best built-in objective on the mean of the sets, LightGBM and XGBoost."""
    return [
        one
        for metric in METRICS
        for framework in FRAMEWORKS
        for one in measured(name)["gains"]
        if (one["metric"], one["framework"], one["on"]) == (metric, framework.lower(), "mean")
    ]


# -- README --------------------------------------------------------------------------------------


def test_the_gains_of_the_readme() -> None:
    found = gains("one-line")
    significant = holm(np.array([one["p"] for one in found])) < 0.05
    cells = [
        f"**{gain(one['mean'], one['error'])}**" if yes else gain(one["mean"], one["error"])
        for one, yes in zip(found, significant, strict=True)
    ]
    readme = page("README.md")
    for metric, both in zip(
        METRICS.values(), zip(cells[::2], cells[1::2], strict=True), strict=True
    ):
        assert f"| {metric} | {' | '.join(both)} |" in readme
    assert f"`{measured('one-line')['command']}`" in readme


def test_no_difference_after_a_search_or_by_length_is_significant() -> None:
    assert holm(np.array([one["p"] for one in gains("accuracy")])).min() > 0.05
    p = []
    for row, cells in table("list-lengths", "By length").items():
        sets = int(row.split(", ")[1].split()[0])
        for cell in cells[1::2]:
            mean, error = map(float, cell.rstrip("*").split(" ± "))
            p.append(2 * stats.t.sf(abs(mean / error), sets - 1))
    assert holm(np.array(p)).min() > 0.05


def test_who_is_best_after_a_search() -> None:
    means = {name: list(map(float, row)) for name, row in table("accuracy", "Means over").items()}
    places = {metric: place for place, metric in enumerate(("NDCG@10", "MAP", "MRR", "AUC"))}
    built_in = [name for name in means if name.startswith("lightgbm") and "lambda_" not in name]
    for place in places.values():
        best = max(built_in, key=lambda name: means[name][place])
        assert best == "lightgbm:rank_xendcg"
    for metric in ("MAP", "AUC"):
        best = max(means, key=lambda name: means[name][places[metric]])
        assert best == "catboost:YetiRank:mode=MAP"


def ratios(threads: int, title: str, framework: str) -> list[float]:
    """Time of trainings with lambdaplus relative to the built-in objective."""
    rows = table("training-1-thread" if threads == 1 else "training", title)
    objective = re.compile(f"{framework}, lambda_[a-z0-9@]+")
    return [float(row[1]) for name, row in rows.items() if objective.fullmatch(name)]


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ("12,000 rows in short queries | `lambdarank`, `rank:ndcg`", "Whole training: README's"),
        (
            "180,000 rows in queries of 120 | `lambdarank`, `rank:ndcg`",
            "Whole training: queries of about 120",
        ),
        ("a million rows without queries | log-loss", "Rare positives"),
    ],
)
def test_the_times_of_the_readme(row: str, title: str) -> None:
    cells = [
        span(ratios(threads, title, framework)) for framework in FRAMEWORKS for threads in (1, 2)
    ]
    assert f"| {row} | {' | '.join(cells)} |" in page("README.md")


def test_the_times_of_a_gradient() -> None:
    tables = [
        {row[0]: float(row[3]) for row in one["rows"]}
        for one in measured("speed")["tables"]
        if one["title"].startswith("One gradient") and one["title"].endswith("1 thread")
    ]
    ours = [
        time
        for one in tables
        for name, time in one.items()
        if name.startswith("lambdaplus") and name != "lambdaplus MAUC"
    ]
    cheapest = [one["LightGBM rank_xendcg"] for one in tables]
    readme = page("README.md")
    assert f"A gradient takes {span(ours)} of the time of `lambdarank`'s" in readme
    assert f"takes {span(cheapest)}." in readme
    start = table("speed", "Start")
    first = short(float(start["first gradient after installation, compilation included"][0]), "", 1)
    later = short(float(start["first gradient, import included"][0]), "", 1)
    assert f"takes {first} s after installation, and {later} s in later processes" in readme


def test_the_commands_of_the_readme_are_those_that_ran() -> None:
    shown = re.findall(r"`python benchmarks/training.py ([^`]*)`", page("README.md"))
    assert len(shown) == 1
    for name, threads in (("training", 2), ("training-1-thread", 1)):
        ran = measured(name)["command"]
        for option in re.findall(r"--\w+ \w+", f"{shown[0]} --threads {threads}"):
            assert option in ran
        # The others are defaults of the script.
        script = (ROOT / "benchmarks" / "training.py").read_text().replace("_", "")
        for option, value in re.findall(r"--(\w+) (\w+)", ran):
            if f"--{option} " not in f"{shown[0]} --threads ":
                assert f'"--{option}", type=int, default={value}' in script


# -- user pages ----------------------------------------------------------------------------------


def test_the_numbers_of_choose_an_objective() -> None:
    text = page("docs/choose-an-objective.md")
    short_lists = "30 documents, 10% relevant, noise {}"
    less: dict[str, list[float]] = {"1, uneven": [], "2, even": []}
    for noise, values in less.items():
        for framework in FRAMEWORKS:
            row = table("list-lengths", f"By set, {framework}")[short_lists.format(noise)]
            values.append(-float(row[1].split()[0]))
    lightgbm, xgboost = map(short, less["1, uneven"])
    assert f"a MAP {lightgbm} (LightGBM) and {xgboost} (XGBoost) above lambdaplus" in text
    [alike] = {short(value) for value in less["2, even"]}
    assert f"with noisier labels, the two differ by {alike}" in text
    trees = [
        cell.split()[0][1:]
        for cell in table("what-helps", "What each")["trees and learning rate by validation"][:2]
    ]
    assert f"gains {trees[0]} to {trees[1]} in MAP" in text
    pairs = [
        table("list-lengths", f"By option, {framework}")["map, pairs alone"][0]
        for framework in FRAMEWORKS
    ]
    mean, error = pairs[1].rstrip("*").split(" ± ")
    assert (
        f"gain {short(-float(mean))} ± {short(float(error))} in MAP over pairs alone in XGBoost"
        in text
    )
    assert "*" not in pairs[0]
    quarter = [
        cells
        for name, cells in table("list-lengths", "Cheaper").items()
        if name.endswith("a quarter of the negatives")
    ]
    changes = sorted(float(cells[0].split()[0]) for cells in quarter)
    assert f"MAP changes by {short(changes[0], '+')} to {short(changes[-1], '+')}" in text
    assert f"a round takes {span([float(cells[3]) for cells in quarter])} of the time" in text


def test_the_options_of_the_page_are_those_of_the_function() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]*) \|", (ROOT / "docs/choose-an-objective.md").read_text(), re.M
    )
    parameters = inspect.signature(lambda_objective).parameters
    options = {
        name: parameter.default
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    shown = dict(rows)
    assert set(options) <= set(shown)
    for name, default in options.items():
        if default not in ("default", None):
            assert str(default) in shown[name]


def test_the_numbers_of_rare_positives() -> None:
    text = page("docs/rare-positives.md")
    less = {
        framework: table("whole-tables", f"Less log-loss, {framework.lower()}")
        for framework in FRAMEWORKS
    }
    for name, written in (("lambda_auc", "lambda_auc"), ("map", "lambda_map")):
        cells = [
            re.sub(r"\b0\.", ".", less[framework][name][place])
            for place in (0, 2)
            for framework in FRAMEWORKS
        ]
        assert f"| `{written}` | {' | '.join(cells)} |" in text
    by_table = measured("whole-tables")["tables"]
    [ap] = [one for one in by_table if one["title"].startswith("AP by table")]
    largest = max(
        abs(float(row[place].split()[0]))
        for place, column in enumerate(ap["columns"])
        if column.startswith("lambda_auc")
        for row in ap["rows"]
    )
    assert f"differs by up to {short(largest, digits=2)} in either direction" in text
    slowest = max(
        max(ratios(threads, "Rare positives", framework))
        for threads in (1, 2)
        for framework in FRAMEWORKS
    )
    assert f"up to {slowest:.1f} times as long as with log-loss" in text
    for rows, title in (("10,000 rows", "10,000"), ("a million rows", "1,000,000")):
        one, two = (
            table(name, f"Classifiers: {title} rows") for name in ("training-1-thread", "training")
        )
        cells = [
            f"{float(one[name][1]):.1f} ({float(two[name][1]):.1f})"
            for framework in FRAMEWORKS
            for name in (f"{framework}Classifier", f"{framework}Classifier, cv=None")
        ]
        assert f"| {rows} | {' | '.join(cells)} |" in text


def test_the_numbers_of_real_valued_labels() -> None:
    text = page("docs/real-valued-labels.md")
    returns, claims = table("returns", "Rank IC"), table("claims", "Gini")

    def row(name: str, of: list[str]) -> str:
        better = re.sub(r"\b0\.", ".", of[1].partition(" (")[0])
        return f"{name} {of[0].lstrip('0')} | {better} |"

    assert f"`spearman` {returns['spearman'][0].lstrip('0')} |" in text
    assert f"`gini` {claims['gini'][0].lstrip('0')} |" in text
    assert row("squared error of ranks", returns["squared error of ranks within dates"]) in text
    assert row("squared error of returns", returns["squared error"]) in text
    for name in ("Poisson", "Tweedie"):
        assert row(name, claims[name]) in text
    for name in ("returns", "claims"):
        assert f"`{measured(name)['command']}`" in text
