"""Accuracy SVMs: classifiers of relevant documents, whose decision function ranks documents."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.svm import SVC, LinearSVC

from lambdaplus.baselines.allowed_values import AtLeastOne, Finite, Positive
from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.baselines.transformers import QueryScaler
from lambdaplus.compute.array_types import Floats
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.strata import reaches

N_THRESHOLDS = 50
BIAS_SCALE = 10.0  # LinearSVC penalises the square of the bias: here, by a hundredth


@dataclass(eq=False, repr=False)
class SVMAccuracy(BaseRanker):
    """Linear classifier of relevant documents as a ranker, in four variants.

    Parameters
    ----------
    variant : "plain", "balanced", "percentile" or "minmax"
        "plain" is SVMacc.  "balanced", SVMacc2, weights a misclassified relevant document by the
        number of non-relevant documents divided by that of relevant ones.  "percentile" and
        "minmax", SVMacc3 and SVMacc4, convert each feature, separately for each query, to a
        percentile or a value in [0, 1], and then to 50 indicators at evenly spaced thresholds.
    C : float
        Weight of the sum of losses.
    loss : "hinge" or "squared_hinge"
        The paper uses "hinge"; "squared_hinge" is faster for large C.
    relevant : float
        Label from which a document is relevant.
    penalize_bias : bool
        True adds a hundredth of the square of the bias to the squared norm.  False does not, as in
        the paper, which ranks better for small ``C``; only with the hinge.  It is trained by
        scikit-learn's SVC, in a time that grows with the square of the number of rows.
    tol, random_state
        As in scikit-learn's LinearSVC and SVC.
    max_iter : int
        Of LinearSVC; SVC goes on until it has converged.

    Attributes
    ----------
    classifier_ : LinearSVC or SVC

    References
    ----------
    Yue et al. 2007, sec. 5.2.1.

    Examples
    --------
    >>> from lambdaplus.baselines import SVMAccuracy
    >>> X, y, qid = [[3.0], [1.0], [0.0], [6.0], [5.0]], [1, 0, 0, 1, 0], [1, 1, 1, 2, 2]
    >>> model = SVMAccuracy("minmax").fit(X, y, qid=qid)
    >>> model.predict([[8.0], [9.0]], qid=[3, 3]).argmax()
    np.int64(1)
    """

    variant: Literal["plain", "balanced", "percentile", "minmax"] = "plain"
    C: Positive = 1.0
    _: KW_ONLY
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    relevant: Finite = 1.0
    penalize_bias: bool = True
    tol: Positive = 1e-4
    max_iter: AtLeastOne = 10_000
    random_state: int | None = 0

    def _fit(self, X: Floats, queries: Queries) -> None:
        good = reaches(queries.labels, self.relevant)
        if good.all() or not good.any():
            raise ValueError(
                f"labels must not be of one class only, but {good.sum()} of {good.size} rows are "
                f"relevant (relevant={self.relevant})"
            )
        if not self.penalize_bias and self.loss != "hinge":
            raise ValueError(f"penalize_bias=False needs loss='hinge', not {self.loss!r}")
        balance = {True: (~good).sum() / good.sum()} if self.variant == "balanced" else None
        shared = {
            "C": self.C,
            "class_weight": balance,
            "tol": self.tol,
            "random_state": self.random_state,
        }
        self.classifier_: Any = (
            LinearSVC(
                **shared,
                max_iter=self.max_iter,
                loss=self.loss,
                dual=True if self.loss == "hinge" else "auto",
                intercept_scaling=BIAS_SCALE,
            )
            if self.penalize_bias
            else SVC(**shared, kernel="linear")
        )
        self.classifier_.fit(self._indicators(X, queries.query_of_row), good)

    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like
        qid : (n,) array_like, optional
            Query of each row, within which "percentile" and "minmax" scale.  Without it, all rows
            are one query.

        Returns
        -------
        (n,) float64

        Raises
        ------
        ValueError
            For invalid data, and a ``qid`` of another length.
        """
        features = self._indicators(self._features(X), qid)
        return np.asarray(self.classifier_.decision_function(features))

    def _indicators(self, X: Floats, qid: ArrayLike | None) -> Floats:
        if self.variant == "plain" or self.variant == "balanced":
            return X
        scaled = QueryScaler(self.variant).fit_transform(X, qid=qid)
        above = scaled[:, :, None] > np.arange(N_THRESHOLDS) / N_THRESHOLDS
        return above.reshape(len(X), -1).astype(np.float64)
