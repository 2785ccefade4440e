"""LightGBM's estimators with a metric's name as objective."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import lambdaplus.lightgbm as lgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.documents import Documents, refuse_masked
from lambdaplus.estimators.objective_names import (
    at_cutoffs,
    explained,
    find_metrics,
    find_objective,
    metric_of,
)
from lambdaplus.estimators.parent import (
    arguments,
    refuse_other_models,
    replaced,
    takes_also,
    with_inherited_parameters,
)
from lambdaplus.estimators.ranker import Ranker, put_in_query_order
from lambdaplus.objectives import Objective

_METRIC = {"metric", "metrics", "metric_types"}  # LightGBM's names of its parameter
_BY_ROW = "init_score", "eval_sample_weight", "eval_init_score"


class _ForLightGBM3:
    """An objective for LightGBM 3, which passes no weights, and multiplies by them itself."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, labels: Any, scores: Any, group: Any) -> Any:
        return self.objective(labels, scores, None, group)


def _for_lightgbm(model: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters without those that LightGBM does not know."""
    return {name: value for name, value in params.items() if name not in model._ours}


def _train(model: Any, fit: Any, call: dict[str, Any], objective: Any, **changed: Any) -> None:
    """Call the parent's fit with an objective and metrics that it understands."""
    refuse_other_models("init_model", call.get("init_model"), lgb.Booster, lgb.LGBMModel)
    ours = isinstance(objective, Objective)
    params = _for_lightgbm(model, model._other_params)
    named = _METRIC & params.keys()
    if ours:
        lgb.warn_of_unused(params, objective, stacklevel=4)
    given = call.pop("eval_metric", None) or model.eval_metric
    if given is None and ours and not named:
        given = metric_of(objective)
    metrics, theirs = find_metrics(given, bool(getattr(objective, "one_group", False)))
    if metrics is not None and "eval_at" in call:
        metrics = at_cutoffs(metrics, call["eval_at"])
    call["eval_metric"] = [*theirs, *([] if metrics is None else [metrics])]
    if not named and (ours or metrics is not None):
        # LightGBM would evaluate the metric of its own objective, which refuses many labels.
        params["metric"] = "None"
    hidden = dict.fromkeys(model._ours)  # from LightGBM 3, which has no _process_params
    model._objective = _ForLightGBM3(objective) if ours and lgb.TAKES_FOBJ else objective
    own = replaced(model, **hidden, _other_params=params, **changed)
    with own, explained(objective), lgb.constant_features_explained():
        fit(**call)


@with_inherited_parameters
class LightGBMRanker(Ranker, lgb.LGBMRanker):  # type: ignore[misc]
    """A `lightgbm.LGBMRanker` with a metric's name as objective; all else is LGBMRanker's own.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        The metric to optimise (``"map@10"`` or ``"lambda_map@10"``), a sum
        (``"ndcg@10 + 0.5*map"``), a `~lambdaplus.metrics.Declaration`, what
        `~lambdaplus.objectives.lambda_objective` made, or what LGBMRanker takes
        (``"lambdarank"``).
    eval_metric : str, metric, callable, or list of these, optional
        What is evaluated on evaluation sets unless `fit` is given another, and, the first of
        ours, what `score` returns; the objective's metric by default.  Names that are not ours are
        LightGBM's.
    **kwargs
        The parameters of LGBMRanker, with its defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import LightGBMRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = LightGBMRanker(objective="mrr", n_estimators=10, verbose=-1).fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.95
    True
    """

    _ours: ClassVar = ("eval_metric",)

    def __init__(self, *, objective: Any = "ndcg", eval_metric: Any = None, **kwargs: Any) -> None:
        self.eval_metric = eval_metric
        super().__init__(objective=objective, **kwargs)

    def _process_params(self, stage: str) -> Any:  # LightGBM 4's, for training and prediction
        return _for_lightgbm(self, super()._process_params(stage))

    @takes_also(lgb.LGBMRanker.fit, "qid", "eval_qid")
    def fit(
        self, X: Any, y: Any, *args: Any, qid: Any = None, eval_qid: Any = None, **kwargs: Any
    ) -> Self:
        """Train as LGBMRanker does, with all of its arguments; these are ours, or mean more.

        Parameters
        ----------
        qid, eval_qid : (n,) array_like, list of such
            Query of each row, in any order, in place of ``group`` and ``eval_group``.
        eval_metric : str, metric, callable, or list of these
            In place of the estimator's own.
        eval_at : list of int
            Cutoffs of metrics without one.

        Raises
        ------
        ValueError
            For labels, weights and queries that cannot be used, masked arrays, and if the metric
            of the objective tells no documents of any query apart.
        TypeError
            If ``init_model`` is no model.
        """
        call = arguments(super().fit, X, y, *args, **kwargs)
        objective = find_objective(self.objective)
        put_in_query_order(call, objective, qid, eval_qid, _BY_ROW, _row_weights)
        _train(self, super().fit, call, objective)
        return self


@with_inherited_parameters
class LightGBMClassifier(RankingClassifier, lgb.LGBMClassifier):  # type: ignore[misc]
    """A `lightgbm.LGBMClassifier` that ranks the rare class first; all else is LGBMClassifier's own.

    The score of the trees (``predict(raw_score=True)``, SHAP values) is high for the trained class,
    whichever it is; `decision_function` has scikit-learn's sign.

    Parameters
    ----------
    objective : str or callable, default="map"
        A metric that takes all rows as one ranking (``"map"`` is average precision then, ``"auc"``),
        what `~lambdaplus.objectives.lambda_objective` made, or LGBMClassifier's own: with
        ``"binary"`` this class is LGBMClassifier.
    eval_metric : str, metric, callable, or list of these, optional
        What is evaluated on evaluation sets; the objective's metric by default.
    pos_label : label, optional
        The class to rank first; the rarer one by default.
    calibration : {"sigmoid", "isotonic"}, optional
        Makes probabilities, by scikit-learn's `~sklearn.calibration.CalibratedClassifierCV`: on
        the last evaluation set of `fit`, or else by cross-validation, which trains ``cv`` + 1 more
        models.  Without it there is no `predict_proba`.
    cv : int or splitter, default=5
    **kwargs
        The parameters of LGBMClassifier, with its defaults.

    Attributes
    ----------
    pos_label_ : label
        The trained class.
    offset_ : float
        The trees' score above which a row is of that class: as many training rows lie above as are
        of it or, with calibration, those with a probability above one half.
    calibrator_ : CalibratedClassifierCV

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import LightGBMClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] + random.normal(size=2000) > 3, "fraud", "ok")
    >>> model = LightGBMClassifier(n_estimators=20, calibration="sigmoid", verbose=-1)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> model.classes_.tolist(), str(model.pos_label_)
    (['fraud', 'ok'], 'fraud')
    >>> fraud = model.predict_proba(X[1000:])[:, 0]
    >>> bool(abs(fraud.mean() - np.mean(y[1000:] == "fraud")) < 0.01)
    True
    """  # noqa: E501

    _ours: ClassVar = ("eval_metric", "pos_label", "calibration", "cv")
    _eval_weights: ClassVar = "eval_sample_weight"
    _other_outputs: ClassVar = ("raw_score", "pred_leaf", "pred_contrib")

    def __init__(
        self,
        *,
        objective: Any = "map",
        eval_metric: Any = None,
        pos_label: Any = None,
        calibration: str | None = None,
        cv: Any = 5,
        **kwargs: Any,
    ) -> None:
        self.eval_metric = eval_metric
        self.pos_label = pos_label
        self.calibration = calibration
        self.cv = cv
        super().__init__(objective=objective, **kwargs)

    def _process_params(self, stage: str) -> Any:  # LightGBM 4's, for training and prediction
        return _for_lightgbm(self, super()._process_params(stage))

    @takes_also(lgb.LGBMClassifier.fit)
    def fit(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Self:
        """Train as LGBMClassifier does, on two labels of any kind, and calibrate if asked to.

        Raises
        ------
        ValueError
            For labels and weights that cannot be used, masked arrays, and more or fewer classes.
        TypeError
            If ``init_model`` is no model.
        """
        call = arguments(super().fit, X, y, *args, **kwargs)
        refuse_masked(call)
        objective = find_objective(self.objective)
        self._forget()
        if not isinstance(objective, Objective):
            _train(self, super().fit, call, objective)
            return self
        if lgb.TAKES_FOBJ and (call.get("sample_weight") is not None or self.class_weight):
            raise ValueError("row weights of an objective that ranks need LightGBM 4")
        model = call.get("init_model")
        classes = self._encode(call, model)
        for name in ("eval_class_weight",) if "eval_class_weight" in call else ():
            call[name] = [self._by_code(weights) for weights in call[name]]
        of_class = {"class_weight": self._by_code(self.class_weight), "_class_weight": None}
        _train(self, super().fit, call, objective, **of_class)
        self._finish(call, classes, model)
        return self

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        if not any(kwargs.get(name) for name in self._other_outputs):
            kwargs["raw_score"] = True
        return lgb.LGBMModel.predict(self, X, **kwargs)


def _row_weights(name: str, documents: Documents, given: Any) -> Any:
    return documents.weights(name, given)
