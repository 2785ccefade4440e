"""The accuracy study as a short table, which README.md repeats (tests/test_readme.py)."""

from __future__ import annotations

from collections.abc import Mapping

from accuracy_values import (
    ALPHA,
    FRAMEWORKS,
    METRICS,
    SPECIALISTS,
    Values,
    corrected,
    difference,
    is_ours,
    leader,
    mean_of,
    on_all,
)

from lambdaplus.evaluation.result_tables import Table

Column = Mapping[str, str]  # row: the contender that stands for it


def readme(by_metric: Mapping[str, Values], sets: list[str], command: str) -> str:
    """The command, each framework's best beside ours, and what is significant."""
    columns = {metric: column(values, metric, sets) for metric, values in by_metric.items()}
    shown = {metric: cells(values, columns[metric], sets) for metric, values in by_metric.items()}
    names = dict.fromkeys(name for each in shown.values() for name in each)
    rows = [[name, *(each.get(name, "") for each in shown.values())] for name in names]
    return "\n\n".join(
        [
            f"Test means over {len(sets)} data set{'s' * (len(sets) > 1)}, with the same random "
            f"search for every method: `{command}`.",
            Table(("", *(METRICS[metric] for metric in by_metric)), rows).to_markdown(),
            " ".join(
                ["Bold: significantly above all others in its column."]
                + [verdicts(by_metric, columns, sets, framework) for framework in FRAMEWORKS]
            ).strip(),
        ]
    )


def own_row(framework: str) -> str:
    return f"{FRAMEWORKS[framework]}, best of its own objectives"


def our_row(framework: str) -> str:
    return f"{FRAMEWORKS[framework]}, our objective for the metric"


def column(values: Values, metric: str, sets: list[str]) -> Column:
    """Who stands for each row by a metric, of those that were trained on every set."""
    found = {}
    complete = on_all(values, sets)
    for framework in FRAMEWORKS:
        mine = {name: v for name, v in complete.items() if name.startswith(f"{framework}:")}
        if own := leader(mine, sets, ours=False):
            found[own_row(framework)] = own
        if (ours := f"{framework}:{SPECIALISTS[metric]}") in mine:
            found[our_row(framework)] = ours
    return found


def cells(values: Values, contenders: Column, sets: list[str]) -> dict[str, str]:
    """A mean for each row, bold if it is significantly above each of the others."""
    shown = {label: values[label] for label in contenders.values()}
    best = leader(shown, sets)
    found = corrected(shown, best, sets) if best else {}
    alone = bool(found) and all(each.p < ALPHA for each in found.values())
    means = {
        row: f"{mean_of(values, label, sets):.4f}".removeprefix("0")
        for row, label in contenders.items()
    }
    return {
        row: f"**{mean}**" if alone and contenders[row] == best else mean
        for row, mean in means.items()
    }


def verdicts(
    by_metric: Mapping[str, Values], columns: Mapping[str, Column], sets: list[str], framework: str
) -> str:
    """Ours beside a framework's own best, by metric; empty where there is nothing to compare.

    For a framework that trains none of ours it is the best of ours in the other frameworks.
    """
    found: dict[str, list[str]] = {}
    inside = any(our_row(framework) in contenders for contenders in columns.values())
    for metric, contenders in columns.items():
        values = by_metric[metric]
        own = contenders.get(own_row(framework))
        ours = contenders.get(our_row(framework))
        if not inside:
            rivals = {label: values[label] for label in contenders.values() if is_ours(label)}
            ours = leader(rivals, sets)
        if own and ours:
            gain = difference(values, ours, own, sets)
            side = "better" if gain.mean > 0 else "worse"
            said = f"significantly {side}" if gain.p < ALPHA else "not significantly different"
            found.setdefault(said, []).append(METRICS[metric])
    if not found:
        return ""
    where = f"On {FRAMEWORKS[framework]}" if inside else f"Beside {FRAMEWORKS[framework]}'s best"
    parts = [f"{said} by {listed(names)}" for said, names in found.items()]
    return f"{where} our objectives are {listed(parts)}."


def listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
