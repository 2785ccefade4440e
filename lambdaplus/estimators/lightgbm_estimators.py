"""Subclasses of LightGBM's estimators with the name of a metric as objective."""

from typing import Any, ClassVar

import numpy as np

import lambdaplus.lightgbm as lgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.held_out import HeldOut
from lambdaplus.estimators.lightgbm_fit import fit_lightgbm
from lambdaplus.estimators.parent import ArgumentNames
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.frameworks.internals import (
    lightgbm_aliases,
    lightgbm_parameter,
    with_own_parameters,
)
from lambdaplus.objectives import Objective

if lgb.__version__.startswith("3."):
    raise ImportError("the estimators need LightGBM 4: pip install 'lightgbm>=4'")

_ARGS = ArgumentNames("init_score", "eval_init_score", "eval_sample_weight", "init_model")


class _LastScores:
    """A callback that keeps the scores of the training rows after the last of all rounds.

    Without initial scores, for constant leaves, they are those of a prediction, which would take a
    tenth of the training's time.
    """

    order = 1000  # after early stopping, which ends the round if trees are left out
    before_iteration = False
    scores: Any = None

    def __call__(self, state: Any) -> None:
        if state.iteration + 1 == state.end_iteration:
            state.model.eval_train(self._look)

    def _look(self, scores: Any, _: Any) -> tuple[str, float, bool]:
        self.scores = np.array(scores)
        return "seen", 0.0, True


@with_own_parameters
class LightGBMRanker(RankingEstimator, lgb.LGBMRanker):  # type: ignore[misc]
    """A `lightgbm.LGBMRanker` whose objective is a ranking metric.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        The metric to optimise (``"map@10"`` or ``"lambda_map@10"``), a weighted sum of metrics
        (``"ndcg@10 + 0.5*map"``), a `~lambdaplus.metrics.Declaration`, an objective of
        `~lambdaplus.objectives.lambda_objective`, or one of LGBMRanker (``"lambdarank"``).
    eval_metric : str, metric, callable, or list of these, optional
        Metrics for evaluation sets, by default that of the objective.  `score` returns the first
        one of lambdaplus; other names and functions are passed to LightGBM.
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

    _framework: ClassVar = "LightGBM"
    _names: ClassVar = _ARGS
    _train = fit_lightgbm

    def __init__(self, *, objective: Any = "ndcg", eval_metric: Any = None, **kwargs: Any) -> None:
        self.eval_metric = eval_metric
        super().__init__(objective=objective, **kwargs)


@with_own_parameters
class LightGBMClassifier(RankingClassifier, lgb.LGBMClassifier):  # type: ignore[misc]
    """A `lightgbm.LGBMClassifier` for two classes that ranks the rarer one first.

    Raw scores (``predict(raw_score=True)``) and SHAP values are high for the trained class;
    `decision_function` is high for ``classes_[1]``, as in scikit-learn.

    Parameters
    ----------
    objective : str or callable, default="map"
        A metric of all rows as one ranking (``"map"`` for average precision, or ``"auc"``), an
        objective of `~lambdaplus.objectives.lambda_objective`, or one of LGBMClassifier: with
        ``"binary"``, this class does the same as LGBMClassifier.
    eval_metric : str, metric, callable, or list of these, optional
        Metrics for evaluation sets, by default that of the objective.
    pos_label : label, optional
        The class to rank first; the rarer one by default.
    calibration : {"sigmoid", "isotonic"}, optional
        Method of `~sklearn.calibration.CalibratedClassifierCV` for probabilities, after which
        `predict` chooses the more probable class.  By default, `predict` chooses the trained class
        as often as it occurs, and probabilities are by "sigmoid".
    cv : int, splitter, None or "auto", default="auto"
        Threshold and probabilities need scores of rows that the model has not seen: the last
        evaluation set of `fit` that does not hold the training rows or, without one, each of ``cv``
        folds of the training rows, for which one more model is trained.  "auto" is 2 folds, of
        which only the first is used if there are 500 rows of the trained class.  On few rows, a
        fold takes as long as the model itself: on 10,000, `fit` takes three to five times as long
        as with None.  With None, training rows set the threshold, new rows of the trained class are
        often below it, and there is no `predict_proba`.
    **kwargs
        The parameters of LGBMClassifier, with its defaults.

    Attributes
    ----------
    pos_label_ : label
        The trained class.
    offset_ : float
        Raw-score threshold for `predict`: about as many of the rows that set it are above it as
        belong to the trained class or, with ``calibration``, rows above it have a probability
        above 1/2.  Weights of rows count, those of classes do not.
    calibrator_ : object
        Its ``predict_proba`` has raw scores, (n, 1), as input.

    Notes
    -----
    Models of the folds are trained with the callbacks that run before a round, such as
    ``lightgbm.reset_parameter``, in `XGBoostClassifier` with ``LearningRateScheduler``, and with no
    others.  SHAP values add up to the raw score, which is `decision_function` plus ``offset_`` for
    the trained class.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import LightGBMClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] + random.normal(size=2000) > 3, "fraud", "ok")
    >>> model = LightGBMClassifier(n_estimators=20, verbose=-1)
    >>> model = model.fit(X[:1000], y[:1000])
    >>> model.classes_.tolist(), str(model.pos_label_), model.predict_proba(X[1000:]).shape
    (['fraud', 'ok'], 'fraud', (1000, 2))
    """

    _framework: ClassVar = "LightGBM"
    _names: ClassVar = _ARGS
    _other_outputs: ClassVar = ("raw_score", "pred_leaf", "pred_contrib")

    def __init__(self, *, eval_metric: Any = None, **kwargs: Any) -> None:
        self.eval_metric = eval_metric
        super().__init__(**kwargs)

    def _train(self, fit: Any, call: dict[str, Any], objective: Any, **changed: Any) -> None:
        params = self.get_params()
        alike = lightgbm_parameter(params, "boosting") == "gbdt"
        alike &= not lightgbm_parameter(params, "linear_tree")
        alike &= call.get("init_score") is None and call.get("init_model") is None
        if isinstance(objective, Objective) and alike:
            last = _LastScores()
            call["callbacks"] = [*(call.get("callbacks") or ()), last]
            fit_lightgbm(self, fit, call, objective, **changed)
            self._last_scores = last.scores
        else:
            fit_lightgbm(self, fit, call, objective, **changed)

    def _held_out(self, call: dict[str, Any], objective: Objective, model: Any) -> HeldOut:
        try:
            return super()._held_out(call, objective, model)
        except lgb.NothingToSplitError:
            if self.cv != "auto":
                raise
            # Halves of a few dozen rows cannot be split.
            scores = np.asarray(self._raw(call["X"]), dtype=np.float64)
            return HeldOut(scores, call["y"], call.get("sample_weight"), calibrates=False)

    def _training_scores(self, X: Any) -> Any:
        scores = self.__dict__.pop("_last_scores", None)
        return self._raw(X) if scores is None else scores

    def _rounds(self) -> dict[str, int]:
        names = [name for name in lightgbm_aliases("num_iterations") if name in self.get_params()]
        return dict.fromkeys(names, max(1, self.booster_.current_iteration()))

    @staticmethod
    def _changing(callbacks: Any) -> list[Any]:
        """Those that run before a round, such as ``lightgbm.reset_parameter``."""
        return [one for one in callbacks or () if getattr(one, "before_iteration", False)]

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        if not any(kwargs.get(name) for name in self._other_outputs):
            kwargs["raw_score"] = True
        return lgb.LGBMModel.predict(self, X, **kwargs)
