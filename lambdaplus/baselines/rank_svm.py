"""RankSVM: a linear ranker with large margins on all pairs of documents, without the pairs.

Examples
--------
>>> import numpy as np
>>> from lambdaplus.baselines import RankSVM
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y, qid = (X[:, 0] + X[:, 1] > 1).astype(int), np.repeat(np.arange(6), 10)
>>> model = RankSVM(C=10.0).fit(X, y, qid=qid)
>>> bool(model.gap_ <= 1e-6 * model.objective_)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from lambdaplus.baselines.base_ranker import LinearRanker
from lambdaplus.baselines.pair_hinge import Objective, minimise
from lambdaplus.baselines.preference_pairs import preference_pairs
from lambdaplus.baselines.validation_data import read_validation
from lambdaplus.metrics import Metric


class RankSVM(LinearRanker):
    """Linear ranker that minimises the squared hinge loss of all pairs of documents.

    Parameters
    ----------
    C : float or sequence of float
        Weight of the loss relative to ``|w|^2/2``.  Of several values, the best on ``eval_set`` is
        selected; each starts from the solution of the next smaller one.
    balance : {"query", "pair"}
        Every query has the same weight (``1/|S_q|`` per pair), or every pair has.
    tol : float
        Tolerance: training stops when the gap is at most this share of the objective.
    max_iter : int
        Maximum number of Newton steps.
    metric : str or RankingMetric
        Metric for ``eval_set``.

    Attributes
    ----------
    coef_ : (d,) float64
    C_ : float
        The selected C.
    validation_values_ : dict of float to float
        Value of the metric for each C; empty without ``eval_set``.
    objective_ : float
    gradient_norm_ : float
    gap_ : float
        ``|gradient|^2/2``, the duality gap, which bounds the distance of the objective from its
        minimum.
    n_iter_ : int
        Number of Newton steps.

    Notes
    -----
    Herbrich, Graepel & Obermayer 2000; Joachims 2002. Primal truncated Newton for the squared
    hinge: Chapelle & Keerthi 2010; sums over pairs in O(n log n): Lee & Lin 2014.

    The dual variables of pairs, a_p = 2 C b_q max(0, 1 - margin), give w_a = sum a_p (x_i - x_j),
    and the dual objective at these is P(w) minus ``|w - w_a|^2/2``. Since gradient = w - w_a, the
    gap needs no additional pass, and ``coef_`` is within ``gradient_norm_`` of the minimiser.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "balance": [StrOptions({"query", "pair"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C: float | Sequence[float] = 1.0,
        *,
        balance: Literal["query", "pair"] = "query",
        tol: float = 1e-8,
        max_iter: int = 100,
        metric: Metric = "ndcg@10",
    ) -> None:
        self.C = C
        self.balance = balance
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None, eval_set: Any = None
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; any numbers, a higher one is better.
        qid : (n,) array_like, optional
            Query of each row; without it all rows are one ranking.
        eval_set : (X, y, qid), optional
            Validation data, to select among several C.

        Returns
        -------
        RankSVM

        Raises
        ------
        ValueError
            For invalid data or parameters, if no query has two different labels, and for several
            C without ``eval_set``.

        Warns
        -----
        ConvergenceWarning
            If the gap is above the tolerance after `max_iter` steps.
        """
        self._validate_params()
        candidates = np.unique(np.asarray(self.C, dtype=np.float64))
        if not (candidates.size and np.isfinite(candidates).all() and candidates[0] > 0):
            raise ValueError(f"C must be positive, one number or several; got {self.C!r}")
        sample = self._sample(X, y, qid)
        if eval_set is None and candidates.size > 1:
            raise ValueError("several values of C need validation data: pass eval_set=")
        held_out = None
        if eval_set is not None:
            held_out = read_validation(self, eval_set, sample, [self.metric])
        rate = preference_pairs(sample.queries).rate
        if self.balance == "pair":
            rate = np.ones_like(rate)
        documents = sample.X[sample.queries.row_order]
        best, solution = -np.inf, np.zeros(sample.X.shape[1])
        self.validation_values_: dict[float, float] = {}
        for C in candidates:
            objective = Objective(documents, sample.queries, C * rate)
            point, steps = minimise(objective, solution, self.tol, self.max_iter)
            solution = point.w  # the start of the next one
            if point.gap > self.tol * point.value:
                warnings.warn(
                    f"C={C:g}: the gap is {point.gap:.3g} after {steps} Newton steps, at an "
                    f"objective of {point.value:.3g}; scale the features, lower C, or raise "
                    "max_iter or tol",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            value = 0.0
            if held_out is not None:
                value = held_out.value(held_out.features @ point.w)
                self.validation_values_[float(C)] = value
            if value > best:
                best, self.C_, self.n_iter_ = value, float(C), steps
                self.coef_, self.objective_, self.gap_ = point.w, point.value, point.gap
                self.gradient_norm_ = float(np.linalg.norm(point.gradient))
        return self
