"""The committee perceptron paper's experiments on LETOR 2.0 OHSUMED (Elsas et al., WSDM 2008).

    python benchmarks/perceptron.py table4 FOLDER [--seeds 5] [--passes 50]
    python benchmarks/perceptron.py curves FOLDER --png FILE [--passes 500]

FOLDER holds Fold1 ... Fold5 of the set (LETOR's own layout).  Features are scaled to [0, 1] within
each query; passes, rounds and C are chosen by NDCG@10 on the validation queries; a query without
relevant documents counts 0, as in LETOR's tools; tied scores count at their mean, not in the order
of the file, as they did there.  The paper's own figures are printed beside.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import ohsumed
from ohsumed import Array, Part, Scaled, load, per_query
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import ttest_rel

from lambdaplus.baselines import BestFeature, CommitteePerceptron, McRank, RankBoost, RankSVM
from lambdaplus.metrics import parse_metric

GRID = np.logspace(-4, 4, 9)  # C of RankSVM
VOTING = {
    "Com 30 A": {"committee_size": 30},
    "Com 30 B": {"committee_size": 30, "combine": "borda"},
    "Pocket": {"variant": "pocket"},
    "Average": {"variant": "average"},
}
PAPER_TABLE_4 = {
    "RankSVM": (0.447, 0.495, 0.458, 0.441),
    "RankBoost": (0.440, 0.498, 0.450, 0.436),
    "Com 30 A": (0.447, 0.539, 0.464, 0.450),
    "Com 30 B": (0.449, 0.558, 0.464, 0.447),
    "Pocket": (0.440, 0.510, 0.426, 0.418),
    "Average": (0.443, 0.508, 0.445, 0.429),
}
Scorer = Callable[[Part], Array]


# Systems: (fold, seed) -> scorer of a part ------------------------------------------------------


def chosen_on_validation(make: Callable[[int], Any]) -> Callable[[Scaled, int], Scorer]:
    def fit(fold: Scaled, seed: int) -> Scorer:
        X, y, qid = fold.train
        model = make(seed).fit(X, y, qid=qid, eval_set=tuple(fold.valid))
        if isinstance(model, CommitteePerceptron):
            return lambda part: model.predict(part.X, qid=part.qid)
        return lambda part: model.predict(part.X)

    return fit


def systems(passes: int) -> dict[str, tuple[Callable[[Scaled, int], Scorer], bool]]:
    """Each with whether it depends on a seed."""
    ndcg = ohsumed.NDCG_AT.format(10)

    def perceptron(options: dict[str, Any]) -> Callable[[int], Any]:
        return lambda seed: CommitteePerceptron(
            n_iter=passes, metric=ndcg, random_state=seed, **options
        )

    return {
        "RankSVM": (chosen_on_validation(lambda s: RankSVM(GRID, metric=ndcg)), False),
        "RankBoost": (chosen_on_validation(lambda s: RankBoost(300, metric=ndcg)), False),
        **{n: (chosen_on_validation(perceptron(o)), True) for n, o in VOTING.items()},
        "Best feature": (chosen_on_validation(lambda s: BestFeature(ndcg)), False),
        "McRank": (chosen_on_validation(lambda s: McRank(metric=ndcg, random_state=s)), False),
        "McRank, ordinal": (
            chosen_on_validation(lambda s: McRank("ordinal", metric=ndcg, random_state=s)),
            False,
        ),
    }


# Experiments -------------------------------------------------------------------------------------


def table4(folds: list[Scaled], n_seeds: int, passes: int, console: Console) -> None:
    found: dict[str, list[Array]] = {}
    for name, (fit, random) in track(systems(passes).items(), description="systems"):
        for seed in range(n_seeds if random else 1):
            values = [per_query(f.test, fit(f, seed)(f.test)) for f in folds]
            found.setdefault(name, []).append(np.concatenate(values))
    table = Table(title=f"Table 4, OHSUMED: {n_seeds} seeds, at most {passes} passes; paper in ()")
    table.add_column("")
    for column in ("MAP", "NDCG@1", "NDCG@5", "NDCG@10"):
        table.add_column(column)
    for name, runs in found.items():
        means = np.array([run.mean(axis=0) for run in runs])
        cells = []
        for k in range(4):
            spread = f"±{means[:, k].std(ddof=1):.3f}" if len(runs) > 1 else ""
            paper = f" ({PAPER_TABLE_4[name][k]:.3f})" if name in PAPER_TABLE_4 else ""
            cells.append(f"{means[:, k].mean():.4f}{spread}{paper}")
        table.add_row(name, *cells)
    console.print(table)
    tests = Table(title="one-tailed paired t-tests at .05 over 106 queries: seeds that pass")
    tests.add_column("better than")
    for column in ("MAP", "NDCG@1", "NDCG@5", "NDCG@10"):
        tests.add_column(column)
    for one, other in comparisons():
        pairs = list(pairings(found[one], found[other]))
        passed = [
            sum(ttest_rel(a[:, k], b[:, k], alternative="greater").pvalue < 0.05 for a, b in pairs)
            for k in range(4)
        ]
        tests.add_row(f"{one} > {other}", *(f"{p}/{len(pairs)}" for p in passed))
    console.print(tests)


def comparisons() -> Iterator[tuple[str, str]]:
    for committee, other in itertools.product(
        ("Com 30 A", "Com 30 B"), ("RankBoost", "RankSVM", "Pocket", "Average")
    ):
        yield committee, other
        yield other, committee
    yield "RankSVM", "RankBoost"
    yield "RankBoost", "RankSVM"


def pairings(some: list[Array], others: list[Array]) -> Iterator[tuple[Array, Array]]:
    """Seed by seed; a system without seeds meets each of the other's."""
    n = max(len(some), len(others))
    return zip((some * n)[:n], (others * n)[:n], strict=True)


