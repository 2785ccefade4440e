"""The trainers of LightGBM, XGBoost and CatBoost, with our objectives or theirs.

The frameworks' own ``train`` is called, and a `Validation` evaluates the rounds.  Parameters with
the name of an option of `~lambdaplus.objectives.lambda_objective` configure our objective, others
are passed to the framework.  CatBoost does not pass queries to a custom objective, so it is trained
with its own objectives only.
"""

import functools
import re
import warnings
from collections.abc import Callable, Set
from typing import Any

import numpy as np

from lambdaplus.compute.arguments import hint
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.data.ranking_data import numeric_part
from lambdaplus.frameworks.internals import lightgbm_parameters
from lambdaplus.objectives import lambda_objective
from lambdaplus.study.methods import POINTWISE, Criterion, Fitted, Parameters, Task, Trainer
from lambdaplus.study.validation import Validation

Predict = Callable[[RankingData, int], Floats]
"""Scores of the documents, (n,) float64, by the trees of the first rounds."""

OBJECTIVE_OPTIONS = frozenset(lambda_objective.__kwdefaults__ or ())
"""Names of parameters that configure our objective; others are passed to the framework."""

OF_THE_STUDY = {
    "objective", "loss_function", "metric", "eval_metric", "num_iterations", "n_estimators",
    "iterations", "num_boost_round", "early_stopping_round", "early_stopping_rounds", "seed",
    "random_seed", "random_state", "num_threads", "thread_count", "nthread", "n_jobs",
    "disable_default_eval_metric",
}  # fmt: skip
"""Parameters that the study sets itself."""

LOSS_OPTIONS = ("num_neighbors", "noise", "noise_power", "permutations", "decay")
"""Parameters that are part of the name of CatBoost's loss."""

BINARY = {*POINTWISE, "rank:map", "YetiRank:mode=MAP", "YetiRank:mode=MRR"}
"""Native objectives that require labels 0 and 1."""


def training_labels(objective: Any, labels: Floats) -> Floats:
    """The labels that an objective is trained on: 0 and 1 for native ones that require them."""
    binary = isinstance(objective, str) and objective in BINARY
    return (labels >= 1).astype(np.float64) if binary else labels


def trainer(
    run: Callable[[Task, Any, dict[str, Any], Validation], Predict],
    options_of_ours: Set[str] = OBJECTIVE_OPTIONS,
) -> Trainer:
    """A trainer of boosted trees, from the function that calls the framework.

    It trains once; the ranker of each metric has the trees up to its best round.
    """

    @functools.wraps(run)
    def train(task: Task) -> dict[Criterion, Fitted]:
        target, settings = task.method.target, task.settings
        ours = options_of_ours & task.parameters.keys()
        options = {name: task.parameters[name] for name in ours}
        others = {k: v for k, v in task.parameters.items() if k not in ours}
        for name in sorted(OF_THE_STUDY & others.keys()):
            raise ValueError(f"{name} cannot be tried, since the study sets it for every method")
        objective = with_options(target, options) if options else target
        validation = Validation(task.valid, task.metrics, settings.patience, settings.every)
        predict = run(task, objective, others, validation)

        def fitted(metric: Criterion) -> Fitted:
            best, curve = validation.best_round(metric), validation.progress[metric].values
            return Fitted(lambda part: predict(part, best), best, curve, validation.every)

        return {metric: fitted(metric) for metric in task.metrics}

    return train


def with_options(target: Any, options: Parameters) -> Any:
    """Our objective for the same metric with other options; it must have the default ones."""
    metric = getattr(target, "metric", None)
    if metric is None or target != lambda_objective(metric):
        raise ValueError(
            f"{', '.join(options)}: options of lambda_objective can only be tried for an objective "
            f"of lambdaplus with default options, not for {target!r}"
        )
    return lambda_objective(metric, **options)


@trainer
def train_lightgbm(
    task: Task, objective: Any, params: dict[str, Any], validation: Validation
) -> Predict:
    """Train LightGBM, with our objectives or its own."""
    import lambdaplus.lightgbm as lgb

    settings = task.settings
    params = {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": settings.documents_in_leaf,
        "deterministic": True,  # the same model for any number of threads
        "verbosity": -1,
        **params,
    }
    _refuse_what_lightgbm_ignores(params)
    threads = {"num_threads": settings.threads}
    lengths: list[int] = []  # a round in which LightGBM finds no split leaves no tree

    def look(scores: Floats, _: Any) -> tuple[str, float, bool]:
        validation.see(scores)
        return "seen", 0.0, True

    def after_round(state: Any) -> None:
        lengths.append(state.model.current_iteration())
        if validation.over:
            raise lgb.callback.EarlyStopException(state.iteration, state.evaluation_result_list)

    labels = training_labels(objective, task.train.labels)
    valid, train = task.valid, task.train
    data = lgb.Dataset(
        train.features, labels, weight=train.weights, group=train.group if train.grouped else None,
        categorical_feature=[train.feature_names.index(name) for name in train.categories],
    )  # fmt: skip
    booster = lgb.train(
        {**params, **threads, "objective": objective, "metric": "None", "seed": task.seed},
        data,
        num_boost_round=settings.rounds,
        valid_sets=[
            data.create_valid(
                valid.features, valid.labels, group=valid.group if valid.grouped else None
            )
        ],
        feval=look,
        callbacks=[after_round],
    )

    def predict(part: RankingData, rounds: int) -> Floats:
        trees = lengths[rounds - 1]
        if not trees:  # for 0, LightGBM would use all
            return np.zeros(len(part.labels))
        scores = booster.predict(part.features, raw_score=True, num_iteration=trees, **threads)
        return np.asarray(scores, dtype=np.float64)

    return predict


