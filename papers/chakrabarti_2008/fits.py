"""What is measured of a fit beside test values: the path over C, and where the time goes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lambdaplus import evaluate
from lambdaplus.baselines import McRank, StructuralSVM
from lambdaplus.baselines.cutting_planes import Hinges, Pass, solve
from lambdaplus.baselines.oracles import Loss, make_loss
from lambdaplus.baselines.oracles.constraint import Constraint
from lambdaplus.baselines.oracles.dorm import DORMOracle
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.ranking.sort import Ranking, rank
from papers.algorithm_1 import algorithm_1

Record = dict[str, float]
C_OF_TIMES = 100.0
REPEATS = 3


def path_over_c(data: RankingData, svm: StructuralSVM, Cs: Sequence[float]) -> list[Record]:
    """Slack, objective and norm of an SVM for each C (figures 4 to 6).

    Returns
    -------
    list of dict
        C; slack, the mean over queries, and slack_at_zero, that of w = 0; share, the objective
        over that of w = 0; norm of w.
    """
    found = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "w = 0 is optimal")  # the norm says so
        for C in Cs:
            model = clone(svm).set_params(C=C).fit(data.features, data.labels, data.qid)
            first = model.history_[0]  # at w = 0
            found.append(
                {
                    "C": C,
                    "slack": model.slack_,
                    "slack_at_zero": first.slack,
                    "share": model.primal_ / first.primal,
                    "norm": float(np.linalg.norm(model.coef_)),
                }
            )
    return found


def like_trec(queries: int, relevant: int, irrelevant: int, seed: int = 0) -> RankingData:
    """Data of the shape of TD2003 and TD2004: few relevant documents in long queries.

    ``relevant`` and ``irrelevant`` documents in all; queries have nearly the same number.  Of 44
    features in [0, 1], 10 are higher by 0.2 on average where a document is relevant.
    """
    random = np.random.default_rng(seed)
    labels, qid = [], []
    for q in range(queries):
        for label, total in ((1.0, relevant), (0.0, irrelevant)):
            n = total // queries + (q < total % queries)
            labels.append(np.full(n, label))
            qid.append(np.full(n, q))
    y = np.concatenate(labels)
    X = random.random((y.size, 44))
    X[:, :10] = np.clip(X[:, :10] + 0.2 * y[:, None], 0.0, 1.0)
    return RankingData(X, y, np.concatenate(qid))


class AssignmentOracle(DORMOracle):
    """DORM's search as an assignment problem for every query, of two classes too."""

    def __call__(self, ranking: Ranking) -> Constraint:
        place = np.zeros(ranking.row.size, dtype=np.int64)
        for q in np.flatnonzero(self.queries.strata().n_classes > 1):
            self._assign(ranking, slice(*self.queries.boundaries[q : q + 2]), place)
        return self._constraint(place)


def svm_time(data: RankingData, parameters: Mapping[str, Any]) -> Record:
    """Where the time of a fit goes, at C = 100, in the fastest of three (figure 8).

    Returns
    -------
    dict
        seconds of the processor for the whole fit; seconds by the clock of the solver, and oracle
        of these; passes; norm of w.
    """
    model = StructuralSVM(**{**parameters, "C": C_OF_TIMES})

    def fit() -> tuple[Sequence[Pass], Floats]:
        model.fit(data.features, data.labels, data.qid)
        return model.history_, model.coef_

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "w = 0 is optimal")  # the norm says so
        return _fastest(fit)


def assignment_time(data: RankingData, metric: str, epsilon: float) -> Record:
    """The same of DORM by assignment, with a decay that is 0 after rank 30."""

    def fit() -> tuple[Sequence[Pass], Floats]:
        queries = Queries(data.labels, group=data.group)
        loss = Loss(AssignmentOracle(parse_metric(metric), queries, 30.0), queries)
        hinges = Hinges(np.ascontiguousarray(data.features), [loss], separate=False)
        weight = np.full(hinges.n_blocks, C_OF_TIMES / data.n_queries)
        solution = solve(hinges, weight, 1e-3, 300, epsilon)
        return solution.history, solution.w

    return _fastest(fit)


