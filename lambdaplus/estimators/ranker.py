"""What both rankers have in common: the arguments of ``fit`` in query order, and ``score``."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import _safe_indexing

from lambdaplus.data.queries import Ints, Queries, by_query
from lambdaplus.estimators.objective_names import find_objective, metric_of
from lambdaplus.estimators.parent import (
    FrameworkEstimator,
    arguments,
    each,
    evaluation_sets,
    refuse_masked,
    replace_evaluation_sets,
)
from lambdaplus.evaluation import EvalMetric
from lambdaplus.objectives import Objective


class Documents(NamedTuple):
    """Rows in query order, and where each was (None if the order has not changed)."""

    X: Any
    queries: Queries
    rows: Ints | None

    def in_order(self, values: Any) -> Any:
        """Values of rows as they were given, in query order; None stays None."""
        unchanged = values is None or self.rows is None
        return values if unchanged else _safe_indexing(values, self.rows)


class Ranker(FrameworkEstimator):
    """Fit and score of a ranker, and what scikit-learn is to hand to it."""

    __metadata_request__fit: ClassVar = {"qid": True}  # a ranker wants its queries
    __metadata_request__score: ClassVar = {"qid": True}

    def fit(
        self, X: Any, y: Any, *args: Any, qid: Any = None, eval_qid: Any = None, **kwargs: Any
    ) -> Self:
        """Train as the parent does, with all of its arguments; these are ours, or mean more.

        Parameters
        ----------
        qid, eval_qid : (n,) array_like, list of such
            Query of each row, in any order, in place of ``group`` and ``eval_group``.
        sample_weight : (n,) array_like
            In `XGBoostRanker` also (n_queries,), by first appearance of each query.
        eval_metric : str, metric, callable, or list of these
            In `LightGBMRanker`, in place of the estimator's own.
        eval_at : list of int
            In `LightGBMRanker`, cutoffs of metrics without one.

        Raises
        ------
        ValueError
            For labels, weights and queries that cannot be used, masked arrays, and if the metric
            of the objective tells no documents of any query apart.
        """
        call = arguments(super().fit, X, y, *args, **kwargs)  # type: ignore[misc]
        objective = find_objective(self.objective)
        self._put_in_query_order(call, objective, qid, eval_qid)
        self._train(super().fit, call, objective)  # type: ignore[misc]
        return self

    def score(
        self: Any, X: Any, y: Any, *, qid: Any = None, group: Any = None, sample_weight: Any = None
    ) -> float:
        """The first metric of ``eval_metric``, or the objective's; arguments are those of `fit`."""
        refuse_masked("sample_weight", sample_weight)
        documents = _read("score", X, y, qid, group)
        weights = Ranker._weights(self, documents, sample_weight)
        metric = metric_of(find_objective(self.objective), self.eval_metric)
        labels, sizes = documents.queries.labels, documents.queries.sizes
        return float(metric(labels, self.predict(documents.X), weights, sizes)[1])

    def _put_in_query_order(
        self, call: dict[str, Any], objective: Any, qid: Any, eval_qid: Any
    ) -> None:
        """Check the arguments of fit, and put all rows in query order."""
        refuse_masked("eval_qid", eval_qid)
        metric = metric_of(objective) if isinstance(objective, Objective) else None
        train = _read("training data", call["X"], call["y"], qid, call.get("group"), metric)
        sets, names = evaluation_sets(call), self._names
        arguments = (eval_qid, *map(call.get, ("eval_group", names.eval_weights, names.eval_start)))
        ids, groups, weights, starts = (each(given, len(sets)) for given in arguments)
        held_out = []
        for i, (X, y) in enumerate(sets):
            # The frameworks recognise the training data among evaluation sets.
            same = X is call["X"] and y is call["y"]
            name = f"evaluation set {i}"
            held_out.append(train if same else _read(name, X, y, ids[i], groups[i], metric))
        replace_evaluation_sets(call, [(part.X, part.queries.labels) for part in held_out])
        call |= {"X": train.X, "y": train.queries.labels, "group": train.queries.sizes}
        call["sample_weight"] = self._weights(train, call.get("sample_weight"))
        call[names.start] = train.in_order(call.get(names.start))
        if sets:
            call["eval_group"] = [part.queries.sizes for part in held_out]
            call[names.eval_weights] = [*map(self._weights, held_out, weights)]
            call[names.eval_start] = [*map(Documents.in_order, held_out, starts)]

    def _weights(self, documents: Documents, given: Any) -> Any:
        """Row weights in the framework's form; a ValueError for unusable ones."""
        Queries(documents.queries.labels, weight=given)
        return documents.in_order(given)


def _read(
    name: str, X: Any, y: Any, qid: Any, group: Any, metric: EvalMetric | None = None
) -> Documents:
    """Check labels and queries, and bring the rows of each query together, otherwise in order."""
    if qid is None and group is None and "qid" in getattr(X, "columns", ()):
        X, qid = X.drop("qid", axis=1), X["qid"]  # as XGBRanker does
    if qid is None and group is None:
        prefix = "eval_" if name.startswith("evaluation") else ""
        raise ValueError(
            f"{name} has no queries: pass {prefix}qid= (the query of each row, in any order) or "
            f"{prefix}group= (query sizes, in row order). In scikit-learn's searches and "
            "cross-validation qid arrives only after "
            "sklearn.set_config(enable_metadata_routing=True). To rank all rows as one list, use "
            "LightGBMClassifier or XGBoostClassifier"
        )
    try:
        refuse_masked("X", X)
        queries, rows = by_query(y, qid=qid, group=group)
        if np.shape(X)[0] != queries.n_documents:
            raise ValueError(f"X has {np.shape(X)[0]} rows for {queries.n_documents} labels")
        if metric is not None:
            _refuse_nothing_to_rank(metric, queries)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return Documents(X if rows is None else _safe_indexing(X, rows), queries, rows)


def _refuse_nothing_to_rank(metric: EvalMetric, queries: Queries) -> None:
    """Raise if the metric has no value, or the same one for the best and the worst ranking."""
    best, worst = (
        metric(queries.labels, scores, None, queries.sizes)
        for scores in (queries.labels, -queries.labels)
    )
    if best == worst:
        raise ValueError(
            f"{metric.metrics[0]} is the same for the best and the worst ranking, so there is "
            "nothing to learn: no query has two documents that it tells apart"
        )