def curves(folds: list[Scaled], passes: int, png: str, console: Console) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    forms: dict[str, dict[str, Any]] = {
        "Com 20": {"committee_size": 20},
        "Average": {"variant": "average"},
        "Pocket": {"variant": "pocket"},
    }
    metric = ohsumed.NDCG_AT.format(10)
    names = {str(parse_metric(metric)): "NDCG@10", "map": "MAP"}
    found: dict[str, list[dict[str, Array]]] = {name: [] for name in forms}
    jobs = list(itertools.product(forms, folds))
    for name, fold in track(jobs, description="fits"):
        model = CommitteePerceptron(
            n_iter=passes, metric=metric, curve_metrics=("map",), random_state=0, **forms[name]
        ).fit(fold.train.X, fold.train.y, qid=fold.train.qid, eval_set=tuple(fold.valid))
        found[name].append(model.learning_curves_)
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.4), sharex=True, layout="constrained")
    table = Table(title="validation mean over the folds after so many passes")
    marks = [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t <= passes]
    for column in ("", "metric", *map(str, marks), "peak at"):
        table.add_column(column)
    for axis, (key, title) in zip(axes, names.items(), strict=True):
        for name, folds_found in found.items():
            mean = np.mean([curve[key] for curve in folds_found], axis=0)
            axis.plot(np.arange(1, passes + 1), mean, label=name, linewidth=1.2)
            cells = [f"{mean[t - 1]:.4f}" for t in marks]
            table.add_row(name, title, *cells, f"{mean.argmax() + 1}")
        axis.set(xlabel="passes over the pairs", ylabel=f"{title} on validation", xscale="log")
        axis.grid(alpha=0.3)
    figure.suptitle("OHSUMED (LETOR 2.0), mean over five folds")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(png, dpi=130)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["table4", "curves"])
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--passes", type=int)
    parser.add_argument("--png", default="perceptron-curves.png")
    arguments = parser.parse_args()
    console = Console(width=130)
    folds = load(arguments.folder)
    if arguments.what == "table4":
        table4(folds, arguments.seeds, arguments.passes or 50, console)
    else:
        curves(folds, arguments.passes or 500, arguments.png, console)


if __name__ == "__main__":
    main()
