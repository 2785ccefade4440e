"""What is measured beside test means: paths over C, and where the time of a fit goes.

Each function takes data and numbers and gives records that JSON can hold.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.data import RankingData
>>> from papers.chakrabarti_2008.experiments import path_over_c
>>> data = RankingData([[0.0], [1.0], [0.5]], labels=[0, 1, 0], qid=[1, 1, 1])
>>> [point] = path_over_c(data, {"loss": "auc"}, (100.0,))
>>> round(point["slack"], 2), round(point["slack_at_zero"], 2)
(0.0, 1.0)
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lambdaplus.baselines import McRank, StructuralSVM
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
    """Slack, objective and norm for each C (figures 4 to 6).

    Parameters
    ----------
    data : RankingData
    parameters : dict
        Of the `StructuralSVM`.
    Cs : sequence of float
        Ascending.

    Returns
    -------
    list of dict
        C; slack, the mean over queries, and slack_at_zero, that of w = 0; share, the objective
        over that of w = 0; norm of w; gap, relative.
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
            "gap": (point.primal - point.dual) / point.primal,
        }
        for point in path
    ]


def like_trec(queries: int, relevant: int, irrelevant: int, seed: int = 0) -> RankingData:
    """Data of the shape of TD2003 and TD2004: few relevant documents in long queries.

    Parameters
    ----------
    queries : int
    relevant, irrelevant : int
        Documents in all; queries have nearly the same number.
    seed : int

    Returns
    -------
    RankingData
        44 features in [0, 1], of which 10 are higher by 0.2 on average where a document is
        relevant.
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
    found = []
    with warnings.catch_warnings(), limit_threads(1):
        warnings.filterwarnings("ignore", "w = 0 is optimal")  # the norm says so
        for _ in range(REPEATS):
            model.fit(data.features, data.labels, data.qid)
            found.append(_time(model.history_, model.coef_))
    return min(found, key=lambda time: time["seconds"])


def assignment_time(data: RankingData) -> Record:
    """The same of DORM by assignment: NDCG@10, a decay that is 0 after rank 30."""
    queries = Queries(data.labels, group=data.group)
    loss = Loss(AssignmentOracle(parse_metric("ndcg@10"), queries, 30.0), queries)
    hinges = Hinges(np.ascontiguousarray(data.features), [loss], separate=False)
    weight = np.full(hinges.n_blocks, C_OF_TIMES / data.n_queries)
    found = []
    with limit_threads(1):
        for _ in range(REPEATS):
            planes = Planes(hinges.n_blocks, data.features.shape[1])
            solution = solve(hinges, planes, weight, 1e-3, 300)
            found.append(_time(solution.history, solution.w))
    return min(found, key=lambda time: time["seconds"])


def mcrank_time(data: RankingData, rounds: int) -> Record:
    """Seconds of McRank without validation, the fastest of three (figure 10)."""
    found = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        McRank(n_estimators=rounds, n_jobs=1).fit(data.features, data.labels, qid=data.qid)
        found.append(time.perf_counter() - begin)
    return {"seconds": min(found)}


def _time(history: Sequence[Pass], w: Floats) -> Record:
    last = history[-1]
    return {
        "seconds": last.seconds,
        "oracle": last.oracle_seconds,
        "passes": len(history),
        "norm": float(np.linalg.norm(w)),
    }
