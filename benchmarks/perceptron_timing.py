"""Training time of the committee perceptron, RankSVM and an SVM on explicit pairs.

    python benchmarks/perceptron_timing.py FOLDER

Table 5 of Elsas et al., WSDM 2008: committee of 20, 50 passes, weighed and chosen on validation
data, on each training fold of LETOR 2.0 OHSUMED.  FOLDER holds Fold1 ... Fold5.  The paper's
RankSVM is SVM-light, a decomposition method on pairs.  Two programs stand in for it: SVC, which is
LIBSVM's decomposition method, on samples of the first fold's pairs (all of them would take hours,
so their time is extrapolated from how it grows); and LinearSVC, liblinear's coordinate descent on
the same problem, which came after the paper, on all pairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import ohsumed
from ohsumed import Array, Part, Scaled
from rich.console import Console
from rich.table import Table
from sklearn.svm import SVC, LinearSVC

from lambdaplus.baselines import CommitteePerceptron, RankSVM
from lambdaplus.baselines.preference_pairs import preference_pairs
from lambdaplus.queries import Queries

PAPER_TABLE_5 = {
    "Fold1": (462.85, 27487.40),
    "Fold2": (527.14, 35887.08),
    "Fold3": (489.62, 28584.22),
    "Fold4": (414.18, 7328.77),
    "Fold5": (375.01, 6902.77),
}


def timing(folds: list[Scaled], console: Console) -> None:
    tiny = Part(folds[0].train.X[:300], folds[0].train.y[:300], folds[0].train.qid[:300])
    fit_committee(tiny, folds[0].valid, 1)  # compiles
    RankSVM().fit(tiny.X, tiny.y, qid=tiny.qid)
    table = Table(title="Table 5: training seconds, 20 members, 50 passes; paper in ()")
    for column in ("", "pairs", "committee", "RankSVM", "LinearSVC", "LinearSVC / committee",
                   "LinearSVC / RankSVM"):  # fmt: skip
        table.add_column(column)
    ratios = []
    for fold in folds:
        committee = seconds(lambda: fit_committee(fold.train, fold.valid, 50))  # noqa: B023
        ours = seconds(lambda: RankSVM().fit(fold.train.X, fold.train.y, qid=fold.train.qid))  # noqa: B023
        differences, weight = explicit_pairs(fold.train)
        svm = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-3, max_iter=1000, random_state=0)
        pairwise = seconds(lambda: fit_pairs(svm, differences, weight))  # noqa: B023
        ratios.append((pairwise / committee, pairwise / ours))
        paper = PAPER_TABLE_5.get(fold.name, (np.nan, np.nan))
        table.add_row(
            fold.name, f"{len(differences):,}", f"{committee:.2f} ({paper[0]:.0f})",
            f"{ours:.3f} ({paper[1]:.0f})", f"{pairwise:.2f}",
            f"{ratios[-1][0]:.2f} ({paper[1] / paper[0]:.0f})", f"{ratios[-1][1]:.0f}",
        )  # fmt: skip
    console.print(table)
    decomposition(folds[0], console)


def decomposition(fold: Scaled, console: Console) -> None:
    """Time of SVC on samples of the pairs, and of the committee on all of them, in one go."""
    differences, _ = explicit_pairs(fold.train)
    order = np.random.default_rng(0).permutation(len(differences))
    sizes = (5_000, 10_000, 20_000)
    spent = []
    for n in sizes:
        sample = differences[order[:n]]
        spent.append(seconds(lambda: fit_pairs(SVC(kernel="linear"), sample)))  # noqa: B023
    committee = seconds(lambda: fit_committee(fold.train, fold.valid, 50))
    growth = np.log2(spent[-1] / spent[-2])
    whole = spent[-1] * (len(differences) / sizes[-1]) ** growth
    for n, each in zip(sizes, spent, strict=True):
        console.print(
            f"SVC on {n:,} pairs: {each:.1f} s, {each / committee:.1f} times the committee"
        )
    console.print(
        f"it grows as n^{growth:.2f}: {whole:.0f} s on all {len(differences):,} pairs, "
        f"{whole / committee:.0f} times the committee (extrapolated)"
    )


def fit_committee(train: Part, valid: Part, passes: int) -> None:
    CommitteePerceptron(20, passes, metric=ohsumed.NDCG_AT.format(10), random_state=0).fit(
        train.X, train.y, qid=train.qid, eval_set=tuple(valid)
    )


def explicit_pairs(train: Part) -> tuple[Array, Array]:
    """Differences of all pairs, one row each, and their weights 1/|S_q|."""
    queries = Queries(train.y, qid=train.qid)
    pairs = preference_pairs(queries)
    lower = np.diff(pairs.first)
    high = np.repeat(np.arange(lower.size), lower)
    low = pairs.lowest[high] + np.arange(pairs.n_pairs) - pairs.first[high]
    X = train.X[queries.base]
    return X[high] - X[low], pairs.rate[high]


def fit_pairs(svm: LinearSVC | SVC, differences: Array, weight: Array | None = None) -> None:
    """A linear SVM on pairs, half of them turned round so that there are two classes."""
    sign = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    svm.fit(differences * sign[:, None], sign, sample_weight=weight)


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    timing(ohsumed.load(parser.parse_args().folder), Console(width=130))


if __name__ == "__main__":
    main()
