"""Table 4 with its tests, committee sizes, and orders of the pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl
from scipy import stats

from lambdaplus.evaluation import Cell, Table
from lambdaplus.evaluation.significance import holm
from lambdaplus.study import Results
from papers.elsas_2008.systems import COLUMNS, IN_ORDERS, METRICS, ORDERS, Values
from papers.paper import Claim
from papers.session import LEVEL, points

COMMITTEES = ("Com 30 A", "Com 30 B")
BASELINES = ("RankBoost", "RankSVM")
VARIANTS = ("Pocket", "Average")
PAPER = {
    "RankSVM": ("0.447*", "0.495", "0.458", "0.441"),
    "RankBoost": ("0.440", "0.498", "0.450", "0.436"),
    "Com 30 A": ("0.447*", "0.539", "0.464", "0.450"),
    "Com 30 B": ("0.449*", "0.558†*", "0.464", "0.447"),
    "Pocket": ("0.440", "0.510", "0.426", "0.418"),
    "Average": ("0.443", "0.508", "0.445", "0.429"),
}


def order_table(results: Results, values: Mapping[str, list[Values]]) -> Table:
    """Test NDCG@10: the mean over seeds, and its standard error."""

    def cell(seeds: Sequence[Values]) -> str:
        means = np.array([seed[-1].mean() for seed in seeds])
        error = means.std(ddof=1) / np.sqrt(means.size) if np.ptp(means) > 0 else 0.0
        return points(means.mean()) + (f" \N{PLUS-MINUS SIGN} {points(error)}" if error else "")

    rows = [("reshuffled in every pass", *(cell(values[name]) for name in IN_ORDERS))]
    rows += [
        (reading, *(cell(by_seed(results, f"{name}, {reading}")) for name in IN_ORDERS))
        for reading in ORDERS
    ]
    foot = (
        f"Mean and standard error over {len(values['Average'])} random orders; list order is one."
    )
    return Table(("pairs", *IN_ORDERS), rows, (foot,), narrow=True)


def by_seed(results: Results, method: str) -> list[Values]:
    """By seed (metrics, test queries): one without relevant documents counts 0, as in LETOR."""
    of_method = results.values.filter(pl.col("method") == method).fill_null(0.0)
    return [
        np.array([
            of_seed.filter(pl.col("metric") == metric).sort("fold", "query")["value"]
            for metric in METRICS
        ])
        for _, of_seed in of_method.sort("seed").group_by("seed", maintain_order=True)
    ]  # fmt: skip


def tests(values: Mapping[str, list[Values]], first: str, second: str) -> list[int]:
    """By metric: the seeds whose one-tailed paired t-test says that the first is better.

    A system without seeds meets each of the others'.
    """
    n = max(map(len, values.values()))
    passed = np.zeros(len(METRICS), dtype=int)
    for seed in range(n):
        a, b = (values[name][seed % len(values[name])] for name in (first, second))
        passed += stats.ttest_rel(a, b, axis=1, alternative="greater").pvalue < LEVEL
    return passed.tolist()


Passed = Mapping[tuple[str, str], list[int]]


def mostly(passed: Passed, n_seeds: int, better: Iterable[str], worse: Iterable[str]) -> list[str]:
    """Tests that pass with more than half of the seeds, in words."""
    return [
        f"{one} over {other} by {name}"
        for one, other in itertools.product(better, worse)
        for name, n in zip(COLUMNS, passed[one, other], strict=True)
        if 2 * n > n_seeds
    ]


def means_of(values: Mapping[str, list[Values]], name: str) -> dict[str, float]:
    """By metric, over queries and seeds."""
    means = np.mean([seed.mean(axis=1) for seed in values[name]], axis=0)
    return dict(zip(COLUMNS, map(float, means), strict=True))


def table(values: Mapping[str, list[Values]], passed: Passed) -> Table:
    """Means, marked as the paper's are, with the paper's beside."""
    n_seeds = max(map(len, values.values()))
    rows = []
    for name in values:
        cells: list[object] = [name]
        for k, (mean, paper) in enumerate(
            zip(means_of(values, name).values(), PAPER.get(name, [""] * 4), strict=True)
        ):
            over = {"RankBoost": "*", "RankSVM": "†"}
            marks = [mark for other, mark in over.items()
                     if other != name and 2 * passed[name, other][k] > n_seeds]  # fmt: skip
            cells += [Cell(mean, "".join(marks)), paper]
        rows.append(cells)
    foot = (
        f"Means over test queries and {n_seeds} seeds. * and †: better than RankBoost and RankSVM "
        "by a one-tailed paired t-test at .05, with more than half of the seeds.",
    )
    heads = [head for name in COLUMNS for head in (name, "paper")]
    return Table(("", *heads), rows, foot, narrow=True)


def claims(values: Mapping[str, list[Values]], passed: Passed) -> list[Claim]:
    n = max(map(len, values.values()))
    over = mostly(passed, n, BASELINES + VARIANTS, COMMITTEES)
    worse = mostly(passed, n, BASELINES, COMMITTEES)
    means = {name: means_of(values, name) for name in values}
    best = {name: max(means, key=lambda system: means[system][name]) for name in COLUMNS}

    def listed(significant: Sequence[str]) -> str:
        return f"significant: {', '.join(significant)}" if significant else "no test is significant"

    def metrics_won(name: str) -> str:
        won = (sum(2 * seeds > n for seeds in passed[one, name]) for one in COMMITTEES)
        return f"over {name} by {' and '.join(map(str, won))}"

    by_map = {one: passed[one, "RankBoost"][0] for one in (*COMMITTEES, "RankSVM")}
    by_ndcg = {name: passed["Com 30 B", name][1] for name in BASELINES}
    return [
        Claim(
            "Section 6.2",
            "The committee performs comparably to RankSVM and RankBoost: where one of these is "
            "better, the difference is not significant.",
            not worse, listed(worse),
        ),
        Claim(
            "Section 6.2",
            "The committee is significantly better than the average and pocket perceptrons.",
            all(mostly(passed, n, COMMITTEES, [name]) for name in VARIANTS),
            f"{', '.join(map(metrics_won, VARIANTS))} of {len(COLUMNS)} metrics "
            f"({' and '.join(COMMITTEES)})",
        ),
        Claim(
            "Table 4",
            "The committee and RankSVM are each significantly better than RankBoost by MAP.",
            all(2 * seeds > n for seeds in by_map.values()),
            f"seeds, of {n}: {', '.join(f'{v} ({k})' for k, v in by_map.items())}",
        ),
        Claim(
            "Table 4",
            "By Borda count, the committee is significantly better than both RankSVM and RankBoost "
            "by NDCG@1.",
            all(2 * seeds > n for seeds in by_ndcg.values()),
            f"seeds, of {n}: {', '.join(f'{v} ({k})' for k, v in by_ndcg.items())}",
        ),
        Claim(
            "Table 4", "One of the two committees is best by every metric.",
            all(system in COMMITTEES for system in best.values()),
            f"best: {', '.join(f'{system} ({name})' for name, system in best.items())}",
        ),
        Claim(
            "Table 4", "No test was significant over the committee perceptron.", not over,
            listed(over),
        ),
    ]  # fmt: skip


def size_claim(by_size: Mapping[str, Values]) -> Claim:
    """Two-tailed t-tests of each metric, corrected by Holm over its pairs of sizes."""
    significant = 0
    for k in range(len(METRICS)):
        p = [stats.ttest_rel(a[k], b[k]).pvalue
             for a, b in itertools.combinations(by_size.values(), 2)]  # fmt: skip
        significant += int((holm(np.nan_to_num(p, nan=1.0)) < LEVEL).sum())
    means = ", ".join(f"{points(v[-1].mean())} ({name})" for name, v in by_size.items())
    return Claim(
        "Section 6.2",
        "Committees of up to 100 members do not differ significantly.",
        not significant,
        f"{significant} of {3 * len(METRICS)} t-tests are; NDCG@10 {means}",
    )
