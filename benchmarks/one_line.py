"""What changes if one line changes: our objective in the place of the framework's own.

    python benchmarks/one_line.py FOLDER [FOLDER ...] [--frameworks lightgbm,xgboost] [--draws 6]
                                  [--rate 1]

Every objective, with its default options, is trained with the same parameters of the trees: the
first draws of the search in `benchmarks/accuracy.py`.  The round is chosen on validation queries by
the metric shown.  Where a search for parameters adds its own luck to a comparison of objectives,
this one averages over the draws: what does a pipeline gain whose parameters stay as they are?

At one learning rate, the steps of two objectives may have different lengths, since their Hessians
have.  ``--rate 0.5`` multiplies all learning rates, and so tells a better objective from smaller
steps.
"""

from __future__ import annotations

import itertools
import pathlib

import numpy as np
from accuracy_by_fold import gain_table
from accuracy_values import FRAMEWORKS, METRICS, NATIVE, SPECIALISTS, Values, gains, mean_of
from fixed_trees import SETTINGS, Job, Trained, parser, trained
from tables import RESULTS, Section, show, write

Found = list[tuple[Job, Trained]]


def methods_of(framework: str) -> list[str]:
    return [f"{framework}:{name}" for name in (*NATIVE[framework], *SPECIALISTS.values())]


def whole_draws(found: Found, jobs: list[Job]) -> Found:
    """Without the draws of a framework of which some training is missing."""
    done = {job.key for job, _ in found}
    broken = {(job.framework, job.draw) for job in jobs if job.key not in done}
    return [(job, values) for job, values in found if (job.framework, job.draw) not in broken]


def values_of(found: Found, metric: str, draw: int | None = None) -> Values:
    """By method and set one mean for each fold, over the draws or of one draw."""
    by_fold: dict[tuple[str, str, int], list[float]] = {}
    for job, values in found:
        if draw is None or job.draw == draw:
            place = job.method, pathlib.Path(job.data).name, job.fold
            by_fold.setdefault(place, []).append(values.test[metric])
    means: Values = {}
    for (method, name, _), values in sorted(by_fold.items()):
        mine = means.setdefault(method, {})
        mine[name] = np.append(mine.get(name, []), np.mean(values))
    return means


def draws_table(found: Found, framework: str, sets: list[str]) -> Section:
    """Our objective for each metric less each of the framework's own, with errors over draws."""
    draws = sorted({job.draw for job, _ in found if job.framework == framework})
    rows = []
    for own in NATIVE[framework]:
        cells = []
        for metric, ours in SPECIALISTS.items():
            each = []
            for draw in draws:
                values = values_of(found, metric, draw)
                mine, theirs = (
                    mean_of(values, f"{framework}:{name}", sets) for name in (ours, own)
                )
                each.append(mine - theirs)
            error = np.std(each, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
            ahead = sum(gain > 0 for gain in each)
            cells.append(f"{np.mean(each):+.4f} ± {error:.4f}, {ahead} of {len(each)}")
        rows.append([own, *cells])
    columns = ["", *(f"{METRICS[m]}, {ours}" for m, ours in SPECIALISTS.items())]
    note = (
        "test means over sets less those of the objective in the first column; ±: standard errors "
        "over draws of the trees' parameters, and in how many draws ours is ahead"
    )
    return Section(f"{FRAMEWORKS[framework]}, over draws", columns, rows, note)


def main() -> None:
    options = parser(__doc__, draws=6)
    options.add_argument("--frameworks", default="lightgbm,xgboost")
    options.add_argument("--rate", type=float, default=1.0, help="factor of the learning rates")
    options.add_argument("--results", type=pathlib.Path, default=RESULTS / "one-line")
    given = options.parse_args()
    frameworks = given.frameworks.split(",")
    jobs = [
        Job(method, data, fold, draw, rate=given.rate)
        for draw, framework in itertools.product(range(given.draws), frameworks)
        for data in given.sets
        for method in methods_of(framework)
        for fold in range(given.folds)
    ]
    found = whole_draws(list(trained(jobs, given.kept, given.jobs)), jobs)
    sets = [pathlib.Path(data).name for data in given.sets]
    by_metric = {metric: values_of(found, metric) for metric in METRICS}
    over_folds = gains(by_metric, sets)
    means = Section(
        "Means over sets",
        ["", *METRICS.values()],
        [
            [name, *(f"{mean_of(values, name, sets):.4f}" for values in by_metric.values())]
            for framework in frameworks
            for name in methods_of(framework)
        ],
    )
    sections = [gain_table("Over folds", over_folds, sets), means]
    sections += [draws_table(found, framework, sets) for framework in frameworks]
    show(sections)
    late = [r > 0.95 * SETTINGS.rounds for _, one in found for r in one.rounds.values()]
    said = [
        f"    python benchmarks/one_line.py {' '.join(sets)} --frameworks {given.frameworks} "
        f"--draws {given.draws} --rate {given.rate:g}",
        f"Up to {SETTINGS.rounds:,} rounds; {sum(late)} of {len(late)} chosen rounds are in the "
        "last twentieth. ±: standard errors over folds, of means over draws; p by t-tests.",
    ]
    numbers = {
        "gains": [gain._asdict() for gain in over_folds],
        "means": {
            m: {k: {s: list(v) for s, v in by.items()} for k, by in values.items()}
            for m, values in by_metric.items()
        },
    }
    write(given.results, "\n\n".join([*said, *(s.markdown() for s in sections)]), numbers)


if __name__ == "__main__":
    main()