def _refuse_what_lightgbm_ignores(params: Parameters) -> None:
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


@trainer
def train_xgboost(
    task: Task, objective: Any, params: dict[str, Any], validation: Validation
) -> Predict:
    """Train XGBoost, with our objectives or its own."""
    import lambdaplus.xgboost as xgb

    class AfterRound(xgb.callback.TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return validation.over

    def matrix(part: RankingData, labels: Floats | None = None) -> Any:
        types = ["c" if name in part.categories else "q" for name in part.feature_names]
        matrix = xgb.DMatrix(
            part.features, labels, nthread=task.settings.threads, enable_categorical=True,
            feature_types=types if part.categories else None,
        )  # fmt: skip
        if labels is None:
            return matrix
        by_query = part.grouped and objective not in POINTWISE
        if by_query:
            matrix.set_group(part.group)
        if part.weights is not None:
            matrix.set_weight(part.queries.query_weights if by_query else part.weights)
        return matrix

    def look(scores: Floats, _: Any) -> tuple[str, float]:
        validation.see(scores)
        return "seen", 0.0

    ours, settings = callable(objective), task.settings
    params = {
        "grow_policy": "lossguide",  # leaf by leaf, as LightGBM's trees
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "tree_method": "hist",
        # The default, 0.5, is meant for probabilities.
        **({"base_score": 0.0} if objective not in POINTWISE else {}),
        **params,
        "objective": "rank:ndcg" if ours else objective,
    }
    _refuse_what_xgboost_ignores(params)
    booster = xgb.train(
        {
            **params, "seed": task.seed, "nthread": settings.threads,
            "disable_default_eval_metric": 1,
        },
        matrix(task.train, training_labels(objective, task.train.labels)),
        num_boost_round=settings.rounds,
        obj=objective if ours else None,
        evals=[(matrix(task.valid, task.valid.labels), "valid")],
        custom_metric=look,
        callbacks=[AfterRound()],
        verbose_eval=False,
    )  # fmt: skip

    def predict(part: RankingData, rounds: int) -> Floats:
        scores = booster.predict(matrix(part), output_margin=True, iteration_range=(0, rounds))
        return np.asarray(scores, dtype=np.float64)

    return predict


def _refuse_what_xgboost_ignores(params: Parameters) -> None:
    import xgboost

    if "eta" in params:
        raise ValueError(
            "eta is another name of learning_rate: use that name, since XGBoost ignores one of "
            "them if both are set"
        )
    data = xgboost.DMatrix(np.zeros((2, 1)), label=[0, 1])
    with warnings.catch_warnings(record=True) as caught, xgboost.config_context(verbosity=1):
        warnings.simplefilter("always")
        xgboost.Booster(dict(params), [data]).save_config()
    for message in caught:
        if "are not used" in str(message.message):
            unused = re.findall(r'"(.*?)"', str(message.message))
            meant = hint(unused[0], xgboost.XGBRanker().get_params())
            raise ValueError(f"XGBoost has no parameter {', '.join(map(repr, unused))}{meant}")


@functools.partial(trainer, options_of_ours=frozenset())  # CatBoost's losses have `noise`, too
def train_catboost(
    task: Task, objective: str, params: dict[str, Any], validation: Validation
) -> Predict:
    """Train CatBoost, with its own objectives."""
    try:
        import catboost
    except ImportError as error:
        raise ImportError("CatBoost is not installed: pip install catboost") from error

    of_loss = [f"{name}={params.pop(name)}" for name in LOSS_OPTIONS if name in params]
    loss, _, mode = objective.partition(":")
    options = ";".join(filter(None, [mode, *of_loss]))
    threads = {"thread_count": task.settings.threads}

    def pool(part: RankingData) -> Any:
        part = numeric_part(part)
        labels = training_labels(objective, part.labels)
        query, weights = part.queries.query_of_row, part.queries.query_weights
        of_rows = None if weights is None else weights[query]
        return catboost.Pool(part.features, labels, group_id=query, group_weight=of_rows)

    class Look:
        """A metric that CatBoost copies, and also calls on the training data."""

        labels = training_labels(objective, task.valid.labels).astype(np.float32)
        scores: Floats | None = None

        def is_max_optimal(self) -> bool:
            return True

        def get_final_error(self, error: float, weight: float) -> float:
            return error

        def evaluate(self, approxes: Any, labels: Any, weight: Any) -> tuple[float, float]:
            if np.array_equal(labels, self.labels):
                type(self).scores = np.array(approxes[0], dtype=np.float64)
            return 0.0, 1.0

    class AfterRound:
        def after_iteration(self, _: Any) -> bool:
            assert Look.scores is not None, "CatBoost evaluates metrics before its callbacks"
            validation.see(Look.scores)
            return not validation.over

    model = catboost.CatBoost(
        {
            "depth": max(1, round(np.log2(task.settings.leaves))),  # its trees are symmetric
            "learning_rate": task.settings.learning_rate,
            **params,
            **threads,
            "loss_function": f"{loss}:{options}" if options else loss,
            "eval_metric": Look(),
            "iterations": task.settings.rounds,
            "random_seed": task.seed,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    with warnings.catch_warnings():
        # CatBoost warns that it cannot compile Look with numba.
        warnings.filterwarnings("ignore", "Can't optimze method", UserWarning)
        valid = pool(task.valid)
        model.fit(pool(task.train), eval_set=valid, callbacks=[AfterRound()], use_best_model=False)

    def predict(part: RankingData, rounds: int) -> Floats:
        kind = "RawFormulaVal"
        features = numeric_part(part).features
        scores = model.predict(features, prediction_type=kind, ntree_end=rounds, **threads)
        return np.asarray(scores, dtype=np.float64)

    return predict