def oracle_time(documents: int, metric: str, feature_map: str) -> float:
    """Processor seconds of a search for the most violated ranking of a query, 1 in 20 relevant."""
    random = np.random.default_rng(0)
    queries = Queries((random.random(documents) < 0.05).astype(np.float64), group=[documents])
    oracle = make_loss(parse_metric(metric), queries, feature_map).oracle
    times = []
    with limit_threads(1):
        scores = 0.1 * random.normal(size=documents)
        for _ in range(1 + REPEATS):  # the first loads what is compiled
            begin = time.process_time()
            oracle(rank(queries, scores))
            times.append(time.process_time() - begin)
    return min(times[1:])


def mcrank_time(data: RankingData, rounds: int) -> Record:
    """Seconds of the processor for a fit of McRank, without validation data."""
    model = McRank(n_estimators=rounds, n_jobs=1, random_state=0)
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        model.fit(data.features, data.labels, data.qid)
        times.append(time.process_time() - begin)
    return {"seconds": min(times), "passes": float(rounds)}


def rounds_of_mcrank(fold: Fold, rounds: int) -> list[float]:
    """Validation NDCG@10 after each round."""
    model = McRank(n_estimators=rounds, patience=None, n_jobs=1, random_state=0)
    valid = (fold.valid.features, fold.valid.labels, fold.valid.qid)
    model.fit(fold.train.features, fold.train.labels, fold.train.qid, eval_set=valid)
    return [float(value) for value in model.learning_curve_]


def reading_value(
    fold: Fold, parameters: Mapping[str, Any], Cs: Sequence[float], metric: str
) -> float:
    """Test value with the C that is best on validation data.

    ``by_query`` is algorithm 1, not in batches.
    """
    others = dict(parameters)
    by_query = others.pop("by_query", False)
    best, chosen = -np.inf, 0.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "w = 0 is optimal")
        for C in Cs:
            if by_query:
                w = _in_turn(fold.train, C, others)
            else:
                model = StructuralSVM(**others, C=C)
                w = model.fit(fold.train.features, fold.train.labels, fold.train.qid).coef_
            valid, test = (
                evaluate(part.labels, part.features @ w, qid=part.qid, metrics=metric)[metric]
                for part in (fold.valid, fold.test)
            )
            if valid > best:
                best, chosen = valid, test
    return float(chosen)


def value_by_query(
    fold: Fold, order: int, parameters: Mapping[str, Any], Cs: Sequence[float], metric: str
) -> float:
    """`reading_value` by algorithm 1, with the queries in another order, or for 0 the data's."""
    n = fold.train.n_queries
    queries = np.random.default_rng(order).permutation(n) if order else np.arange(n)
    shuffled = replace(fold, train=fold.train.take_queries(queries))
    return reading_value(shuffled, {**parameters, "by_query": True}, Cs, metric)


def _in_turn(train: RankingData, C: float, options: Mapping[str, Any]) -> Floats:
    others = {name: value for name, value in options.items() if name not in ("tol", "max_passes")}
    return algorithm_1(train, C, others.pop("epsilon"), **others).w


def _fastest(fit: Callable[[], tuple[Sequence[Pass], Floats]]) -> Record:
    times = []
    with limit_threads(1):
        for _ in range(REPEATS):
            begin = time.process_time()
            history, w = fit()
            times.append(
                {
                    "seconds": time.process_time() - begin,
                    "solver": history[-1].seconds,
                    "oracle": history[-1].oracle_seconds,
                    "passes": float(len(history)),
                    "norm": float(np.linalg.norm(w)),
                }
            )
    return min(times, key=lambda time: time["seconds"])
