"""The page of the accuracy study: who is best by which metric, and is it chance."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping

from accuracy_readme import readme
from accuracy_values import (
    ALPHA,
    FRAMEWORKS,
    METRICS,
    SPECIALISTS,
    Values,
    chosen_values,
    corrected,
    difference,
    gains,
    is_ours,
    leader,
    mean_of,
    on_all,
    pair,
)

from lambdaplus.evaluation.result_tables import Cell, Table
from lambdaplus.study import Study
from lambdaplus.study.searches import search_in_words

# Where the site shows what docs/figures/accuracy_gains.py draws; elsewhere a comment.
CHART = (
    "<!-- chart: accuracy-gains: Gain of our objective for each metric over the framework's own "
    "best, with 95% intervals -->"
)


def marked(values: Values, sets: list[str]) -> dict[str, str]:
    """Who is significantly above (+) or below (-) the best of our objectives."""
    best = leader(values, sets, ours=True)
    found = corrected(values, best, sets) if best else {}
    return {label: "+-"[d.mean < 0] for label, d in found.items() if d.p < ALPHA}


def table(values: Values, sets: list[str], shown: str) -> Table:
    """Means of all contenders, the best first; marks against our best one of each column."""
    columns = [*([name] for name in sets), sets]
    marks = [marked(values, column) for column in columns]
    complete = on_all(values, sets)
    # Contenders that lack a set have no mean over sets, and come last.
    order = sorted(
        values,
        key=lambda label: (label not in complete, -mean_of(values, label, list(values[label]))),
    )
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
        for label in on_all(next(iter(by_metric.values())), sets)
    ]
    foot = ("means over sets; +, -: significantly above, below the best of our objectives",)
    return Table(["", *METRICS.values()], rows, foot, narrow=True)


def sentence(values: Values, metric: str, sets: list[str]) -> str:
    """Who is best on the mean over sets, and by how much."""
    best = leader(values, sets)
    if best is None:
        return f"**{METRICS[metric]}**: no method was trained on every set."
    mean = f"{best} ({mean_of(values, best, sets):.4f})"
    rival = leader(values, sets, ours=not is_ours(best))
    if rival is None:
        return f"**{METRICS[metric]}**: best on the mean over sets is {mean}."
    lead = difference(values, best, rival, sets)
    said = f"{lead.mean:.4f} ± {lead.error:.4f} behind it (p = {lead.p:.2g})"
    side = "of the others" if is_ours(best) else "of ours"
    if lead.p >= ALPHA:
        return (
            f"**{METRICS[metric]}**: no significant difference between the highest mean over sets, "
            f"{mean}, and the best {side}, {rival}, which is {said}."
        )
    return (
        f"**{METRICS[metric]}**: best on the mean over sets is {mean}; the best {side}, {rival}, "
        f"is {said}."
    )


def specialists(values: Values, metric: str, sets: list[str]) -> list[str]:
    """Our objective for a metric beside each framework's own best, and where it is behind any."""
    said = []
    for framework in FRAMEWORKS:
        label = f"{framework}:{SPECIALISTS[metric]}"
        if label not in on_all(values, sets):
            continue
        text = f"{label}: {mean_of(values, label, sets):.4f}"
        if both := pair(values, metric, framework, sets):
            lead = difference(values, *both, sets)
            text += f", {lead} to {both[1]} (p = {lead.p:.2g})"
        worse = []
        for where, column in [*((name, [name]) for name in sets), ("the mean", sets)]:
            found = corrected(values, label, column)
            better = [k for k, d in found.items() if d.mean > 0 and d.p < ALPHA]
            if better:
                worse.append(f"{where} ({max(better, key=lambda k: mean_of(values, k, column))})")
        said.append(f"{text}; significantly behind on {', '.join(worse) or 'no set'}.")
    return said


def folded(title: str, content: str) -> str:
    """What unfolds at a click, on GitHub and on the site."""
    return f"<details>\n<summary>{title}</summary>\n\n{content}\n\n</details>"


def write_page(studies: Mapping[str, Study], command: str, results: pathlib.Path) -> str:
    """Write `results`.md, .json and -readme.md; returns the sentences.

    The studies may have different methods, such as CatBoost's on some of the sets only.
    """
    first = next(iter(studies.values()))
    sets = list(studies)
    tested = {metric: chosen_values(studies, metric, "test") for metric in METRICS}
    validated = {metric: chosen_values(studies, metric, "valid") for metric in METRICS}
    sentences, tables = [], []
    for metric, shown in METRICS.items():
        values = tested[metric]
        lines = [sentence(values, metric, sets), *specialists(values, metric, sets)]
        sentences.append("\n  - ".join(lines))
        by_set = table(values, sets, shown).to_markdown()
        tables.append(f"## {shown}\n\n{folded(f'{shown} on each set', by_set)}")
    intro = (
        f"Seeds: {len(first.seeds)}, trials of random search: {first.trials} for each method on "
        f"each fold with each seed, up to {first.settings.rounds:,} rounds; trial and round are "
        "chosen on validation queries by the metric shown. Queries without relevant documents are "
        "left out; values are averaged over seeds; ±: standard errors. Significance is by t-tests "
        "paired by query with Holm's correction over methods; only the p-values of the list are of "
        "one pair. Queries of a fold share their models, so that all are somewhat too small."
    )
    whole = on_all(tested["map"], sets)
    if rest := [label for label in tested["map"] if label not in whole]:
        intro += f" Trained on some of the sets only, without a mean over sets: {', '.join(rest)}."
    searched = "\n".join(f"- {name}: {search_in_words(study.results)}" for name, study in studies.items())
    found = gains(tested, sets)
    text = "\n\n".join(
        [
            "# Which objective is best by which metric?",
            *([CHART] if found else []),
            f"    {command}",
            intro,
            folded("What the searches chose", searched),
            "\n".join(f"- {each}" for each in sentences),
            f"## Means over sets\n\n{overview(tested, sets).to_markdown()}",
            *tables,
        ]
    )
    results.parent.mkdir(parents=True, exist_ok=True)
    results.with_suffix(".md").write_text(text + "\n")
    results.with_name(f"{results.name}-readme.md").write_text(readme(tested, sets, command) + "\n")
    means = {
        metric: {"valid": means_of(validated[metric]), "test": means_of(tested[metric])}
        for metric in METRICS
    }
    kept = {
        "command": command,
        "sentences": sentences,
        "means": means,
        "gains": [gain._asdict() for gain in found],
    }
    results.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n")
    return "\n".join(sentences)


def means_of(values: Values) -> dict[str, dict[str, float]]:
    return {
        label: {name: float(each.mean()) for name, each in by_set.items()}
        for label, by_set in values.items()
    }
