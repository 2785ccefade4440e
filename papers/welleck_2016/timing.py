"""Training time on made-up data of MSLR-WEB10K's shape."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lambdaplus.baselines import ClassAUCSVM
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData, web_search_like
from lambdaplus.study import Job, Settings, find_methods
from lambdaplus.study.config import scaled_fold

Record = dict[str, float]
SEED = 1


def mslr_like(queries: int) -> Fold:
    """So many training queries and a third as many for validation; the test part is the same."""
    data = web_search_like(queries + max(1, queries // 3), random_state=SEED)
    cut = int(data.group[:queries].sum())
    train, valid = (
        RankingData(data.features[rows], data.labels[rows], data.qid[rows])
        for rows in (slice(0, cut), slice(cut, None))
    )
    return scaled_fold(Fold("MSLR-shaped", train, valid, valid))


def trees_time(queries: int, rounds: int) -> Record:
    """Train LambdaMART-MAUC through all rounds, on one thread.

    Returns
    -------
    dict
        seconds, and documents of the training part.
    """
    fold = mslr_like(queries)
    [method] = find_methods("lightgbm:lambda_mauc")
    settings = Settings(rounds=rounds, patience=rounds, threads=1)
    begin = time.perf_counter()
    with limit_threads(1):
        method.trainer(Job(method, {}, fold.train, fold.valid, settings, 0, (method.criterion,)))
    return _record(fold, time.perf_counter() - begin, True)


def svm_time(queries: int, C: float) -> Record:
    """Train the AUC SVM of every class, on one thread.

    Returns
    -------
    dict
        seconds, documents, and whether all classes converged: to a duality gap of 0.001.
    """
    fold = mslr_like(queries)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, limit_threads(1):
        warnings.simplefilter("always")
        ClassAUCSVM(C=C).fit(np.asarray(fold.train.features), fold.train.labels, qid=fold.train.qid)
    seconds = time.perf_counter() - begin
    return _record(
        fold, seconds, not any(issubclass(said.category, ConvergenceWarning) for said in caught)
    )


def _record(fold: Fold, seconds: float, converged: bool) -> Record:
    return {
        "seconds": seconds,
        "documents": len(fold.train.labels),
        "queries": fold.train.n_queries,
        "converged": float(converged),
    }
