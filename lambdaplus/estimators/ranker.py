"""Rankers: documents of queries, scored so that the relevant ones come first."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lambdaplus.estimators.base import BoostedModel
from lambdaplus.estimators.checks import values
from lambdaplus.estimators.documents import Judged, read_documents, read_features
from lambdaplus.estimators.eval_sets import read_eval_sets
from lambdaplus.queries import Floats
from lambdaplus.training import Documents

_FORGOTTEN = (
    "this model is fitted with queries, and score() got none, so all rows would be judged as one "
    "ranking: pass qid= (or group=). In scikit-learn's searches and cross-validation qid reaches "
    "score() only after sklearn.set_config(enable_metadata_routing=True)"
)
_FORGOTTEN_IN_EVAL_SET = (
    "{0} (eval_set) has no queries, and the training data has, so all its rows would be judged as "
    "one ranking: pass eval_set=(X, y, qid), or eval_qid= or eval_group="
)


class BoostedRanker(BoostedModel):
    """Base of `LightGBMRanker` and `XGBoostRanker`; not made itself.

    Attributes
    ----------
    booster_
        The framework's own model, for its tools (SHAP, plots), with the best rounds alone.
    best_iteration_ : int
        Boosting rounds of the model: the best ones if there was validation data, else all.
    evals_result_ : dict
        Curves of all rounds that were trained, by evaluation set (``"valid_0"``, ...) and metric.
    n_features_in_ : int
    feature_names_in_ : (d,) array of str
        Only if fitted on a data frame whose column names are all str.
    """

    __metadata_request__fit: ClassVar = {"qid": True}  # a ranker wants its queries
    __metadata_request__score: ClassVar = {"qid": True}

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
        eval_names: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Any = None,
        init_model: Any = None,
        xgb_model: Any = None,
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
            ``early_stopping_rounds``, and the model keeps the rounds up to the best one.
        eval_qid, eval_group, eval_sample_weight : array_like, or list of such, optional
            As qid, group and sample_weight, one for each set.
        eval_names : list of str, optional
            What ``evals_result_`` calls the sets.
        feature_name : list of str, optional
            What the framework calls the features, in the order of the columns; a frame's own names
            by default.
        categorical_feature : list of str or int, optional
            Columns, by name or number, that hold categories although their dtype does not say so:
            in an array whole numbers, at least 0.
        callbacks : list, optional
            LightGBM's or XGBoost's.
        init_model, xgb_model : Booster, fitted estimator or file, optional
            A model of the same framework to continue from; both names are understood.

        Raises
        ------
        ValueError
            For unusable data, and if no query has documents to tell apart.
        """
        training = self._training(callbacks, init_model, xgb_model)
        sets = read_eval_sets(eval_set, eval_qid, eval_group, eval_sample_weight, eval_names)
        given = Judged(X, y, qid, group, sample_weight)
        self._fit(training, given, sets, feature_name, categorical_feature)
        return self

    def predict(
        self,
        X: Any,
        *,
        num_iteration: int | None = None,
        iteration_range: tuple[int, int] | None = None,
        pred_contrib: bool = False,
    ) -> Floats:
        """Score documents; a higher score ranks higher.

        Parameters
        ----------
        X : (n, d) array_like, sparse matrix or data frame
        num_iteration : int, optional
            Use the first so many rounds, of ``best_iteration_``.
        iteration_range : (int, int), optional
            In its place, use the rounds from the first to before the second, counted from 0.
        pred_contrib : bool
            Return each feature's contribution to the score (SHAP values) instead.

        Returns
        -------
        (n,) float64, or (n, d + 1) with pred_contrib
            The last column of contributions is the expected score; each row sums to the score.

        Raises
        ------
        ValueError
            For features unlike the training data's, and rounds that the model does not have.
        """
        check_is_fitted(self, "booster_")
        rounds = self._rounds(num_iteration, iteration_range)
        return self._scores(read_features(self, X, reset=False), rounds, pred_contrib)

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

        Raises
        ------
        ValueError
            For unusable data, and without queries if the model was fitted with some.
        """
        check_is_fitted(self, "booster_")
        documents = self._read(Judged(X, y, qid, group, sample_weight), "score")
        scores = self._scores(documents.X)
        return values(self._chosen_metric(), documents, scores)[0]

    def _rounds(
        self, num_iteration: int | None, iteration_range: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        if num_iteration is not None and iteration_range is not None:
            raise ValueError("pass either num_iteration or iteration_range, not both")
        if num_iteration is not None:
            iteration_range = 0, num_iteration
        if iteration_range is None:
            return None
        first, last = iteration_range
        if not 0 <= first < last <= self.best_iteration_:
            raise ValueError(
                f"no rounds from {first} to {last}: this model has {self.best_iteration_}, up to "
                "its best one"
            )
        return first, last

    def _read(self, given: Judged, name: str) -> Documents:
        documents = read_documents(self, given, reset=False)
        if self._grouped and not documents.queries.grouped:
            raise ValueError(_FORGOTTEN if name == "score" else _FORGOTTEN_IN_EVAL_SET.format(name))
        return documents
