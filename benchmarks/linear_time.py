"""Time of a fit, beside scikit-learn on explicit pairs and 1-slack cutting planes; scaling."""

from __future__ import annotations

import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from linear_data import CS, LETOR, SVMS, Array, folds, report, svm
from rich.progress import track
from sklearn.svm import LinearSVC

from lambdaplus.baselines.cutting_planes import Cut, Hinges, Planes, solve
from lambdaplus.baselines.oracles import binary, make_loss
from lambdaplus.data import Fold
from lambdaplus.data.queries import Queries
from lambdaplus.metrics import parse_metric


def explicit_pairs(fold: Fold, C: float) -> tuple[float, float]:
    """SVMauc as scikit-learn's LinearSVC of all pairs: seconds and the objective reached."""
    X, y, qid = fold.train.features, fold.train.labels >= 1, fold.train.qid
    begin = time.perf_counter()
    pairs, price = [], []
    queries = np.unique(qid)
    for q in queries:
        mine = np.flatnonzero(qid == q)
        good, bad = X[mine[y[mine]]], X[mine[~y[mine]]]
        if len(good) and len(bad):
            pairs.append(2 * (good[:, None] - bad).reshape(-1, X.shape[1]))
            price.append(np.full(len(pairs[-1]), C / len(queries) / len(pairs[-1])))
    rows, weight = np.concatenate(pairs), np.concatenate(price)
    sign = np.where(np.arange(len(rows)) % 2, 1, -1)  # a classifier wants two classes
    classifier = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.fit(rows * sign[:, None], sign, sample_weight=weight)
    seconds = time.perf_counter() - begin
    w = classifier.coef_[0]
    return seconds, float(w @ w / 2 + weight @ np.maximum(0, 1 - rows @ w))


class OneSlack(Hinges):
    """All queries' hinges as one: the mean of their tangent planes is the only plane of a pass."""

    def at(self, w: Array) -> Cut:
        found = super().at(w)
        return Cut(
            np.array([found.hinge.sum()]),
            np.zeros(1, dtype=np.int64),
            found.slope.sum(axis=0, keepdims=True),
            np.array([found.offset.sum()]),
        )


def one_slack(fold: Fold, name: str, C: float) -> tuple[float, int, float]:
    """Plain 1-slack cutting planes to the same gap: seconds, passes, gap (400 passes at most)."""
    begin = time.perf_counter()
    queries = binary(Queries(fold.train.labels, qid=fold.train.qid), 1.0)
    options = {**SVMS[name]}
    metric = parse_metric(options["loss"]).declaration(options.get("cutoff"))
    loss = make_loss(metric, queries, feature_map=options.get("feature_map", "po"))
    hinges = OneSlack(np.ascontiguousarray(fold.train.features), [loss], separate=False)
    planes = Planes(1, hinges.X.shape[1])
    weight = np.array([C / queries.n_queries])
    found = solve(hinges, planes, weight, 1e-3, 400)
    return time.perf_counter() - begin, len(found.history), found.relative_gap


def run_time(data: Path) -> None:
    rows, numbers = [], []
    for set_name in LETOR:
        fold = folds(data, set_name)[0]
        arguments = fold.train.features, fold.train.labels, fold.train.qid
        for name in track(SVMS, description=f"time, {set_name}"):
            svm(name).fit(*arguments)  # compiles
            for C in CS:
                seconds = []
                for _ in range(3):
                    begin = time.perf_counter()
                    model = svm(name, C=C).fit(*arguments)
                    seconds.append(time.perf_counter() - begin)
                found = {
                    "set": set_name, "svm": name, "C": C, "seconds": statistics.median(seconds),
                    "passes": model.n_passes_, "gap": model.relative_gap_,
                    "norm": float(np.linalg.norm(model.coef_)), "primal": model.primal_,
                }  # fmt: skip
                beside = ["", ""]
                if name in ("SVMauc", "SVMmap") and C >= 100:
                    taken, passes, gap = one_slack(fold, name, C)
                    found["one_slack"] = {"seconds": taken, "passes": passes, "gap": gap}
                    beside[0] = f"{taken:.2f} s, {passes} passes, gap {gap:.0e}"
                if name == "SVMauc":
                    taken, primal = explicit_pairs(fold, C)
                    found["pairs"] = {"seconds": taken, "primal": primal}
                    beside[1] = f"{taken:.2f} s, objective {primal / model.primal_ - 1:+.1%}"
                numbers.append(found)
                rows.append(
                    [
                        set_name, name, f"{C:g}", f"{found['seconds']:.3f}", str(found["passes"]),
                        f"{found['gap']:.1e}", f"{found['norm']:.3g}", *beside,
                    ]
                )  # fmt: skip
    head = ["set", "SVM", "C", "s", "passes", "gap", "norm of w", "1-slack", "LinearSVC on pairs"]
    report("time", "Seconds a fit on the training part of fold 1.", head, rows, numbers)


def run_certificates(data: Path) -> None:
    """All folds, every loss and C, each from scratch."""
    rows, numbers = [], []
    for set_name in LETOR:
        parts = folds(data, set_name)
        for name in track(SVMS, description=f"certificates, {set_name}"):
            for C in CS:
                gaps, zeros = [], 0
                for fold in parts:
                    train = fold.train
                    model = svm(name, C=C).fit(train.features, train.labels, train.qid)
                    gaps.append(model.relative_gap_)
                    zeros += not model.coef_.any()
                numbers.append({"set": set_name, "svm": name, "C": C, "gaps": gaps, "zeros": zeros})
                rows.append(
                    [set_name, name, f"{C:g}", f"{max(gaps):.1e}", f"{zeros} of {len(parts)}"]
                )
    head = ["set", "SVM", "C", "worst gap", "w = 0 is optimal"]
    report("certificates", "Training parts of five folds, tol 1e-3.", head, rows, numbers)


def run_scaling(data: Path) -> None:
    rows, numbers = [], []
    for n in track((10_000, 100_000, 1_000_000), description="scaling"):
        random = np.random.default_rng(0)
        X = random.random((n, 46))
        signal = X @ random.normal(size=46) + 2 * random.normal(size=n)
        y = (signal > np.quantile(signal, 0.9)).astype(float)
        qid = np.arange(n) // 100
        for name in ("SVMauc", "SVMmap", "SVMndcg-nc", "SVMndcg@10"):
            begin = time.perf_counter()
            model = svm(name, C=100.0).fit(X, y, qid)
            seconds = time.perf_counter() - begin
            numbers.append(
                {"rows": n, "svm": name, "seconds": seconds, "passes": model.n_passes_,
                 "gap": model.relative_gap_}
            )  # fmt: skip
            rows.append(
                [f"{n:,}", name, f"{seconds:.2f}", str(model.n_passes_),
                 f"{1e6 * seconds / n / model.n_passes_:.2f}", f"{model.relative_gap_:.1e}"]
            )  # fmt: skip
    head = ["rows", "SVM", "s", "passes", "µs a row and pass", "gap"]
    report("scaling", "C = 100, 46 features, queries of 100.", head, rows, numbers)
