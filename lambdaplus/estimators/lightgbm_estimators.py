"""Subclasses of LightGBM's estimators with the name of a metric as objective."""

import inspect
import warnings
from typing import Any, ClassVar

import lambdaplus.lightgbm as lgb
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.messages import warn
from lambdaplus.estimators.arguments import arguments
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.export import Exported
from lambdaplus.estimators.framework_estimator import ArgumentNames, FrameworkEstimator
from lambdaplus.estimators.metrics_by_name import (
    find_metrics,
    metric_of_score,
    refuse_reversed,
    warn_of_watched_losses,
)
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.signatures import with_parameters_of
from lambdaplus.evaluation.lightgbm_metrics import (
    refuse_metrics_lightgbm_ignores,
    refuse_unknown_to_lightgbm,
)
from lambdaplus.frameworks.column_parameters import (
    by_names_of_lightgbm,
    refuse_forms_lightgbm_ignores,
)
from lambdaplus.frameworks.data_sets import readable_by_lightgbm
from lambdaplus.frameworks.internals import (
    LastScores,
    hiding_own_parameters,
    lack_of_features_explained,
    learnt_by_lightgbm,
    lightgbm_aliases,
    lightgbm_parameter,
    lightgbm_stops_early,
)
from lambdaplus.frameworks.unused_parameters import warn_of_unused
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import unknown_objective_explained

if lgb.__version__.startswith("3."):
    raise ImportError("the estimators need LightGBM 4: pip install 'lightgbm>=4'")


_TAKES_EVAL_X = "eval_X" in inspect.signature(lgb.LGBMModel.fit).parameters  # from 4.7 on


def _fit(model: Any, call: dict[str, Any]) -> None:
    """Fit one of LightGBM's estimators, with evaluation sets in the form of its version."""
    sets = call["eval_set"]
    if not sets or not _TAKES_EVAL_X:
        model.fit(**call)
    elif isinstance(model, lgb.LGBMRanker):
        X, y = zip(*sets, strict=True)
        model.fit(**{**call, "eval_set": None}, eval_X=X, eval_y=y)
    else:
        # In the newer form, LGBMClassifier does not recognise the training rows, and does not
        # encode labels.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
            model.fit(**call)


@hiding_own_parameters
class _OfLightGBM(FrameworkEstimator, lgb.LGBMModel, Exported):  # type: ignore[misc]
    """An estimator that has what one of its parent, with other parameters, learns in `fit`.

    Among this is the objective of the training, as `find_objective` read it.
    """

    _names: ClassVar = ArgumentNames(
        "init_score", "eval_init_score", "eval_sample_weight", "init_model"
    )
    _parent: ClassVar[type[Any]]

    def _readable(self, X: Any) -> Any:
        return readable_by_lightgbm(X)

    def _of_features(self, call: dict[str, Any]) -> dict[str, Any]:
        return by_names_of_lightgbm({**self.get_params(), **call})

    def _prepare(self, call: dict[str, Any]) -> None:
        refuse_forms_lightgbm_ignores(self._of_features(call), call.get("categorical_feature"))
        super()._prepare(call)

    def _train(self, call: dict[str, Any], objective: Any, **changed: Any) -> Floats | None:
        self._prepare(call)
        params, ours = self.get_params(), isinstance(objective, Objective)
        if ours:
            warn_of_unused(params, objective)
        metric_is_set = any(name in params for name in lightgbm_aliases("metric"))
        if metric_is_set:
            refuse_metrics_lightgbm_ignores(
                lightgbm_parameter(params, "metric"), "eval_metric={name}"
            )
        wanted = call.pop("eval_metric", None) or self.eval_metric
        if wanted is None and ours and not metric_is_set:
            wanted = metric_of_score(objective)
        metrics, native = find_metrics(wanted, objective, self._one_group)
        refuse_unknown_to_lightgbm(native, isinstance(self, lgb.LGBMClassifier))
        if metrics is not None:
            refuse_reversed(metrics, objective)
            cutoffs = call.get("eval_at", lightgbm_parameter(params, "eval_at"))
            if cutoffs is not None and not metric_is_set:
                raise ValueError(
                    f"eval_at={cutoffs!r} is for LightGBM's own metrics, and {metrics!r} has its "
                    "cutoffs in its names: pass eval_metric=['ndcg@1', 'ndcg@5'], for example"
                )
        stops, callbacks = (
            lightgbm_stops_early(params, call.get("callbacks")),
            call.get("callbacks"),
        )
        if ours and stops:
            warn_of_watched_losses(native, objective)
        elif stops and native and metrics is not None and not ours:
            first = wanted[0] if isinstance(wanted, list | tuple) else wanted
            if first not in native and not lightgbm_stops_early(params, callbacks, by_all=True):
                warn(
                    f"early stopping by the first metric watches {native[0]!r}, since LightGBM "
                    f"evaluates its own metrics before those of lambdaplus, such as {first!r}: "
                    "leave its own metrics out"
                )
        call["eval_metric"] = [*native, *([] if metrics is None else [metrics])]
        if not metric_is_set and (ours or metrics is not None):
            # LightGBM would evaluate the metric of its own objective, which refuses many labels.
            changed["metric"] = "None"
        given = {name: v for name, v in params.items() if name not in self._own_parameters}
        of_lightgbm = self._parent(**{**given, "objective": objective, **changed})
        with unknown_objective_explained(objective, "LightGBM"), lack_of_features_explained():
            _fit(of_lightgbm, call)
        self.__dict__.update(learnt_by_lightgbm(of_lightgbm))
        return None


