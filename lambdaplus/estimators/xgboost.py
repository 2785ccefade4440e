"""XGBoost as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, ClassVar

from lambdaplus.estimators.base import BoostedModel, GivenObjective
from lambdaplus.estimators.classifier import BoostedClassifier
from lambdaplus.estimators.early_stopping import EarlyStopping, KeepingBest
from lambdaplus.estimators.parameters import takes_also
from lambdaplus.estimators.ranker import BoostedRanker
from lambdaplus.queries import Floats
from lambdaplus.training import XGBOOST, Span


class XGBoostTrees(BoostedModel):
    """Trees (or with gblinear weights) fitted by XGBoost."""

    _framework: ClassVar = XGBOOST
    booster: str | None

    def __init__(
        self,
        *,
        objective: GivenObjective = "ndcg",
        eval_metric: Any = None,
        early_stopping_rounds: int | None = 30,
        n_estimators: int = 100,
        learning_rate: float | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_child_weight: float | None = None,
        gamma: float | None = None,
        subsample: float | None = None,
        colsample_bytree: float | None = None,
        reg_alpha: float | None = None,
        reg_lambda: float | None = None,
        grow_policy: str | None = None,
        tree_method: str | None = None,
        booster: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbosity: int | None = None,
        **kwargs: Any,
    ) -> None:
        self._keep(locals())

    def _early_stopping(self, data: str, metric: str) -> EarlyStopping:
        if self.booster != "gblinear":
            return super()._early_stopping(data, metric)
        return KeepingBest(self._framework, data, metric, int(self.early_stopping_rounds or 0))

    def _scores(self, X: Any, rounds: Span = None, contributions: bool = False) -> Floats:
        if rounds is not None and self.booster == "gblinear":
            raise ValueError("gblinear has no rounds: it is one linear model")
        return super()._scores(X, rounds, contributions)


class XGBoostRanker(BoostedRanker, XGBoostTrees):
    """Gradient-boosted trees by XGBoost that optimise any ranking metric.

    Parameters
    ----------
    objective : str or objective
        A metric (``"map@10"``), a sum (``"ndcg@10 + 0.5*map"``), what
        `~lambdaplus.objectives.lambda_objective` made, or XGBoost's own
        ``"rank:ndcg"``, ``"rank:map"`` or ``"rank:pairwise"``; to ``"rank:map"``, as to ``"map"``,
        labels of at least 1 are relevant.  Any other callable that takes what XGBoost hands to a
        custom objective will do; `~lambdaplus.objectives.position_bias.PositionBias` takes the rows
        of a query in the order in which they were shown.
    eval_metric : str, list of str or EvalMetric, optional
        What `score` returns and training stops on (the first of several); the objective's own
        metric if None.
    early_stopping_rounds : int or None
        Rounds without gain on the validation data that end training; None, or ``booster`` "dart",
        trains all rounds.
    n_estimators : int
    learning_rate, max_depth, max_leaves, min_child_weight, gamma, subsample, colsample_bytree, \
reg_alpha, reg_lambda, grow_policy, tree_method, booster, verbosity : optional
        As in `xgboost.XGBRanker`; None leaves XGBoost's default.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads of XGBoost; None or -1 for all cores.
    **kwargs
        XGBoost's other parameters, such as ``max_bin=64``.

    Raises
    ------
    TypeError
        For a parameter that XGBoost does not know.

    Notes
    -----
    What a sparse matrix does not hold is missing to XGBoost, and 0 to LightGBM.  With queries the
    saved model says ``rank:ndcg`` whatever its objective was, which search engines accept; scores
    are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.estimators import XGBoostRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = XGBoostRanker(objective="mrr", n_estimators=10, max_bin=64).fit(X, y, qid=qid)
    >>> float(round(model.score(X, y, qid=qid), 2))
    1.0
    """

    _native: ClassVar = XGBOOST.ranking


class XGBoostClassifier(BoostedClassifier, XGBoostTrees):
    """Gradient-boosted trees by XGBoost for two classes, one of them rare.

    The trees rank all rows as one list, by default for average precision; the probabilities come
    from scikit-learn's calibration on rows that the trees have not seen.

    Parameters
    ----------
    objective : str or objective
        A metric that takes all rows as one ranking (``"map"``, which is average precision then, or
        ``"auc"``), what `~lambdaplus.objectives.lambda_objective` made, or XGBoost's own log-loss,
        ``"binary:logistic"``.
    eval_metric : str, list of str or EvalMetric, optional
        What training stops on (the first of several); the objective's own metric if None, average
        precision for log-loss.
    early_stopping_rounds : int or None
        As in `XGBoostRanker`.
    calibration : {"sigmoid", "isotonic"} or None
        How scores become probabilities: "sigmoid" fits two numbers and goes well with few
        positives; "isotonic" wants a thousand rows and more; see
        `sklearn.calibration.CalibratedClassifierCV`.  With ``eval_set`` in `fit` its rows are
        used.  Without, ``cv`` more models are trained, and each row is scored by the one that has
        not seen it.  None leaves probabilities out, and saves that time.
    cv : int
        Folds of that cross-validation.
    n_estimators, ..., **kwargs
        As in `XGBoostRanker`, with the same defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.estimators import XGBoostClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] + random.normal(size=2000) > 3, "fraud", "fine")
    >>> model = XGBoostClassifier(n_estimators=20).fit(X[:1000], y[:1000])
    >>> model.classes_.tolist()
    ['fine', 'fraud']
    >>> fraud = model.predict_proba(X[1000:])[:, model.classes_ == "fraud"]
    >>> bool(abs(fraud.mean() - np.mean(y[1000:] == "fraud")) < 0.01)
    True
    """

    _native: ClassVar = XGBOOST.classification

    @takes_also(XGBoostTrees)
    def __init__(
        self,
        *,
        objective: GivenObjective = "map",
        calibration: str | None = "sigmoid",
        cv: int = 5,
        **kwargs: Any,
    ) -> None:
        self.calibration = calibration
        self.cv = cv
        super().__init__(objective=objective, **kwargs)
