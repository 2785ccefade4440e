"""The page of the accuracy study: who is best by which metric, and is it chance."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lambdaplus.comparison import Study
from lambdaplus.comparison.searches import summary
from lambdaplus.evaluation.significance import holm
from lambdaplus.evaluation.tables import Cell, Table

METRICS = {"ndcg@10": "NDCG@10", "map": "MAP", "mrr": "MRR", "auc": "AUC"}
FRAMEWORKS = ("lightgbm", "xgboost", "catboost")
SPECIALISTS = {
    "ndcg@10": "lambda_ndcg",
    "map": "lambda_map",
    "mrr": "lambda_mrr",
    "auc": "lambda_auc",
}
ALPHA = 0.05
Values = dict[str, dict[str, NDArray[Any]]]  # method, set: one value per query


class Difference(NamedTuple):
    mean: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.error:.4f}"


def chosen_values(
    studies: Mapping[str, Study], metric: str, part: Literal["valid", "test"]
) -> Values:
    """Each query's value at the trial chosen on validation queries, averaged over seeds.

    Queries on which a metric is not defined (no relevant document) are left out.
    """
    found: Values = {}
    for name, study in studies.items():
        for method in study.methods:
            by_fold: dict[str, list[NDArray[Any]]] = {}
            for choice in study.results[method.name]:
                evaluation = choice.evaluation if part == "test" else choice.validation()
                by_fold.setdefault(choice.fold.name, []).append(evaluation.per_query[metric])
            values = np.concatenate([np.mean(seeds, axis=0) for seeds in by_fold.values()])
            found.setdefault(method.name, {})[name] = values[~np.isnan(values)]
    return found


def mean_of(values: Values, label: str, sets: list[str]) -> float:
    return float(np.mean([values[label][name].mean() for name in sets]))


def difference(values: Values, first: str, second: str, sets: list[str]) -> Difference:
    """Of the means over sets, by a t-test paired by query.

    The error of a mean over sets has Welch and Satterthwaite's degrees of freedom; with one set
    this is the paired t-test.
    """
    gains = [values[first][name] - values[second][name] for name in sets]
    mean = float(np.mean([gain.mean() for gain in gains]))
    variances = np.array([gain.var(ddof=1) / gain.size for gain in gains]) / len(sets) ** 2
    error = float(np.sqrt(variances.sum()))
    if error == 0.0:
        return Difference(mean, error, 1.0 if mean == 0.0 else 0.0)
    freedom = variances.sum() ** 2 / np.sum(variances**2 / [gain.size - 1 for gain in gains])
    return Difference(mean, error, float(2 * stats.t.sf(abs(mean) / error, freedom)))


def corrected(values: Values, label: str, sets: list[str]) -> dict[str, Difference]:
    """Every other contender's difference to one, its p-value after Holm's correction."""
    others = [other for other in values if other != label]
    found = [difference(values, other, label, sets) for other in others]
    p = holm(np.array([each.p for each in found]))
    return {
        other: each._replace(p=float(q)) for other, each, q in zip(others, found, p, strict=True)
    }


def is_ours(label: str) -> bool:
    return ":lambda_" in label


def leader(values: Values, sets: list[str], ours: bool | None = None) -> str:
    """The best mean over sets; of our objectives, of the others, or of all."""
    labels = [label for label in values if ours is None or is_ours(label) == ours]
    return max(labels, key=lambda label: mean_of(values, label, sets))


# The page ---------------------------------------------------------------------------------------


def marked(values: Values, sets: list[str]) -> dict[str, str]:
    """Who is significantly above (+) or below (-) the best of our objectives."""
    found = corrected(values, leader(values, sets, ours=True), sets)
    return {label: "+-"[d.mean < 0] for label, d in found.items() if d.p < ALPHA}


def table(values: Values, sets: list[str], shown: str) -> Table:
    """Means of all contenders, the best first; marks against our best one of each column."""
    columns = [*([name] for name in sets), sets]
    marks = [marked(values, column) for column in columns]
    order = sorted(values, key=lambda label: -mean_of(values, label, sets))
    rows = [
        [label]
        + [
            Cell(mean_of(values, label, column), mark.get(label, ""))
            for column, mark in zip(columns, marks, strict=True)
        ]
        for label in order
    ]
    foot = (
        f"test {shown}; +, -: significantly above, below the best of our objectives in that column",
    )
    return Table(["", *sets, "mean"], rows, foot, narrow=True)


def overview(by_metric: dict[str, Values], sets: list[str]) -> Table:
    """Means over sets by every metric, in the order of the contenders."""
    marks = {metric: marked(values, sets) for metric, values in by_metric.items()}
    rows = [
        [label]
        + [
            Cell(mean_of(values, label, sets), marks[metric].get(label, ""))
            for metric, values in by_metric.items()
        ]
        for label in next(iter(by_metric.values()))
    ]
    foot = ("means over sets; +, -: significantly above, below the best of our objectives",)
    return Table(["", *METRICS.values()], rows, foot, narrow=True)


def sentence(values: Values, metric: str, sets: list[str]) -> str:
    """Who is best on the mean over sets, and by how much."""
    best = leader(values, sets)
    rival = leader(values, sets, ours=not is_ours(best))
    lead = difference(values, best, rival, sets)
    side = "of the others" if is_ours(best) else "of ours"
    return (
        f"**{METRICS[metric]}**: best on the mean over sets is {best} "
        f"({mean_of(values, best, sets):.4f}); the best {side}, "
        f"{rival}, is {lead.mean:.4f} ± {lead.error:.4f} behind it (p = {lead.p:.2g})."
    )


def specialists(values: Values, metric: str, sets: list[str]) -> list[str]:
    """Our objective for a metric beside each framework's own best, and where it is behind any."""
    said = []
    for framework in FRAMEWORKS:
        label = f"{framework}:{SPECIALISTS[metric]}"
        if label not in values:
            continue
        text = f"{label}: {mean_of(values, label, sets):.4f}"
        own = [o for o in values if o.startswith(f"{framework}:") and not is_ours(o)]
        if own:
            best = max(own, key=lambda other: mean_of(values, other, sets))
            lead = difference(values, label, best, sets)
            text += f", {lead} to {best} (p = {lead.p:.2g})"
        worse = []
        for where, column in [*((name, [name]) for name in sets), ("the mean", sets)]:
            found = corrected(values, label, column)
            better = [k for k, d in found.items() if d.mean > 0 and d.p < ALPHA]
            if better:
                worse.append(f"{where} ({max(better, key=lambda k: mean_of(values, k, column))})")
        said.append(f"{text}; significantly behind on {', '.join(worse) or 'no set'}.")
    return said