class LightGBMRanker(RankingEstimator, _OfLightGBM, lgb.LGBMRanker):  # type: ignore[misc]
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
    boosting_type, num_leaves, ..., **kwargs
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

    _parent: ClassVar = lgb.LGBMRanker

    @with_parameters_of(lgb.LGBMRanker)
    def __init__(self, *, objective: Any = "ndcg", eval_metric: Any = None, **kwargs: Any) -> None:
        self.eval_metric = eval_metric
        super().__init__(objective=objective, **kwargs)

    def _value(self, function: Any, labels: Any, scores: Any, weights: Any, sizes: Any) -> float:
        given = [labels, scores, weights, sizes][: len(inspect.signature(function).parameters)]
        if weights is not None and len(given) < 3:
            raise ValueError(f"eval_metric={function!r} takes no weights, so leave them out")
        found = function(*given)
        _, value, is_higher_better = found[0] if isinstance(found, list) else found
        if not is_higher_better:
            raise ValueError(
                f"eval_metric={function!r} is lower for better models, and score must be higher: "
                "pass a metric to maximise"
            )
        return float(value)

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Scores of the rows, (n,), or other outputs that LGBMRanker's `predict` has."""
        call = arguments(super().predict, X, *args, **kwargs)
        call["X"] = self._features(X, call.get("validate_features", True))
        return super().predict(**call)


class LightGBMClassifier(RankingClassifier, _OfLightGBM, lgb.LGBMClassifier):  # type: ignore[misc]
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
        The class to rank first; by default, the rarer one, whose rows have the smaller sum of
        weights; ``class_weight``, which is for training alone, does not count ("balanced" would
        make both the same).  Where both have about the same, it differs between samples: pass it
        then.
    cv : {"auto", None}, default="auto"
        Threshold and probabilities need scores of rows that the model has not seen: the new rows
        of the last evaluation set of `fit` that has mostly such ones or, without one, those of two
        more models, each of which is trained on half of the rows.  With 500 rows of the trained
        class, only one of them is trained, and none if a half had fewer rows than two leaves need.
        On few rows, a half takes nearly as long as the model itself: on 10,000, `fit` takes two to
        three times as long as with None.  With None, training rows set the threshold, new rows of
        the trained class are often below it, and there is no `predict_proba`.
    boosting_type, num_leaves, ..., **kwargs
        The parameters of LGBMClassifier, with its defaults.

    Attributes
    ----------
    pos_label_ : label
        The trained class.
    offset_ : float
        Raw-score threshold for `predict`: about as many of the rows that set it are above it as
        belong to the trained class.  Weights of rows count, those of classes do not.
    calibrator_ : object
        Its ``predict_proba`` has raw scores, (n, 1), as input; a logistic function with the
        parameters ``a`` and ``b``, as in scikit-learn's `~sklearn.calibration`.

    Notes
    -----
    Models of halves are trained without callbacks.  SHAP values add up to the raw score, which is
    `decision_function` plus ``offset_`` for the trained class.  For other probabilities, such as
    isotonic ones, or more folds, put the classifier with ``cv=None`` into scikit-learn's
    `~sklearn.calibration.CalibratedClassifierCV`.

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

    _parent: ClassVar = lgb.LGBMClassifier
    _other_outputs: ClassVar = ("raw_score", "pred_leaf", "pred_contrib")

    @with_parameters_of(lgb.LGBMClassifier)
    def __init__(
        self, *, objective: Any = "map", eval_metric: Any = None, pos_label: Any = None,
        cv: str | None = "auto", **kwargs: Any,
    ) -> None:  # fmt: skip
        self.eval_metric = eval_metric
        self.pos_label = pos_label
        self.cv = cv
        super().__init__(objective=objective, **kwargs)

    def _train(self, call: dict[str, Any], objective: Any, **changed: Any) -> Floats | None:
        last = LastScores()
        boosting = {self.get_params().get(name) for name in lightgbm_aliases("boosting")}
        # Of rankings, scores set the threshold; where DART's are read, it drops trees for a round.
        if isinstance(objective, Objective) and "dart" not in boosting:
            call["callbacks"] = [*(call.get("callbacks") or ()), last]
        super()._train(call, objective, **changed)
        return last.scores

    def _rounds(self) -> dict[str, Any]:
        def given(parameter: str) -> list[str]:
            return [name for name in lightgbm_aliases(parameter) if name in self.get_params()]

        rounds = dict.fromkeys(given("num_iterations"), max(1, self.booster_.current_iteration()))
        return rounds | dict.fromkeys(given("early_stopping_round"), 0)  # there is nothing to watch

    def _rounds_used(
        self, start_iteration: int = 0, num_iteration: int | None = None, **_: Any
    ) -> tuple[int, int]:
        booster, start = self.booster_, max(start_iteration, 0)
        rounds = booster.current_iteration()
        if num_iteration is None:
            num_iteration = 0 if start else booster.best_iteration
        return start + 1, min(start + num_iteration, rounds) if num_iteration > 0 else rounds

    def _least_rows(self) -> int:
        return 2 * int(lightgbm_parameter(self.get_params(), "min_data_in_leaf"))

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        if not any(kwargs.get(name) for name in self._other_outputs):
            kwargs["raw_score"] = True
        return lgb.LGBMModel.predict(self, X, **kwargs)

    def _of_parent(self, method: str, X: Any, **kwargs: Any) -> Any:
        return getattr(lgb.LGBMClassifier, method)(self, X, **kwargs)
