"""XGBoost's estimators with a metric's name as objective."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.documents import Documents, refuse_masked
from lambdaplus.estimators.objective_names import explained, find_metrics, find_objective, metric_of
from lambdaplus.estimators.parent import (
    arguments,
    refuse_other_models,
    replaced,
    takes_also,
    with_inherited_parameters,
)
from lambdaplus.estimators.ranker import Ranker, put_in_query_order
from lambdaplus.evaluation import EvalMetric
from lambdaplus.objectives import Objective

_BY_ROW = "base_margin", "sample_weight_eval_set", "base_margin_eval_set"
_SCORES = "binary:logitraw"  # what a saved classifier says: its prediction is the score
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
        booster = type(model)

        def update(dtrain: Any, iteration: int, fobj: Any = None) -> None:
            booster.update(model, dtrain, iteration, self.objective or fobj)

        def eval_set(evals: Any, iteration: int, feval: Any, output_margin: bool) -> Any:
            return booster.eval_set(model, evals, iteration, self.metric or feval, output_margin)

        model.update, model.eval_set = update, eval_set
        return model

    def after_training(self, model: Any) -> Any:
        del model.update, model.eval_set
        return model


def _for_xgboost(model: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that XGBoost itself knows; it is told of metrics in fit."""
    ours = {*model._ours, "eval_metric"}
    if isinstance(find_objective(params.get("objective")), Objective):
        ours.add("objective")
    return {name: value for name, value in params.items() if name not in ours}


def _train(model: Any, fit: Any, call: dict[str, Any], objective: Any, saved_as: str) -> None:
    """Call the parent's fit with parameters that it understands; it gets to know saved_as."""
    refuse_other_models("xgb_model", call.get("xgb_model"), xgb.Booster, xgb.XGBModel)
    ours = isinstance(objective, Objective)
    called = ours or (callable(objective) and isinstance(model, xgb.XGBRanker))
    given = metric_of(objective) if model.eval_metric is None and ours else model.eval_metric
    metrics, theirs = find_metrics(given, bool(getattr(objective, "one_group", False)))
    if metrics is not None and not all(isinstance(metric, str) for metric in theirs):
        raise ValueError("XGBoost evaluates one function: pass one, or metrics of ours")
    changed: dict[str, Any] = {"eval_metric": theirs or None}
    callbacks = list(model.callbacks or ())
    if called:
        xgb.warn_of_unused(model.get_xgb_params(), objective, stacklevel=4)
        changed |= {"objective": saved_as, "base_score": model.base_score or 0.0}
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
    with replaced(model, callbacks=callbacks or None, **changed), explained(objective):
        fit(**call)


@with_inherited_parameters
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

    _ours: ClassVar = ()

    def __init__(self, *, objective: Any = "ndcg", **kwargs: Any) -> None:
        # XGBRanker's own constructor refuses every objective whose name it does not know.
        xgb.XGBModel.__init__(self, objective=objective, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        return _for_xgboost(self, super().get_xgb_params())

    @takes_also(xgb.XGBRanker.fit)
    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Train as XGBRanker does, with all of its arguments.

        ``qid`` and ``eval_qid`` take queries in any order, ``sample_weight`` an entry for each
        query, by first appearance, or for each row; errors are as in `LightGBMRanker.fit`.
        """
        call = arguments(super().fit, X, y, **kwargs)
        objective = find_objective(self.objective)
        qid, eval_qid = call.pop("qid", None), call.pop("eval_qid", None)
        put_in_query_order(call, objective, qid, eval_qid, _BY_ROW, _query_weights)
        _train(self, super().fit, call, objective, "rank:ndcg")
        return self


@with_inherited_parameters
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

    _ours: ClassVar = ("pos_label", "calibration", "cv")
    _eval_weights: ClassVar = "sample_weight_eval_set"
    _other_outputs: ClassVar = ("output_margin",)

    def __init__(
        self,
        *,
        objective: Any = "map",
        pos_label: Any = None,
        calibration: str | None = None,
        cv: Any = 5,
        **kwargs: Any,
    ) -> None:
        self.pos_label = pos_label
        self.calibration = calibration
        self.cv = cv
        super().__init__(objective=objective, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        return _for_xgboost(self, super().get_xgb_params())

    @takes_also(xgb.XGBClassifier.fit)
    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Train as XGBClassifier does, on two labels of any kind; see `LightGBMClassifier.fit`."""
        call = arguments(super().fit, X, y, **kwargs)
        refuse_masked(call)
        objective = find_objective(self.objective)
        self._forget()
        if not isinstance(objective, Objective):
            _train(self, super().fit, call, objective, _SCORES)
            return self
        model = call.get("xgb_model")
        classes = self._encode(call, model)
        _train(self, super().fit, call, objective, _SCORES)
        self._finish(call, classes, model)
        self.get_booster().set_attr(**{_OFFSET: repr(self.offset_)})
        return self

    def load_model(self, fname: Any) -> None:
        """Load trees that `save_model` saved; the trained class is 1 then, and the other one 0."""
        self._forget()
        super().load_model(fname)
        if self.objective == _SCORES:
            self.pos_label_ = 1
            self.offset_ = float(self.get_booster().attr(_OFFSET) or 0.0)

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})


def _query_weights(name: str, documents: Documents, given: Any) -> Any:
    """Weights of queries, from those of rows if the rows of a query have the same."""
    queries = documents.queries
    if given is None or np.shape(given) == (queries.n_queries,):
        return given
    rows = np.asarray(documents.weights(name, given))
    first = rows[queries.boundaries[:-1]]
    if (np.repeat(first, queries.sizes) != rows).any():
        raise ValueError(
            f"{name}: XGBoost takes one weight for each query, but the rows of a query have "
            "different ones: give all rows of a query the same, or use LightGBMRanker"
        )
    return first