def write_page(studies: Mapping[str, Study], command: str, results: pathlib.Path) -> str:
    """Write `results`.md and .json; returns the sentences."""
    first = next(iter(studies.values()))
    sets = list(studies)
    tested = {metric: chosen_values(studies, metric, "test") for metric in METRICS}
    validated = {metric: chosen_values(studies, metric, "valid") for metric in METRICS}
    sentences, tables = [], []
    for metric, shown in METRICS.items():
        values = tested[metric]
        lines = [sentence(values, metric, sets), *specialists(values, metric, sets)]
        sentences.append("\n  - ".join(lines))
        tables.append(f"## {shown}\n\n{table(values, sets, shown).to_markdown()}")
    intro = (
        f"Seeds: {len(first.seeds)}, trials of random search: {first.trials} for each method on "
        f"each fold with each seed, up to {first.settings.rounds:,} rounds; trial and round are "
        "chosen on validation queries by the metric shown. Queries without relevant documents are "
        "left out; values are averaged over seeds; ±: standard errors. Significance is by t-tests "
        "paired by query with Holm's correction over methods; only the p-values of the list are of "
        "one pair. Queries of a fold share their models, so that all are somewhat too small."
    )
    searched = "\n".join(f"- {name}: {summary(study)}" for name, study in studies.items())
    text = "\n\n".join(
        [
            "# Which objective is best by which metric?",
            f"    {command}",
            intro,
            searched,
            "\n".join(f"- {each}" for each in sentences),
            f"## Means over sets\n\n{overview(tested, sets).to_markdown()}",
            *tables,
        ]
    )
    results.parent.mkdir(parents=True, exist_ok=True)
    results.with_suffix(".md").write_text(text + "\n")
    means = {
        metric: {"valid": means_of(validated[metric]), "test": means_of(tested[metric])}
        for metric in METRICS
    }
    kept = {"command": command, "sentences": sentences, "means": means}
    results.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n")
    return "\n".join(sentences)


def means_of(values: Values) -> dict[str, dict[str, float]]:
    return {
        label: {name: float(each.mean()) for name, each in by_set.items()}
        for label, by_set in values.items()
    }
