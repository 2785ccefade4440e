"""Which noise, with the trees of a random search?

    python benchmarks/noise_settings.py DATA [DATA ...] [--framework lightgbm] [--draws 6]

Every setting of the noise, and every native objective, is trained with the same trees: those of the
first draws of the search in `benchmarks/accuracy.py`, up to a thousand rounds.  The value of a
training is the highest mean of a validation metric over `WINDOW` rounds, since single rounds
fluctuate; no test query is looked at.  DATA and the generated sets are those of
`benchmarks/noise.py`.  Shown is the difference to the default: means over folds and draws, then
over sets, with a standard error over the pairs of a set and a draw.

A larger Hessian means smaller steps.  To tell the curvature of weights from a lower learning rate,
the default is also trained with a third of the rate.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from noise import METRICS, NATIVE, NOISE_OF, TREES, folds_of
from rich.progress import track
from same_trees import TREES as SPACES
from same_trees import highest
from tables import RESULTS, Section, show, write

import lambdaplus as lp
from lambdaplus.comparison.search_space import draw
from lambdaplus.objectives import Noise
from lambdaplus.queries import Queries
from lambdaplus.training import Documents, Training

DEFAULT = "default: half of the gradient"
SETTINGS: dict[str, tuple[Noise | None, float]] = {  # and a factor of the learning rate
    DEFAULT: (Noise(), 1.0),
    "the same, a third of the rate": (Noise(), 1 / 3),
    "half, curvature of weights": (Noise(curvature="weights"), 1.0),
    "all of the gradient": (Noise(share=1.0), 1.0),
    "all, curvature of weights": (Noise(share=1.0, curvature="weights"), 1.0),
    "no noise": (None, 1.0),
}
WINDOW = 25  # rounds
PATIENCE = 200  # rounds without a better value of any metric, after which a training ends


class Job(NamedTuple):
    """One training, and the metrics whose values are kept."""

    framework: str
    objective: str
    metrics: tuple[str, ...]
    data: str
    fold: int
    draw: int
    rounds: int


read = lru_cache(folds_of)  # in each process


def train(job: Job) -> dict[str, float]:
    """The value of each metric on the validation queries."""
    trainer, params = TREES[job.framework]
    fold = read(job.data, job.fold + 1)[job.fold]
    params = {**params, **draw(SPACES[job.framework], 0, job.draw)}
    objective: Any = job.objective
    if objective in SETTINGS:
        noise, factor = SETTINGS[objective]
        params["learning_rate"] *= factor
        objective = lp.lambda_objective(job.metrics[0], noise=noise)
    metric = lp.eval_metric(*job.metrics)

    def over(_: Any, curves: Any) -> bool:
        found = curves["valid"].values()
        return all(len(curve) - int(np.argmax(curve)) > PATIENCE for curve in found)

    training = Training(
        objective, params, job.rounds, metric=metric, over=over, seed=job.draw, threads=1
    )
    train, valid = (
        Documents(part.dense_features, Queries(part.labels, group=part.group))
        for part in (fold.train, fold.valid)
    )
    curves = trainer.train(training, train, {"valid": valid}).curves["valid"]
    return {name: highest(np.asarray(curve), WINDOW) for name, curve in curves.items()}


Values = dict[str, dict[str, dict[str, float]]]
"""Values by metric, objective, and "set/fold/draw"."""


def section(metric: str, found: dict[str, dict[str, float]], sets: list[str]) -> Section:
    """The differences of each objective to the default, by set and on average."""
    rows = []
    for name, values in found.items():
        pairs: dict[tuple[str, str], list[float]] = {}
        for place in values.keys() & found[DEFAULT].keys():
            data, _, draw = place.split("/")
            pairs.setdefault((data, draw), []).append(values[place] - found[DEFAULT][place])
        means = {pair: float(np.mean(difference)) for pair, difference in pairs.items()}
        by_set = [np.mean([m for (data, _), m in means.items() if data == one]) for one in sets]
        error = np.std(list(means.values()), ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0
        cells = [f"{value:+.4f}" for value in by_set]
        rows.append([name, *cells, f"{np.mean(by_set):+.4f} ± {error:.4f}"])
    absolute = np.mean(list(found[DEFAULT].values()))
    title = f"{metric}, less the default's (mean {absolute:.4f})"
    return Section(title, ["", *sets, "mean"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+")
    parser.add_argument("--framework", choices=NATIVE, default="lightgbm")
    parser.add_argument("--metrics", nargs="+", choices=METRICS, default=METRICS)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    sets = [*given.data, *NOISE_OF]
    metrics = tuple(given.metrics)
    contenders = [(name, (metric,)) for metric in metrics for name in SETTINGS]
    contenders += [(name, metrics) for name in NATIVE[given.framework]]
    places = itertools.product(range(given.draws), range(given.folds), sets)
    jobs = [
        Job(given.framework, name, its_metrics, data, fold, draw, given.rounds)
        for draw, fold, data in places
        for name, its_metrics in contenders
    ]
    found: Values = {metric: {} for metric in metrics}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.jobs, mp_context=spawn) as pool:
        tasks = {pool.submit(train, job): job for job in jobs}
        try:
            for task in track(as_completed(tasks), total=len(tasks), description=given.framework):
                job = tasks[task]
                for metric, value in task.result().items():
                    its = found[metric].setdefault(job.objective, {})
                    its[f"{job.data}/{job.fold}/{job.draw}"] = value
        except KeyboardInterrupt:  # the draws that are finished are shown
            pool.shutdown(wait=False, cancel_futures=True)
    sections = [section(metric, its, sets) for metric, its in found.items()]
    show(sections)
    text = [f"# Settings of the noise, {given.framework}", "", f"`python {' '.join(sys.argv)}`"]
    text += ["", *(f"{section.markdown()}\n" for section in sections)]
    write(RESULTS / f"noise-settings-{given.framework}", "\n".join(text), found)


if __name__ == "__main__":
    main()
