"""The trainers of LightGBM and XGBoost: boosted trees on ranking data, watched by round.

They set what a fair comparison keeps the same: threads, seed, the labels that an objective takes,
and no metric of the framework.  A function is called with the scores of the validation documents
after each round, and says whether to stop.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import whole_number
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import hint
from lambdaplus.compute.parallel import threads_for
from lambdaplus.data import RankingData
from lambdaplus.frameworks.internals import lightgbm_parameters

Watch = Callable[[Floats], bool]
"""Called with the validation scores after a round, (n,) float64; whether training may stop."""


@dataclass(frozen=True)
class Boosted:
    """A trained model."""

    predict: Callable[[RankingData, int], Floats]  # scores, (n,), by the trees of the first rounds
    booster: Any  # the framework's own model

    def first(self, rounds: int) -> Callable[[RankingData], Floats]:
        """The scores by the trees of the first rounds."""
        return lambda data: self.predict(data, rounds)


POINTWISE = ("binary", "binary:logistic")
"""Objectives of LightGBM and XGBoost for log-loss."""

BINARY = {*POINTWISE, "rank:map"}
"""Native objectives that require labels 0 and 1."""


def ranks_queries(objective: Any) -> bool:
    """Whether an objective is of queries: one of lambdaplus, or a ranking one of a framework."""
    return not isinstance(objective, str) or objective.startswith(("rank", "lambda"))


def training_labels(objective: Any, labels: Floats) -> Floats:
    """The labels that an objective is trained on: 0 and 1 for native ones that require them."""
    binary = isinstance(objective, str) and objective in BINARY
    return (labels >= 1).astype(np.float64) if binary else labels


def fit_lightgbm(
    objective: Any, params: Mapping[str, Any], train: RankingData, valid: RankingData | None,
    watch: Watch, *, rounds: int, seed: int = 0, threads: int = 1,
) -> Boosted:  # fmt: skip
    """Train LightGBM with an objective of lambdaplus or its own, the same for any threads.

    Without validation data, ``watch`` is not called.
    """
    import lambdaplus.lightgbm as lgb

    threads = threads_for(train.labels.size, threads)
    params = {"deterministic": True, "verbosity": -1, **params}
    _refuse_what_lightgbm_ignores(params)
    lengths: list[int] = []  # a round in which LightGBM finds no split leaves no tree
    over = False

    def look(scores: Floats, _: Any) -> tuple[str, float, bool]:
        nonlocal over
        over = watch(scores)
        return "seen", 0.0, True

    def after_round(state: Any) -> None:
        lengths.append(state.model.current_iteration())
        if over:
            raise lgb.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

    data = lgb.Dataset(
        train.features, training_labels(objective, train.labels), weight=train.weights,
        group=train.group if train.grouped else None,
        categorical_feature=[train.feature_names.index(name) for name in train.categories],
    )  # fmt: skip
    sets = []
    if valid is not None:
        group = valid.group if valid.grouped else None
        sets = [data.create_valid(valid.features, valid.labels, group=group)]
    booster = lgb.train(
        {**params, "num_threads": threads, "objective": objective, "metric": "None", "seed": seed},
        data, num_boost_round=rounds, feval=look, callbacks=[after_round], valid_sets=sets,
    )  # fmt: skip

    def predict(data: RankingData, rounds: int) -> Floats:
        trees = lengths[rounds - 1]
        if not trees:  # for 0, LightGBM would use all
            return np.zeros(len(data.labels))
        given: dict[str, Any] = {"num_iteration": trees, "num_threads": threads}
        scores = booster.predict(data.features, raw_score=True, **given)
        return np.asarray(scores, dtype=np.float64)

    return Boosted(predict, booster)


def _refuse_what_lightgbm_ignores(params: Mapping[str, Any]) -> None:
    try:
        groups = lightgbm_parameters()
    except ImportError:  # LightGBM 3 has no list of its parameters
        return
    main = {alias: name for name, aliases in groups.items() for alias in (name, *aliases)}
    for name in params:
        if main.get(name, name) != name:
            raise ValueError(
                f"{name} is another name of {main[name]}: use that name, since LightGBM ignores "
                "one of them if both are set"
            )
        if name not in main:
            raise ValueError(f"LightGBM has no parameter {name!r}{hint(name, groups)}")


_MAY_NEED_NUMBERS = {"booster", "updater", "device"}
"""Parameters with which XGBoost may need the numbers of features, not only their bins."""


def bins_alone(params: Mapping[str, Any], train: RankingData) -> tuple[bool, bool]:
    """Whether XGBoost gets the bins of training and of validation rows without their numbers.

    The trees are the same.  The numbers take several times as much memory.
    """
    of_train = params.get("tree_method", "hist") == "hist" and not _MAY_NEED_NUMBERS & params.keys()
    # A category that only validation rows have has no bin, and would get that of another one.
    return of_train, of_train and not train.categories


def _number_of_bins(given: Any) -> int | None:
    """The parameter ``max_bin``, which may be text as any parameter of XGBoost."""
    if given is None:
        return None
    with suppress(ValueError):
        given = int(str(given))
    return whole_number("max_bin", given, least=2, below=2**31)


def fit_xgboost(
    objective: Any, params: Mapping[str, Any], train: RankingData, valid: RankingData | None,
    watch: Watch, *, rounds: int, seed: int = 0, threads: int = 1,
) -> Boosted:  # fmt: skip
    """Train XGBoost with an objective of lambdaplus or its own; ``valid`` as for LightGBM."""
    import lambdaplus.xgboost as xgb

    over, threads = False, threads_for(train.labels.size, threads)

    def look(scores: Floats, _: Any) -> tuple[str, float]:
        nonlocal over
        over = watch(scores)
        return "seen", 0.0

    class AfterRound(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return over

    def matrix(data: RankingData, labels: Floats | None = None, kind: Any = xgb.DMatrix) -> Any:
        types = ["c" if name in data.categories else "q" for name in data.feature_names]
        by_query = data.grouped and ranks_queries(objective)
        return kind(
            data.features, labels, group=data.group if by_query else None,
            weight=data.queries.query_weights if by_query else data.weights, nthread=threads,
            feature_types=types if data.categories else None, enable_categorical=True,
        )  # fmt: skip

    is_function = callable(objective)
    params = {
        # The default, 0.5, is meant for probabilities.
        **({"base_score": 0.0} if ranks_queries(objective) else {}),
        "tree_method": "hist",
        **params,
        "objective": "rank:ndcg" if is_function else objective,
    }
    if "eta" in params:
        raise ValueError(
            "eta is another name of learning_rate: use that name, since XGBoost ignores one of "
            "them if both are set"
        )
    of_train, of_valid = bins_alone(params, train)
    training, validation = xgb.DMatrix, xgb.DMatrix
    if of_train:
        bins = _number_of_bins(params.get("max_bin"))
        training = partial(xgb.QuantileDMatrix, max_bin=bins)
    dtrain = matrix(train, training_labels(objective, train.labels), training)
    if of_valid:
        validation = partial(training, ref=dtrain)
    booster = xgb.train(
        {**params, "seed": seed, "nthread": threads, "disable_default_eval_metric": 1},
        dtrain,
        num_boost_round=rounds, obj=objective if is_function else None, custom_metric=look,
        evals=[] if valid is None else [(matrix(valid, valid.labels, validation), "valid")],
        callbacks=[AfterRound()],
        verbose_eval=False,
    )  # fmt: skip

    def predict(data: RankingData, rounds: int) -> Floats:
        scores = booster.predict(matrix(data), output_margin=True, iteration_range=(0, rounds))
        return np.asarray(scores, dtype=np.float64)

    return Boosted(predict, booster)
