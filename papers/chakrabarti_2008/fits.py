"""What is measured of a fit beside test values: the path over C, and where the time goes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lambdaplus.baselines import StructuralSVM
from lambdaplus.baselines.cutting_planes import Hinges, Pass, Planes, solve
from lambdaplus.baselines.oracles import Loss
from lambdaplus.baselines.oracles.dorm import DORMOracle
from lambdaplus.baselines.oracles.ranked import Constraint, Ranked
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import RankingData
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import parse_metric

Record = dict[str, float]
C_OF_TIMES = 100.0
REPEATS = 3


def path_over_c(
    data: RankingData, parameters: Mapping[str, Any], Cs: Sequence[float]
) -> list[Record]:
    """Slack, objective and norm of a `StructuralSVM` for each C, ascending (figures 4 to 6).

    Returns
    -------
    list of dict
        C; slack, the mean over queries, and slack_at_zero, that of w = 0; share, the objective
        over that of w = 0; norm of w.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "w = 0 is optimal")  # the norm says so
        path = StructuralSVM(**parameters).fit_path(data.features, data.labels, data.qid, Cs=Cs)
    return [
        {
            "C": point.C,
            "slack": point.slack,
            "slack_at_zero": point.primal / point.share / point.C,
            "share": point.share,
            "norm": point.norm,
        }
        for point in path
    ]


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
    """DORM as the paper solves it: an assignment problem for every query, of two classes too."""

    def __call__(self, documents: Ranked) -> Constraint:
        place = np.zeros(documents.row.size, dtype=np.int64)
        for q in np.flatnonzero(documents.classes > 1):
            self._assign(documents, q, place)
        return self._constraint(documents, place)


def svm_time(data: RankingData, parameters: Mapping[str, Any]) -> Record:
    """Where the time of a fit goes, at C = 100, in the fastest of three (figure 8).

    Returns
    -------
    dict
        seconds, oracle (seconds of them), passes, norm of w.
    """
    model = StructuralSVM(**{**parameters, "C": C_OF_TIMES})
    times = []
    with warnings.catch_warnings(), limit_threads(1):
        warnings.filterwarnings("ignore", "w = 0 is optimal")  # the norm says so
        for _ in range(REPEATS):
            model.fit(data.features, data.labels, data.qid)
            times.append(_time(model.history_, model.coef_))
    return min(times, key=lambda time: time["seconds"])


def assignment_time(data: RankingData) -> Record:
    """The same of DORM by assignment: NDCG@10, a decay that is 0 after rank 30."""
    queries = Queries(data.labels, group=data.group)
    loss = Loss(AssignmentOracle(parse_metric("ndcg@10"), queries, 30.0), queries)
    hinges = Hinges(np.ascontiguousarray(data.features), [loss], separate=False)
    weight = np.full(hinges.n_blocks, C_OF_TIMES / data.n_queries)
    times = []
    with limit_threads(1):
        for _ in range(REPEATS):
            planes = Planes(hinges.n_blocks, data.features.shape[1])
            solution = solve(hinges, planes, weight, 1e-3, 300)
            times.append(_time(solution.history, solution.w))
    return min(times, key=lambda time: time["seconds"])


def _time(history: Sequence[Pass], w: Floats) -> Record:
    last = history[-1]
    return {
        "seconds": last.seconds,
        "oracle": last.oracle_seconds,
        "passes": len(history),
        "norm": float(np.linalg.norm(w)),
    }
