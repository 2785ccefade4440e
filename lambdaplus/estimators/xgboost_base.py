"""What the estimators of XGBoost share: training by `xgboost.train`, and files of models."""

import json
from typing import Any, ClassVar

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.export import Exported, data_of
from lambdaplus.estimators.framework_estimator import ArgumentNames, FrameworkEstimator
from lambdaplus.estimators.metrics_by_name import (
    find_metrics,
    metric_of_score,
    refuse_reversed,
    warn_of_minimised,
    warn_of_watched_losses,
)
from lambdaplus.estimators.saved_models import from_data, read_attribute
from lambdaplus.frameworks.column_parameters import PADDED_BY_XGBOOST, as_xgboost_reads
from lambdaplus.frameworks.internals import (
    metric_for_xgboost,
    set_booster,
    xgboost_matrices,
    xgboost_stops,
)
from lambdaplus.lists.columns import from_gpu
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import (
    find_objective,
    unknown_metric_explained,
    unknown_objective_explained,
)


class OfXGBoost(FrameworkEstimator, xgb.XGBModel, Exported):  # type: ignore[misc]
    """An estimator that `xgboost.train` trains, if an objective or a metric is of lambdaplus.

    XGBRanker takes no function as objective, and calls one that is a metric query by query.
    """

    _names: ClassVar = ArgumentNames(
        "base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model"
    )
    _padded: ClassVar = PADDED_BY_XGBOOST
    _saved_as: ClassVar[str]  # the objective of its models

    def get_xgb_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super().get_xgb_params()
        ours = {*self._own_parameters}
        if isinstance(find_objective(self.objective), Objective):
            ours.add("objective")
        # set_params of a fitted model gives them to the booster, where these move the scores, but
        # not the threshold.
        if hasattr(self, "offset_"):
            ours |= {"objective", "base_score"}
        read = as_xgboost_reads(params)
        return {name: value for name, value in read.items() if name not in ours}

    def _train(self, call: dict[str, Any], objective: Any) -> None:
        self._prepare(call)
        ours = isinstance(objective, Objective)
        called = ours or (callable(objective) and isinstance(self, xgb.XGBRanker))
        wanted = (
            metric_of_score(objective) if self.eval_metric is None and ours else self.eval_metric
        )
        metrics, native = find_metrics(wanted, objective, self._one_group)
        if metrics is not None:
            refuse_reversed(metrics, objective)
        elif ours and self.early_stopping_rounds:
            warn_of_watched_losses(native[-1:], objective)
        if metrics is None and (ours or called or isinstance(self, xgb.XGBRanker)):
            warn_of_minimised(native[-1:], lambda name: xgboost_stops(self, name))
        with unknown_objective_explained(objective, "XGBoost"):
            if called or metrics is not None:
                last = wanted[-1] if isinstance(wanted, list | tuple) else wanted
                # A function, as ours are, comes after XGBoost's metrics, and would be watched.
                watched = "" if ours or not isinstance(last, str) or last not in native else last
                self._boost(call, objective if called else None, metrics, native, watched)
            else:
                with unknown_metric_explained(native):
                    super().fit(**call)
        self.get_booster().set_attr(lambdaplus=None)  # of a saved model that this one continues

    def _boost(
        self, call: dict[str, Any], objective: Any, metrics: Any, native: list[Any], watched: str
    ) -> None:
        """Train by `xgboost.train`; ``watched`` is a metric that is not the last to XGBoost."""
        by_name = [metric for metric in native if isinstance(metric, str)]
        functions = [metrics] if metrics is not None else []
        functions += [metric_for_xgboost(self, one) for one in native if callable(one)]
        if len(functions) > 1:
            raise ValueError(
                "XGBoost supports one callable metric: pass that alone, or only names of metrics"
            )
        if objective is None and isinstance(self, xgb.XGBClassifier):
            sets = enumerate(call["eval_set"] or ())
            given = {"y": call["y"], **{f"evaluation set {i}": y for i, (_, y) in sets}}
            for where, labels in given.items():
                if not {*(found := np.unique(from_gpu(labels)).tolist())} <= {0, 1}:
                    raise ValueError(
                        f"{where} has the labels {found}: XGBoost's own objectives, with a metric "
                        "of lambdaplus, need 0 and 1"
                    )
        [metric] = functions or [None]
        params = {k: v for k, v in self.get_xgb_params().items() if v is not None}
        if objective is not None:
            params["objective"] = self._saved_as
        params |= {"eval_metric": by_name} if by_name else {"disable_default_eval_metric": 1}
        with xgb.config_context(verbosity=self.verbosity):
            train, evals, start = xgboost_matrices(self, call)
            curves: dict[str, Any] = {}
            rounds, callbacks = self.early_stopping_rounds, self.callbacks
            if rounds and watched and metrics is not None:
                stop = xgb.callback.EarlyStopping(rounds=rounds, metric_name=watched)
                rounds, callbacks = None, [*(callbacks or ()), stop]
            booster = xgb.train(
                params, train, self.get_num_boosting_rounds(), evals=evals, evals_result=curves,
                obj=objective, custom_metric=metric, xgb_model=start,
                early_stopping_rounds=rounds, callbacks=callbacks,
                verbose_eval=call.get("verbose", isinstance(self, xgb.XGBClassifier)),
            )  # fmt: skip
        set_booster(self, booster, curves)

    def apply(self, X: Any, **kwargs: Any) -> Any:
        """The leaf of each tree for each row, as by the parent's `apply`."""
        return super().apply(self._features(X), **kwargs)

    def save_model(self, fname: Any) -> None:
        """Save the trees, as XGBoost does, with objective, metrics and what `fit` learnt.

        Functions of yours, your own metrics, and labels of your own (`on`) are not saved; a model
        that has some is loaded by an estimator that was constructed with them.
        """
        rounds = self.get_booster().num_boosted_rounds()
        data = {**data_of(self), "rounds": rounds}
        self.get_booster().set_attr(lambdaplus=json.dumps(data))
        try:
            super().save_model(fname)
        finally:
            self.get_booster().set_attr(lambdaplus=None)

    def load_model(self, fname: Any) -> None:
        """Load a saved model.

        Raises
        ------
        ValueError
            For a classifier's trees without a threshold, such as those of
            ``get_booster().save_model``, and for a file of lambdaplus 0.1.

        Warns
        -----
        UserWarning
            If objective or metrics were not saved, and are not those of this estimator.
        """
        own = {"objective": self.objective, "eval_metric": self.eval_metric}
        super().load_model(fname)
        text = self.get_booster().attr("lambdaplus")
        self.get_booster().set_attr(lambdaplus=None)
        data = None if text is None else read_attribute(text)
        if data is not None:  # XGBoost takes the objective of the file, which is its own
            saved = {name: from_data(data[name], name, own[name]) for name in own if name in data}
            self.__dict__.update({**own, **saved})  # set_params would change the booster
        self._columns = None
        self._recall(data)

    def _recall(self, data: dict[str, Any] | None) -> None:
        pass
