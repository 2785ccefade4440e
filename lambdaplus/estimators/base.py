"""What the rankers have in common: reading data, objective, metric, stopping, scoring."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lambdaplus.estimators.documents import Documents, Judged, read_documents, read_features
from lambdaplus.estimators.eval_sets import read_eval_sets
from lambdaplus.estimators.parameters import FrameworkParameters
from lambdaplus.evaluation import EvalMetric, eval_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats

Curves = dict[str, dict[str, list[float]]]


class BoostedRanker(FrameworkParameters):
    """Base of `LightGBMRanker` and `XGBoostRanker`; not made itself.

    Attributes
    ----------
    booster_
        The framework's own model, for its tools (SHAP, plots, saving).
    best_iteration_ : int
        Boosting rounds that `predict` uses: the best ones if training stopped early, else all.
    evals_result_ : dict
        Curves by evaluation set (``"valid_0"``, ...) and metric.
    n_features_in_ : int
    feature_names_in_ : (d,) array of str
        Only if fitted on a data frame whose column names are all str.
    """

    __metadata_request__fit: ClassVar = {"qid": True}  # a ranker wants its queries
    __metadata_request__score: ClassVar = {"qid": True}

    _native: ClassVar[Mapping[str, str]]
    """The framework's own ranking objectives, and the metric of each."""

    objective: str | Objective
    eval_metric: str | Sequence[str] | EvalMetric | None
    early_stopping_rounds: int | None
    random_state: Any

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        eval_sample_weight: Any = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame
            NaN marks missing values.  Categorical columns of a frame are used as such.
        y : (n,) array_like
            Relevance; the higher, the more relevant.
        qid : (n,) array_like, optional
            Query of each row; the rows of a query may stand anywhere.
        group : (n_queries,) array_like of int, optional
            In its place, query sizes in row order.  With neither, AUC and MAP take all rows as one
            ranking; other objectives raise.
        sample_weight : (n,) array_like, optional
            Row weights; with queries, XGBoost wants the same for all rows of a query.
        eval_set : (X, y), (X, y, qid), or list of such, optional
            Validation data.  Training stops when the last one's first metric has not improved for
            ``early_stopping_rounds``.
        eval_qid, eval_group, eval_sample_weight : array_like, or list of such, optional
            As qid, group and sample_weight, one for each set.

        Raises
        ------
        ValueError
            For unusable data, and if no query has documents to tell apart.
        """
        objective, metric = self._chosen_objective(), self._chosen_metric()
        train = read_documents(self, Judged(X, y, qid, group, sample_weight), reset=True)
        held_out = {
            f"valid_{i}": read_documents(self, given, reset=False)
            for i, given in enumerate(
                read_eval_sets(eval_set, eval_qid, eval_group, eval_sample_weight)
            )
        }
        for name, documents in {"training data": train, **held_out}.items():
            try:  # what can't be judged can't be learnt from, either
                _values(metric, documents, np.zeros(documents.queries.n_documents))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        self.booster_, self.evals_result_, rounds = self._train(objective, metric, train, held_out)
        self.best_iteration_ = rounds
        if held_out and self._stops:
            curves = self.evals_result_[f"valid_{len(held_out) - 1}"]
            self.best_iteration_ = int(np.argmax(curves[str(metric.metrics[0])])) + 1
        return self

    def predict(self, X: Any) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame

        Returns
        -------
        (n,) float64
        """
        check_is_fitted(self)
        return self._scores(read_features(self, X, reset=False))

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The first metric of predictions: that of the objective, or ``eval_metric``.

        Parameters
        ----------
        X, y, qid, group, sample_weight
            As in `fit`.  Labels need not have occurred in training.
        """
        check_is_fitted(self)
        documents = read_documents(self, Judged(X, y, qid, group, sample_weight), reset=False)
        return _values(self._chosen_metric(), documents, self._scores(documents.X))[0]

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits, (d,); sums to 1."""
        check_is_fitted(self)
        gain = self._gain()
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _chosen_objective(self) -> str | Objective:
        """The name of a native objective, or one of ours."""
        if isinstance(self.objective, Objective) or self.objective in self._native:
            return self.objective
        try:
            return lambda_objective(self.objective)
        except ValueError as error:
            native = ", ".join(self._native)
            raise ValueError(f"objective: {error}; or one of {native}") from None

    def _chosen_metric(self) -> EvalMetric:
        objective, metric = self._chosen_objective(), self.eval_metric
        if isinstance(metric, EvalMetric):
            return metric
        if isinstance(objective, str):
            return eval_metric(*_listed(metric or self._native[objective]))
        return eval_metric(*_listed(metric or objective.metric), one_group=objective.one_group)

    @property
    def _stops(self) -> bool:
        """Whether validation data ends the training."""
        return bool(self.early_stopping_rounds)

    def _seed(self) -> int | None:
        """random_state as a number; None leaves the framework's own seed."""
        if self.random_state is None or isinstance(self.random_state, int):
            return self.random_state
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    @abstractmethod
    def _train(
        self,
        objective: str | Objective,
        metric: EvalMetric,
        train: Documents,
        held_out: Mapping[str, Documents],
    ) -> tuple[Any, Curves, int]:
        """Train; return the model, its curves, and the number of rounds."""

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """Raw scores of checked features by the best rounds."""

    @abstractmethod
    def _gain(self) -> Floats:
        """Total gain of each feature's splits in the best rounds."""


def _listed(metric: Any) -> list[Any]:
    return list(metric) if isinstance(metric, list | tuple) else [metric]


def _values(metric: EvalMetric, documents: Documents, scores: Floats) -> list[float]:
    queries = documents.queries
    found = metric(queries.labels, scores, queries.weights, documents.group)
    triples = found if isinstance(found, list) else [found]
    return [value for _, value, _ in triples]
