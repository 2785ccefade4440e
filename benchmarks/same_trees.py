"""Our objectives beside the framework's own with the same trees, and what their options do.

    python benchmarks/same_trees.py KEPT SET [SET ...]

In the random search of `benchmarks/accuracy.py`, which keeps its trainings in the folder KEPT, the
n-th trial of every method of a framework has the same parameters of the trees.  Differences between
trials that only differ in the objective are therefore free from the luck of the draw.  All values
are those of validation queries; no test query is looked at.  The value of a trial is the highest
mean over `WINDOW` consecutive evaluations, since the highest single value is too optimistic where a
curve fluctuates.  Writes `benchmarks/results/same-trees.md` and `.json`.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from accuracy_values import FRAMEWORKS, METRICS, SPECIALISTS
from tables import RESULTS, Section, show, write

from lambdaplus.study.search_space import LIGHTGBM, XGBOOST

TREES = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST}
SETTINGS: dict[str, Callable[[Mapping[str, Any]], Any]] = {  # what a row has in common
    "all trials": lambda own: True,
    "no noise": lambda own: own["noise"] is None,
    "noise": lambda own: own["noise"] is not None,
    "noise, scale 0.3": lambda own: own["noise"] == 0.3,
    "noise, scale 1": lambda own: own["noise"] == 1.0,
    "noise, scale 2": lambda own: own["noise"] == 2.0,
    "noise, half of the gradient": lambda own: own["noise"] and own["noise_share"] == 0.5,
    "noise, all of the gradient": lambda own: own["noise"] and own["noise_share"] == 1.0,
    "noise, logistic curvature": lambda own: own["noise"] and own["noise_curvature"] == "logistic",
    "noise, curvature of weights": lambda own: own["noise"] and own["noise_curvature"] == "weights",
}


WINDOW = 15  # evaluations, five rounds apart


class Trial(NamedTuple):
    """The validation values of a training, and what it was."""

    method: str
    place: tuple[str, str, int]  # set, fold, seed
    trees: tuple[Any, ...]
    options: Mapping[str, Any]
    best: Mapping[str, float]


def trials_in(kept: pathlib.Path) -> Iterator[Trial]:
    """Every trial of the search in the folders of a study."""
    for path in sorted(kept.glob("*/fits/*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            framework = about["method"].partition(":")[0]
            names = [f"more/curves/{metric}" for metric in METRICS]
            if framework not in TREES or not all(name in arrays.files for name in names):
                continue
            best = {m: highest(arrays[n], WINDOW) for m, n in zip(METRICS, names, strict=True)}
        place = (path.parents[1].name, about["fold"], about["seed"])
        options = about["parameters"]
        trees = tuple(options.get(name) for name in TREES[framework])
        yield Trial(about["method"], place, trees, options, best)


def highest(curve: Any, window: int) -> float:
    """The highest mean over consecutive values of a curve."""
    width = min(window, curve.size)
    return float(np.convolve(curve, np.full(width, 1 / width), "valid").max())


def gains(
    trials: list[Trial], framework: str, method: str, metric: str
) -> list[tuple[Mapping[str, Any], float]]:
    """For each draw: the method's options, and its mean gain over the mean of the framework's own.

    The mean is over sets, folds and seeds.  A draw is left out where one of the methods has none.
    """
    own = own_methods(trials, framework)
    values = {(t.method, t.place, t.trees): t.best[metric] for t in trials}
    by_draw: dict[tuple[Any, ...], list[float]] = collections.defaultdict(list)
    options = {}
    for t in trials:
        theirs = [values.get((name, t.place, t.trees)) for name in own]
        if t.method == f"{framework}:{method}" and None not in theirs:
            by_draw[t.trees].append(t.best[metric] - np.mean(theirs))
            options[t.trees] = t.options
    return [(options[trees], float(np.mean(found))) for trees, found in by_draw.items()]


def own_methods(trials: list[Trial], framework: str) -> list[str]:
    named = {t.method for t in trials if t.method.startswith(f"{framework}:")}
    return sorted(name for name in named if ":lambda_" not in name)


def in_words(found: list[float]) -> str:
    """Mean, standard error over draws, and their number."""
    if not found:
        return ""
    error = f" ± {np.std(found, ddof=1) / np.sqrt(len(found)):.4f}" if len(found) > 1 else ""
    return f"{np.mean(found):+.4f}{error} ({len(found)})".replace("0.", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kept", type=pathlib.Path)
    parser.add_argument("sets", nargs="+", help="names of folders in KEPT")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS / "same-trees")
    arguments = parser.parse_args()
    trials = [t for t in trials_in(arguments.kept) if t.place[0] in arguments.sets]
    if not trials:
        parser.error(f"{arguments.kept} contains no trials of {', '.join(arguments.sets)}")
    sections, numbers = [], {}
    for framework in TREES:
        own = [name.partition(":")[2] for name in own_methods(trials, framework)]
        if not own:
            continue
        found = {m: gains(trials, framework, SPECIALISTS[m], m) for m in METRICS}
        rows = [
            [name, *(in_words([gain for o, gain in each if has(o)]) for each in found.values())]
            for name, has in SETTINGS.items()
        ]
        for name in own:
            each = [[g for _, g in gains(trials, framework, name, m)] for m in METRICS]
            rows.append([f"{FRAMEWORKS[framework]}'s {name}", *map(in_words, each)])
        numbers[framework] = found
        sections.append(
            Section(
                f"{FRAMEWORKS[framework]}: {', '.join(arguments.sets)}",
                ["", *(f"{METRICS[m]}, {SPECIALISTS[m]}" for m in METRICS)],
                rows,
                f"validation value less the mean of {' and '.join(own)} with the "
                "same trees; ±: standard errors over draws, in parentheses their number",
            )
        )
    show(sections)
    command = f"python benchmarks/same_trees.py KEPT {' '.join(arguments.sets)}"
    head = f"# The same trees with other objectives\n\n    {command}"
    write(arguments.results, "\n\n".join([head, *(s.markdown() for s in sections)]), numbers)


if __name__ == "__main__":
    main()
