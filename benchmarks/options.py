"""What do the options of our objectives do, with the trees of a random search?

    python benchmarks/options.py FOLDER [FOLDER ...] --metric mrr [--framework lightgbm]

Our objective for a metric with other options, and the framework's own objectives, are
trained with the same trees: those of the first draws of the search in `benchmarks/accuracy.py`.
The value of a training is the highest mean of the metric over `fixed_trees.WINDOW` consecutive
evaluations on validation queries, since single ones fluctuate; no test query is looked at.  Shown
is the difference to the default: means over folds and draws, then over sets, with a standard error
over the pairs of a set and a draw.

A larger Hessian means smaller steps.  To tell the curvature of weights from a lower learning rate,
the default is also trained with a third of the rate.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from accuracy_values import FRAMEWORKS, METRICS, NATIVE, SPECIALISTS
from fixed_trees import Job, Trained, parser, trained
from tables import RESULTS, Section, show, write

DEFAULT = "default"
OWN = object()  # stands for the metric itself
SETTINGS: dict[str, dict[str, Any]] = {  # options of our objective
    DEFAULT: {},
    "no noise": {"noise": None},
    "noise of scale 1": {"noise": 1.0},
    "noise of scale 2": {"noise": 2.0},
    "all of the gradient": {"noise_share": 1.0},
    "curvature of weights": {"noise_curvature": "weights"},
    "a third of the learning rate": {},
    "one neighbour": {"noise_neighbours": 1},
    "ten neighbours": {"noise_neighbours": 10},
    "fifty neighbours": {"noise_neighbours": 50},
    "fifty neighbours, noise of scale 2": {"noise_neighbours": 50, "noise": 2.0},
    "the metric itself for all pairs": {"noise_all_pairs": OWN},
    "sigma 0.5": {"sigma": 0.5},
    "sigma 2": {"sigma": 2.0},
    "no scaling of queries": {"normalize": False},
    "damping 0.01": {"damping": 0.01},
}
RATES = {"a third of the learning rate": 1 / 3}


def objective_of(metric: str) -> str:
    return SPECIALISTS.get(metric, f"lambda_{metric}")


def job_of(name: str, framework: str, metric: str, place: tuple[str, int, int]) -> Job:
    """The training of a setting, or of an objective of the framework."""
    also = "" if metric in METRICS else metric
    if name not in SETTINGS:
        return Job(f"{framework}:{name}", *place, also=also)
    method = f"{framework}:{objective_of(metric)}"
    options = {k: metric if v is OWN else v for k, v in SETTINGS[name].items()}
    return Job(method, *place, tuple(options.items()), RATES.get(name, 1.0), also)


def differences(
    values: dict[str, dict[Any, float]], name: str, sets: list[str]
) -> tuple[list[float], float]:
    """To the default: the mean on each set, and the standard error of their mean."""
    pairs: dict[tuple[str, int], list[float]] = {}
    for data, fold, draw in values[name].keys() & values[DEFAULT].keys():
        gain = values[name][data, fold, draw] - values[DEFAULT][data, fold, draw]
        pairs.setdefault((data, draw), []).append(gain)
    means = {pair: float(np.mean(gains)) for pair, gains in pairs.items()}
    by_set = [float(np.mean([m for (data, _), m in means.items() if data == one])) for one in sets]
    error = np.std(list(means.values()), ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return by_set, float(error)


def main() -> None:
    options = parser(__doc__, draws=2)
    options.add_argument("--metric", required=True, help="which our objective is trained for")
    options.add_argument("--framework", choices=NATIVE, default="lightgbm")
    options.add_argument("--settings", help="separated by ;", default=";".join(SETTINGS))
    options.add_argument("--results", type=pathlib.Path, help="by default named by the metric")
    given = options.parse_args()
    names = list(dict.fromkeys([DEFAULT, *given.settings.split(";"), *NATIVE[given.framework]]))
    jobs = {
        job_of(name, given.framework, given.metric, (data, fold, draw)): name
        for draw in range(given.draws)
        for fold in range(given.folds)
        for data in given.sets
        for name in names
    }
    values: dict[str, dict[Any, float]] = {name: {} for name in names}
    found: list[tuple[Job, Trained]] = list(trained(jobs, given.kept, given.jobs))
    for job, one in found:
        values[jobs[job]][job.data, job.fold, job.draw] = one.valid[given.metric]
    rows = []
    for name in names:
        by_set, error = differences(values, name, given.sets)
        rows.append([name, *(f"{x:+.4f}" for x in by_set), f"{np.mean(by_set):+.4f} ± {error:.4f}"])
    sets = [pathlib.Path(data).name for data in given.sets]
    section = Section(
        f"{objective_of(given.metric)} in {FRAMEWORKS[given.framework]}",
        ["", *sets, "mean"],
        rows,
        f"validation {METRICS.get(given.metric, given.metric)} less the default's, whose mean is "
        f"{np.mean(list(values[DEFAULT].values())):.4f}",
    )
    show([section])
    typed = (
        f"python benchmarks/options.py {' '.join(sets)} --metric {given.metric} "
        f"--framework {given.framework} --draws {given.draws} --folds {given.folds}"
        f" --settings '{given.settings}'"
    )
    usual = RESULTS / f"options-{given.metric.replace('@', '')}-{given.framework}"
    write(
        given.results or usual,
        f"    {typed}\n\n{section.table.to_markdown()}",
        {
            name: {"/".join(map(str, (pathlib.Path(k[0]).name, *k[1:]))): v for k, v in its.items()}
            for name, its in values.items()
        },
    )


if __name__ == "__main__":
    main()
