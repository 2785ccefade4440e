"""XGBoost as a scikit-learn ranker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from lambdaplus.estimators.base import BoostedRanker, Curves
from lambdaplus.estimators.documents import Documents
from lambdaplus.evaluation import EvalMetric
from lambdaplus.objectives.base import Objective
from lambdaplus.queries import Floats


class XGBoostRanker(BoostedRanker):
    """Gradient-boosted trees by XGBoost that optimise any ranking metric.

    Parameters
    ----------
    objective : str or objective
        A metric (``"map@10"``), a sum (``"ndcg@10 + 0.5*map"``), what
        `~lambdaplus.objectives.lambda_objective` made, or XGBoost's own
        ``"rank:ndcg"``, ``"rank:map"`` or ``"rank:pairwise"``.
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

    _native: ClassVar = {"rank:ndcg": "ndcg@10", "rank:map": "map", "rank:pairwise": "ndcg@10"}

    def __init__(
        self,
        *,
        objective: str | Objective = "ndcg",
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
        self.objective = objective
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_child_weight = min_child_weight
        self.gamma = gamma
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.grow_policy = grow_policy
        self.tree_method = tree_method
        self.booster = booster
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbosity = verbosity
        self._keep(kwargs)

    @staticmethod
    def _framework_names() -> Mapping[str, frozenset[str]]:
        return _names_of_parameters()

    def _train(
        self,
        objective: str | Objective,
        metric: EvalMetric,
        train: Documents,
        held_out: Mapping[str, Documents],
    ) -> tuple[Any, Curves, int]:
        import lambdaplus.xgboost as xgb

        own = ("objective", "eval_metric", "early_stopping_rounds", "n_estimators", "random_state")
        params = {name: value for name, value in self.get_params().items() if name not in own}
        params |= {"seed": self._seed(), "n_jobs": max(self.n_jobs or 0, 0)}
        params["disable_default_eval_metric"] = 1
        if isinstance(objective, str):
            params["objective"] = objective
        elif train.queries.grouped:
            params["objective"] = "rank:ndcg"  # the name in the saved model, nothing more
        callbacks = []
        if held_out and self._stops:
            watched = {"data_name": list(held_out)[-1], "metric_name": str(metric.metrics[0])}
            callbacks.append(
                xgb.callback.EarlyStopping(
                    rounds=self.early_stopping_rounds, maximize=True, **watched
                )
            )
        curves = Curves()
        booster = xgb.train(
            {name: value for name, value in params.items() if value is not None},
            self._matrix(train.X, train),
            num_boost_round=self.n_estimators,
            obj=None if isinstance(objective, str) else objective,
            evals=[(self._matrix(part.X, part), name) for name, part in held_out.items()],
            custom_metric=metric if held_out else None,
            evals_result=curves,
            callbacks=callbacks,
            verbose_eval=False,
        )
        return booster, {name: dict(curve) for name, curve in curves.items()}, self.n_estimators

    @property
    def _stops(self) -> bool:
        # dart rescales trees of earlier rounds: there is no going back to one.
        return super()._stops and self.booster != "dart"

    def _matrix(self, X: Any, documents: Documents | None = None) -> Any:
        import lambdaplus.xgboost as xgb

        known: dict[str, Any] = {}
        if documents is not None:
            known = {
                "label": documents.queries.labels,
                "group": documents.group,
                "weight": _weights(documents),
            }
        return xgb.DMatrix(X, **known, feature_names=self._names(), enable_categorical=True)

    def _scores(self, X: Any) -> Floats:
        rounds = (0, self.best_iteration_)
        found = self.booster_.predict(self._matrix(X), output_margin=True, iteration_range=rounds)
        return np.asarray(found, dtype=np.float64)

    def _gain(self) -> Floats:
        gain = self.booster_[: self.best_iteration_].get_score(importance_type="total_gain")
        names = self._names() or [f"f{i}" for i in range(self.n_features_in_)]
        return np.array([gain.get(name, 0.0) for name in names], dtype=np.float64)


def _weights(documents: Documents) -> Floats | None:
    """Weights as XGBoost takes them: one for each query if there are queries."""
    queries = documents.queries
    if queries.weights is None or not queries.grouped:
        return queries.weights
    of_query = queries.weights[queries.boundaries[:-1]]
    if (np.repeat(of_query, queries.sizes) != queries.weights).any():
        raise ValueError(
            "XGBoost takes one weight for each query, but the rows of a query have different ones: "
            "give all rows of a query the same sample_weight, or use LightGBMRanker"
        )
    return of_query


_SAME = (
    {"learning_rate", "eta"}, {"reg_alpha", "alpha"}, {"reg_lambda", "lambda"},
    {"gamma", "min_split_loss"}, {"n_jobs", "nthread"}, {"random_state", "seed"},
)  # fmt: skip


@cache
def _names_of_parameters() -> dict[str, frozenset[str]]:
    """XGBoost's parameters: what the configurations of models of each kind say."""
    import lambdaplus.xgboost as xgb

    names = {"base_score", "updater", "eval_metric"}
    data = xgb.DMatrix(np.zeros((1, 1)), label=[0])
    kinds = ({"booster": "dart"}, {"booster": "gblinear"}, {"tree_method": "exact"})
    for kind in kinds:
        params = {**kind, "objective": "rank:ndcg", "verbosity": 0, "nthread": 1}
        config = json.loads(xgb.train(params, data, 0).save_config())
        names.update(_parameters(config))
    return {
        name: frozenset(next((same for same in _SAME if name in same), {name})) for name in names
    }


def _parameters(config: Any) -> Iterator[str]:
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        if isinstance(value, dict | list):
            if str(key).endswith("_param") and key != "learner_model_param":
                yield from value
            yield from _parameters(value)
