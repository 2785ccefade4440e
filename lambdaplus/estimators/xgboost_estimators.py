"""XGBoost's estimators with a metric's name as objective."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.objective_names import find_metrics, metric_of
from lambdaplus.estimators.parent import ArgumentNames, replaced
from lambdaplus.estimators.ranker import Documents, Ranker
from lambdaplus.evaluation import EvalMetric
from lambdaplus.frameworks.calls import warn_of_unused
from lambdaplus.objectives import Objective

_NAMES = ArgumentNames("base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model")
_OFFSET = "lambdaplus_offset"  # attribute of the booster, which is saved with it


class _GivenGradient(xgb.callback.TrainingCallback):  # type: ignore[misc]
    """Trains by an objective, and evaluates by a metric, that XGBoost's estimators do not hand on.

    `xgboost.XGBRanker` takes no objective that is called, and calls a metric query by query.  A
    callback may change the booster before the training: it replaces what each round calls.
    """

    def __init__(self, objective: Any, metric: EvalMetric | None) -> None:
        self.objective = objective
        self.metric = metric

    def before_training(self, model: Any) -> Any:
        update, eval_set = model.update, model.eval_set

        def update_by_ours(dtrain: Any, iteration: int, fobj: Any = None) -> None:
            update(dtrain, iteration, self.objective or fobj)

        def evaluate_by_ours(evals: Any, iteration: int, feval: Any, output_margin: bool) -> Any:
            return eval_set(evals, iteration, self.metric or feval, output_margin)

        model.update, model.eval_set = update_by_ours, evaluate_by_ours
        return model

    def after_training(self, model: Any) -> Any:
        del model.update, model.eval_set
        return model


def _train(model: Any, fit: Any, call: dict[str, Any], objective: Any) -> None:
    """Call the parent's fit with an objective and metrics that it understands."""
    ours = isinstance(objective, Objective)
    called = ours or (callable(objective) and isinstance(model, xgb.XGBRanker))
    given = metric_of(objective) if model.eval_metric is None and ours else model.eval_metric
    metrics, theirs = find_metrics(given, objective)
    if metrics is not None and not all(isinstance(metric, str) for metric in theirs):
        raise ValueError("XGBoost evaluates one function: pass one, or metrics of ours")
    changed: dict[str, Any] = {"eval_metric": theirs or None}
    callbacks = list(model.callbacks or ())
    if called:
        warn_of_unused(model.get_xgb_params(), objective, stacklevel=5)
        changed |= {"objective": model._saved_as, "base_score": model.base_score or 0.0}
    if metrics is not None:
        callbacks = [xgb.maximising(callback, metrics) for callback in callbacks]
        if not theirs:
            more = getattr(model, "kwargs", None) or {}
            changed["kwargs"] = {"disable_default_eval_metric": 1, **more}
        if model.early_stopping_rounds:
            # XGBoost would minimise every metric whose name it does not know.
            stop = xgb.callback.EarlyStopping(rounds=model.early_stopping_rounds, maximize=True)
            callbacks.append(stop)
            changed["early_stopping_rounds"] = None
    if called or metrics is not None:
        callbacks.insert(0, _GivenGradient(objective if called else None, metrics))
    with replaced(model, callbacks=callbacks or None, **changed):
        fit(**call)


class XGBoostRanker(Ranker, xgb.XGBRanker):  # type: ignore[misc]
    """An `xgboost.XGBRanker` with a metric's name as objective; all else is XGBRanker's own.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        As in `LightGBMRanker`, XGBoost's own (``"rank:ndcg"``), or a function for `xgboost.train`.
    eval_metric : str, metric, callable, or list of these, optional
        As in `LightGBMRanker`; with early stopping the last one counts, as in XGBRanker.
    **kwargs
        The parameters of XGBRanker, with its defaults.

    Notes
    -----
    The saved model says ``rank:ndcg`` whatever its objective was, as search engines want it.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import XGBoostRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = XGBoostRanker(objective="map", n_estimators=10, max_bin=64).fit(X, y, qid=qid)
    >>> float(round(model.score(X, y, qid=qid), 2))
    1.0
    """

    _names: ClassVar = _NAMES
    _saved_as: ClassVar = "rank:ndcg"
    _train = _train

    def __init__(self, *, objective: Any = "ndcg", **kwargs: Any) -> None:
        # XGBRanker's own constructor refuses every objective whose name it does not know.
        xgb.XGBModel.__init__(self, objective=objective, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def _weights(self, documents: Documents, given: Any) -> Any:
        """Weights of queries, from those of rows if the rows of a query have the same."""
        queries = documents.queries
        if given is None or np.shape(given) == (queries.n_queries,):
            return given
        rows = np.asarray(super()._weights(documents, given))
        first = rows[queries.boundaries[:-1]]
        if (np.repeat(first, queries.sizes) != rows).any():
            raise ValueError(
                "XGBoost takes one weight for each query, but the rows of a query have different "
                "ones: give all rows of a query the same, or use LightGBMRanker"
            )
        return first


class XGBoostClassifier(RankingClassifier, xgb.XGBClassifier):  # type: ignore[misc]
    """An `xgboost.XGBClassifier` that ranks the rare class first; all else is XGBClassifier's own.

    Parameters, attributes and the meaning of scores are those of `LightGBMClassifier`; ``**kwargs``
    are XGBClassifier's.  The saved model says ``binary:logitraw``, whose prediction is the score.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import XGBoostClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = XGBoostClassifier(n_estimators=5).fit(X, np.where(X[:, 0] > 2, "fraud", "ok"))
    >>> model.classes_.tolist(), str(model.pos_label_)
    (['fraud', 'ok'], 'fraud')
    """

    _names: ClassVar = _NAMES
    _other_outputs: ClassVar = ("output_margin",)
    _saved_as: ClassVar = "binary:logitraw"
    _train = _train

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Train as XGBClassifier does; see `LightGBMClassifier.fit`."""
        super().fit(X, y, **kwargs)
        if hasattr(self, "offset_"):
            self.get_booster().set_attr(**{_OFFSET: repr(self.offset_)})
        return self

    def load_model(self, fname: Any) -> None:
        """Load trees that `save_model` saved; the trained class is 1 then, and the other one 0."""
        self._forget()
        super().load_model(fname)
        if self.objective == self._saved_as:
            self.pos_label_ = 1
            self.offset_ = float(self.get_booster().attr(_OFFSET) or 0.0)

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})
