"""Table 5: seconds of training, committee perceptron against SVMs on pairs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import SVC, LinearSVC

from lambdaplus.baselines import CommitteePerceptron, RankSVM
from lambdaplus.baselines.preference_pairs import preference_pairs
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.evaluation import Table
from papers.elsas_2008.table4 import NDCG_10
from papers.session import Session

PAPER = {
    "Fold1": (462.85, 27487.40),
    "Fold2": (527.14, 35887.08),
    "Fold3": (489.62, 28584.22),
    "Fold4": (414.18, 7328.77),
    "Fold5": (375.01, 6902.77),
}
MEMBERS, PASSES = 20, 50
SAMPLES = (2_500, 5_000, 10_000)  # pairs that LIBSVM is given: all of them would take hours
WARM_UP = 300  # rows


def time_fold(fold: Fold) -> dict[str, float]:
    """Seconds of each on all pairs of a fold; LIBSVM's are extrapolated from samples."""
    few = slice(0, min(WARM_UP, len(fold.train.labels)))
    tiny = RankingData(fold.train.features[few], fold.train.labels[few], fold.train.qid[few])
    _committee(tiny, fold.valid, 1)  # loads what is compiled
    _rank_svm(tiny)
    found = {
        "committee": seconds(lambda: _committee(fold.train, fold.valid, PASSES)),
        "ranksvm": seconds(lambda: _rank_svm(fold.train)),
    }
    differences, weight = explicit_pairs(fold.train)
    # Liblinear's coordinate descent on the paper's problem; it came after the paper.
    descent = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-3, max_iter=1000, random_state=0)
    found["liblinear"] = seconds(lambda: _fit_pairs(descent, differences, weight))
    found["libsvm"] = _decomposition(differences)
    return {"pairs": len(differences), **found}


def _decomposition(differences: Floats) -> float:
    """Seconds of LIBSVM on all pairs, from how its time grows on samples of them."""
    order = np.random.default_rng(0).permutation(len(differences))
    sizes = [min(n, len(differences)) for n in SAMPLES]
    spent = [
        seconds(lambda: _fit_pairs(SVC(kernel="linear"), differences[order[:n]]))  # noqa: B023
        for n in sizes
    ]
    if sizes[-1] == sizes[0]:
        return spent[-1]
    growth = np.log(spent[-1] / spent[0]) / np.log(sizes[-1] / sizes[0])
    return float(spent[-1] * (len(differences) / sizes[-1]) ** growth)


def _committee(train: RankingData, valid: RankingData, passes: int) -> None:
    CommitteePerceptron(MEMBERS, passes, metric=NDCG_10, random_state=0).fit(
        train.features,
        train.labels,
        qid=train.qid,
        eval_set=(valid.features, valid.labels, valid.qid),
    )


def _rank_svm(train: RankingData) -> None:
    RankSVM().fit(train.features, train.labels, qid=train.qid)


def explicit_pairs(train: RankingData) -> tuple[Floats, Floats]:
    """Differences of all pairs, one row each, and their weights 1/|S_q|."""
    queries = Queries(train.labels, qid=train.qid)
    pairs = preference_pairs(queries)
    lower = np.diff(pairs.first)
    high = np.repeat(np.arange(lower.size), lower)
    low = pairs.lowest[high] + np.arange(pairs.n_pairs) - pairs.first[high]
    X = train.features[queries.row_order]
    return X[high] - X[low], pairs.rate[high]


def _fit_pairs(svm: Any, differences: Floats, weight: Floats | None = None) -> None:
    """A linear SVM on pairs, half of them turned round so that there are two classes."""
    sign = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    svm.fit(differences * sign[:, None], sign, sample_weight=weight)


def seconds(work: Callable[[], Any]) -> float:
    """Processor time: what else the machine does is not counted."""
    start = time.process_time()
    work()
    return time.process_time() - start


@dataclass(frozen=True, eq=False)
class Table5:
    """Seconds of the processor by fold."""

    times: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, session: Session, folds: list[Fold]) -> Table5:
        items = {fold.name: (fold,) for fold in folds}
        return cls(session.collect("Table 5", time_fold, items, jobs=1))

    def mean(self, name: str) -> float:
        return float(np.mean([found[name] for found in self.times.values()]))

    def ratio(self, name: str) -> float:
        """Mean time against the committee's."""
        return self.mean(name) / self.mean("committee")

    @property
    def table(self) -> Table:
        nothing = (float("nan"), float("nan"))
        columns = ("committee", "ranksvm", "liblinear", "libsvm")
        rows: list[list[object]] = []
        for name, found in self.times.items():
            paper = [
                f"{value:,.0f}" if name in PAPER else "-" for value in PAPER.get(name, nothing)
            ]
            rows.append(
                [name, f"{found['pairs']:,.0f}", *(_shown(found[c]) for c in columns), *paper]
            )
        rows.append(["mean", "", *(_shown(self.mean(c)) for c in columns), "454", "21,238"])
        heads = ("", "pairs", "committee", "RankSVM", "liblinear", "LIBSVM", "paper: committee")
        return Table(
            (*heads, "paper: SVM-light"),
            rows,
            (
                f"Seconds of the processor. Committee of {MEMBERS}, {PASSES} passes, chosen and "
                "weighted on validation data. "
                "RankSVM: ours, Newton's method in the primal, no pair in memory. liblinear: "
                "coordinate descent on all pairs. LIBSVM: decomposition, as SVM-light's, "
                f"extrapolated from samples of {SAMPLES[0]:,} to {SAMPLES[-1]:,} pairs.",
            ),
        )


def _shown(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
