"""LightGBM as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, ClassVar

from lambdaplus.estimators.base import BoostedModel, GivenObjective
from lambdaplus.estimators.classifier import BoostedClassifier
from lambdaplus.estimators.parameters import takes_also
from lambdaplus.estimators.ranker import BoostedRanker
from lambdaplus.training import LIGHTGBM


class LightGBMTrees(BoostedModel):
    """Trees grown by LightGBM."""

    _framework: ClassVar = LIGHTGBM

    def __init__(
        self,
        *,
        objective: GivenObjective = "ndcg",
        eval_metric: Any = None,
        early_stopping_rounds: int | None = 30,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int = -1,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        subsample_freq: int = 1,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        boosting_type: str = "gbdt",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbosity: int = -1,
        **kwargs: Any,
    ) -> None:
        self._keep(locals())


class LightGBMRanker(BoostedRanker, LightGBMTrees):
    """Gradient-boosted trees by LightGBM 4 that optimise any ranking metric.

    Parameters
    ----------
    objective : str or objective
        A metric (``"map@10"``), a sum (``"ndcg@10 + 0.5*map"``), what
        `~lambdaplus.objectives.lambda_objective` made, or LightGBM's own
        ``"lambdarank"`` or ``"rank_xendcg"``.  Any other callable that takes what LightGBM hands
        to a custom objective will do; `~lambdaplus.objectives.position_bias.PositionBias` takes the
        rows of a query in the order in which they were shown.
    eval_metric : str, list of str or EvalMetric, optional
        What `score` returns and training stops on (the first of several); the objective's own
        metric if None.
    early_stopping_rounds : int or None
        Rounds without gain on the validation data that end training; None, or ``boosting_type``
        "dart", trains all rounds.
    n_estimators, learning_rate, num_leaves, max_depth, min_child_samples, min_child_weight, \
min_split_gain, subsample, subsample_freq, colsample_bytree, reg_alpha, reg_lambda, boosting_type
        As in `lightgbm.LGBMRanker`, with its defaults but one: ``subsample_freq`` is 1, so that
        ``subsample`` has an effect.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads of LightGBM; None or -1 for all cores.
    verbosity : int
    **kwargs
        LightGBM's other parameters, such as ``max_bin=63``, by any of their names.

    Raises
    ------
    TypeError
        For a parameter that LightGBM does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.estimators import LightGBMRanker
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y, qid = (X[:, 0] > 1).astype(int), np.arange(300) % 20
    >>> model = LightGBMRanker(objective="mrr", n_estimators=10, max_bin=63).fit(X, y, qid=qid)
    >>> float(round(model.score(X, y, qid=qid), 2))
    1.0
    """

    _native: ClassVar = LIGHTGBM.ranking


class LightGBMClassifier(BoostedClassifier, LightGBMTrees):
    """Gradient-boosted trees by LightGBM for two classes, one of them rare.

    The trees rank all rows as one list, by default for average precision; the probabilities come
    from scikit-learn's calibration on rows that the trees have not seen.

    Parameters
    ----------
    objective : str or objective
        A metric that takes all rows as one ranking (``"map"``, which is average precision then, or
        ``"auc"``), what `~lambdaplus.objectives.lambda_objective` made, or LightGBM's own log-loss,
        ``"binary"``.
    eval_metric : str, list of str or EvalMetric, optional
        What training stops on (the first of several); the objective's own metric if None, average
        precision for log-loss.
    early_stopping_rounds : int or None
        As in `LightGBMRanker`.
    calibration : {"sigmoid", "isotonic"} or None
        How scores become probabilities: "sigmoid" fits two numbers and goes well with few
        positives; "isotonic" wants a thousand rows and more; see
        `sklearn.calibration.CalibratedClassifierCV`.  With ``eval_set`` in `fit` its rows are
        used.  Without, ``cv`` more models are trained, and each row is scored by the one that has
        not seen it.  None leaves probabilities out, and saves that time.
    cv : int
        Folds of that cross-validation.
    n_estimators, ..., **kwargs
        As in `LightGBMRanker`, with the same defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus.estimators import LightGBMClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 3))
    >>> y = np.where(X[:, 0] + random.normal(size=2000) > 3, "fraud", "fine")
    >>> model = LightGBMClassifier(n_estimators=20).fit(X[:1000], y[:1000])
    >>> model.classes_.tolist()
    ['fine', 'fraud']
    >>> fraud = model.predict_proba(X[1000:])[:, model.classes_ == "fraud"]
    >>> bool(abs(fraud.mean() - np.mean(y[1000:] == "fraud")) < 0.01)
    True
    """

    _native: ClassVar = LIGHTGBM.classification

    @takes_also(LightGBMTrees)
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
