"""Base class of both rankers: `fit` with queries in any order, and `score`."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.exceptions import DataConversionWarning

from lambdaplus.compute.messages import warn
from lambdaplus.estimators.arguments import by_set, vectors
from lambdaplus.estimators.framework_estimator import FrameworkEstimator
from lambdaplus.estimators.metrics_by_name import function_of_score, metric_of_score
from lambdaplus.estimators.query_column import (
    refuse_moved_indices,
    refuse_other_queries,
    without_qid,
)
from lambdaplus.estimators.search_scores import (
    HOW_QUERIES_COME,
    refuse_scores_without_queries,
    warn_of_several_metrics,
)
from lambdaplus.estimators.split_queries import warn_of_split_queries
from lambdaplus.lists.columns import columns_of, from_narwhals
from lambdaplus.lists.order import Documents, by_query
from lambdaplus.lists.vectors import as_vector, as_weights
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective


class RankingEstimator(FrameworkEstimator):
    """`fit` and `score` of a ranker, to which scikit-learn's metadata routing passes the qid."""

    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    def fit(
        self, X: Any, y: Any, *args: Any, sample_weight: Any = None, qid: Any = None,
        eval_qid: Any = None, eval_set: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Fit the ranker.  Accepts the parent's arguments, and those below.

        Parameters
        ----------
        X : (n, d) array_like
        y : (n,) array_like
            Labels; a higher one is better.
        qid : (n,) array_like, optional
            Query of each row, in any order, instead of ``group``; by default, the column "qid" of a
            frame X.  That column is never a feature.
        eval_qid : list of (m,) array_like, optional
            Same for each evaluation set, instead of ``eval_group``.
        sample_weight : (n,) array_like, optional
            In `XGBoostRanker` also (n_queries,), in the order in which queries first appear.
        eval_metric : str, metric, callable, or list of these, optional
            In `LightGBMRanker`, replaces the parameter of the estimator.  A name of lambdaplus is
            its own metric, which leaves out queries without a relevant document.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are no queries, or those of ``group`` or ``qid`` are not those of the column
            "qid" of X; for labels, weights and queries that cannot be used; for numbers of columns,
            as of ``categorical_feature``, that are others without the column "qid"; in
            `LightGBMRanker`, for metrics that neither lambdaplus nor LightGBM knows, and
            ``eval_at``, also as a parameter of the estimator, with metrics of lambdaplus, which
            have their cutoffs in their names; and in scikit-learn's searches, if they will not
            pass queries to `score`.
        TypeError
            For arguments that the parent does not have.

        Warns
        -----
        UserWarning
            If early stopping watches a loss, which scores that rank do not lower, or, in
            `XGBoostRanker`, minimises a function of yours; and if a search or cross-validation of
            scikit-learn splits queries, or compares values of different metrics.
        """
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight
        call = self._call_of_fit(super().fit, X, y, *args, eval_set=eval_set, **kwargs)  # type: ignore[misc]
        objective = find_objective(self.objective)
        refuse_scores_without_queries()
        warn_of_several_metrics(self)
        self._put_in_query_order(call, objective, qid, eval_qid)
        self._train(call, objective)
        return self

    def score(
        self: Any, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: Any = None
    ) -> float:
        """The first metric of ``eval_metric``, or the objective's; arguments are as for `fit`.

        Metrics of lambdaplus come before functions, which are called as in `fit`.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            As for `fit`; if the objective is not of lambdaplus and has no known metric, or
            ``eval_metric`` has metrics of the framework alone; for a function of which lower values
            are better, or that takes no weights.
        """
        data = _read("score", X, y, qid, group)
        of_rows = self._of_rows(data, as_vector(sample_weight))
        weights = RankingEstimator._weights(self, data, of_rows)
        labels, sizes, scores = data.queries.labels, data.queries.sizes, self.predict(data.X)
        function = function_of_score(self.eval_metric)
        if function is not None:
            return float(self._value(function, labels, scores, weights, sizes))
        metric = metric_of_score(find_objective(self.objective), self.eval_metric)
        return float(metric(labels, scores, weights, sizes)[1])

    _value: Callable[..., float]
    """The value of a function, of labels, scores, weights of rows and sizes of queries."""

    def _features(self, X: Any, validate_features: Any = True) -> Any:
        """The features for a prediction, without a column "qid"."""
        return super()._features(without_qid(from_narwhals(X))[0], validate_features)

    def _put_in_query_order(
        self, call: dict[str, Any], objective: Any, qid: Any, eval_qid: Any
    ) -> None:
        """Check the arguments of fit and sort all rows by query."""
        eval_qid = vectors(eval_qid)
        refuse_moved_indices(call["X"], self._of_features(call))
        train = _read("training data", call["X"], call["y"], qid, call.get("group"))
        ids = without_qid(call["X"])[1] if qid is None else qid
        if ids is not None:
            warn_of_split_queries(ids)
        if train.rows is not None and isinstance(objective, Objective) and objective.own_rows:
            raise ValueError(
                f"the rows of a query are not adjacent, so fit would sort them, but {objective!r} "
                "has values of its own in their order: sort rows and labels by qid first"
            )
        sets, names = call.get("eval_set") or [], self._names
        ids = by_set("eval_qid", eval_qid, len(sets))
        arguments = ("eval_group", names.eval_weights, names.eval_start)
        groups, weights, starts = (by_set(name, call.get(name), len(sets)) for name in arguments)
        held_out = []
        for i, (X, y) in enumerate(sets):
            # The frameworks recognise the training data among evaluation sets.
            same = X is call["X"] and y is call["y"]
            if same and ids[i] is None and groups[i] is None:
                held_out.append(train)
                continue
            read = _read(f"evaluation set {i}", X, y, ids[i], groups[i])
            held_out.append(train if same and read.has_rows_as(train) else read)
        # Labels of each part are arrays of its own: LightGBM takes a set with the arrays of the
        # training for the training data.
        call["eval_set"] = [(part.X, part.queries.labels) for part in held_out]
        call |= {"X": train.X, "y": train.queries.labels, "group": train.queries.sizes}
        call["sample_weight"] = self._weights(train, call.get("sample_weight"))
        call[names.start] = train.in_order(call.get(names.start))
        if sets:
            call["eval_group"] = [part.queries.sizes for part in held_out]
            call[names.eval_weights] = [*map(self._weights, held_out, weights)]
            call[names.eval_start] = [*map(Documents.in_order, held_out, starts)]

    def _of_rows(self, data: Documents, weights: Any) -> Any:
        """Weights for `score`, a weight for each row."""
        return weights

    def _weights(self, data: Documents, weights: Any) -> Any:
        """Row weights in the framework's form; a ValueError for invalid ones."""
        if weights is not None:
            as_weights(weights, data.queries.n_documents)
        return data.in_order(weights)


def _read(name: str, X: Any, y: Any, qid: Any, group: Any) -> Documents:
    """Check labels and queries, and make the rows of each query adjacent, otherwise in order."""
    X, of_column = without_qid(from_narwhals(X))
    if y is None:
        raise ValueError(f"{name} has no labels: requires y to be passed, but the target y is None")
    _warn_of_column(y)
    if qid is None and group is None:
        qid = of_column
    if qid is None and group is None:
        prefix = "eval_" if name.startswith("evaluation") else ""
        if of_step := next((c for c in columns_of(X) or () if str(c).endswith("__qid")), ""):
            raise ValueError(
                f"{name} has no queries: the column {of_step!r} has the name of a step before it. "
                "Construct the ColumnTransformer with verbose_feature_names_out=False, so that it "
                "is 'qid', and pass qid= otherwise"
            )
        missing = (
            f"{name} has no queries: pass {prefix}qid= (the query of each row, in any order) or "
            f"{prefix}group= (query sizes, in row order)"
        )
        if name == "score":
            raise ValueError(
                f"{missing}. Tools that pass no queries, such as permutation_importance, take "
                f"scoring=lambdaplus.scorer('ndcg@10', qid=qid). {HOW_QUERIES_COME}"
            )
        raise ValueError(
            f"{missing}. In scikit-learn's searches and cross-validation qid arrives only after "
            "sklearn.set_config(enable_metadata_routing=True). To rank all rows as one list, use "
            "LightGBMClassifier or XGBoostClassifier"
        )
    try:
        documents = by_query(X, y, qid=qid, group=group)
        if of_column is not None and qid is not of_column:
            refuse_other_queries(of_column, qid, group)
        return documents
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _warn_of_column(y: Any) -> None:
    """Warn of labels in a column, as scikit-learn does."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected: pass y.ravel()"
        warn(message, DataConversionWarning)
