"""Subclasses of XGBoost's estimators with the name of a metric as objective."""

from typing import Any, ClassVar, Self

import numpy as np

import lambdaplus.xgboost as xgb
from lambdaplus.estimators.classifier import RankingClassifier
from lambdaplus.estimators.parent import ArgumentNames, replaced
from lambdaplus.estimators.ranker import RankingEstimator
from lambdaplus.estimators.saved_models import (
    calibrator_as_saved,
    forget_saved,
    labels_as_saved,
    parameters_as_saved,
    restored_calibrator,
    restored_labels,
    restored_parameters,
    save_with,
    saved_with,
)
from lambdaplus.estimators.xgboost_fit import fit_xgboost
from lambdaplus.frameworks.internals import named_for_files, xgboost_type_of_file
from lambdaplus.objectives import Objective
from lambdaplus.objectives.by_name import find_objective
from lambdaplus.ranking.queries import Documents

_ARGS = ArgumentNames("base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model")
_SAVED_TYPE = "lambdaplus.XGBoostClassifier"


def _loaded(model: Any, fname: Any, kind: str | None = None) -> dict[str, Any]:
    """The attributes of an estimator with a saved model, by a new one: this one stays as it is."""
    loaded = type(model)(**model.get_params(deep=False))
    with replaced(loaded, **named_for_files(kind)):
        xgb.XGBModel.load_model(loaded, fname)
    return {**vars(loaded), "_trained_columns": loaded.get_booster().feature_names}


class XGBoostRanker(RankingEstimator, xgb.XGBRanker):  # type: ignore[misc]
    """An `xgboost.XGBRanker` whose objective is a ranking metric.

    Parameters
    ----------
    objective : str or callable, default="ndcg"
        As in `LightGBMRanker`, one of XGBoost (``"rank:ndcg"``), or a function for `xgboost.train`.
    eval_metric : str, metric, callable, or list of these, optional
        As in `LightGBMRanker`; early stopping uses the last one, as in XGBRanker.
    **kwargs
        The parameters of XGBRanker, with its defaults.

    Notes
    -----
    The saved model has the objective ``rank:ndcg``, which search engines accept.  `load_model` of
    this class restores objective and metric as well.

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

    _framework: ClassVar = "XGBoost"
    _names: ClassVar = _ARGS
    _saved_as: ClassVar = "rank:ndcg"
    _train = fit_xgboost

    def __init__(self, *, objective: Any = "ndcg", **kwargs: Any) -> None:
        # XGBRanker's constructor raises for objectives that are not XGBoost's.
        xgb.XGBModel.__init__(self, objective=objective, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its objective and metric.

        Raises
        ------
        ValueError
            If it was trained with a function, which a file cannot hold, and this estimator does
            not have the same one.
        """
        found = restored_parameters(self, saved_with(xgb.Booster(model_file=fname)))
        self.__dict__.update(_loaded(self, fname) | found)

    def _weights(self, data: Documents, weights: Any) -> Any:
        """Weights of queries; from those of rows, if these are equal in each query."""
        queries = data.queries
        if weights is None or np.shape(weights) == (queries.n_queries,):
            return weights
        rows = np.asarray(super()._weights(data, weights))
        first = rows[queries.boundaries[:-1]]
        if (np.repeat(first, queries.sizes) != rows).any():
            raise ValueError(
                "XGBoost takes one weight for each query, but the rows of a query have different "
                "ones: let the objective carry them, as lambda_objective('map').weighted(weights)"
            )
        return first


class XGBoostClassifier(RankingClassifier, xgb.XGBClassifier):  # type: ignore[misc]
    """An `xgboost.XGBClassifier` for two classes that ranks the rarer one first.

    Parameters, attributes and errors are those of `LightGBMClassifier`; ``**kwargs`` are parameters
    of XGBClassifier.  The saved model has the objective ``binary:logitraw``, which predicts scores.
    `load_model` of this class restores threshold, probabilities and labels as well, and that of
    XGBClassifier, which would take scores for probabilities, refuses the file.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaplus import XGBoostClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = XGBoostClassifier(n_estimators=5).fit(X, np.where(X[:, 0] > 2, "fraud", "ok"))
    >>> model.predict([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist(), str(model.pos_label_)
    (['fraud', 'ok'], 'fraud')
    """

    _framework: ClassVar = "XGBoost"
    _names: ClassVar = _ARGS
    _other_outputs: ClassVar = ("output_margin",)
    _saved_as: ClassVar = "binary:logitraw"
    _train = fit_xgboost

    def get_xgb_params(self) -> dict[str, Any]:
        return self._for_framework(super().get_xgb_params())

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Train like XGBClassifier; see `LightGBMClassifier.fit`."""
        if "class_weight" in self.get_params():
            raise ValueError(
                "XGBoost has no class_weight: pass sample_weight= to fit, such as that of "
                "sklearn.utils.class_weight.compute_sample_weight"
            )
        super().fit(X, y, **kwargs)
        self._save_with_booster()
        return self

    def _save_with_booster(self) -> None:
        if not hasattr(self, "offset_"):
            return
        booster = self.get_booster()
        save_with(
            booster, **parameters_as_saved(self), rounds=booster.num_boosted_rounds(),
            labels=labels_as_saved(self.classes_),
            positive=int(self.classes_[1] == self.pos_label_), threshold=float(self.offset_),
            calibrator=calibrator_as_saved(getattr(self, "calibrator_", None)),
            calibration=self.calibration, chosen=self.pos_label is not None,
        )  # fmt: skip

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """The class of each row, (n,), or other outputs that the parent's `predict` has."""
        self._refuse_unread_booster()
        return super().predict(X, **kwargs)

    def _refuse_unread_booster(self) -> None:
        """Raise a ValueError if a booster with a threshold was put into this estimator."""
        if not hasattr(self, "offset_") and "threshold" in saved_with(self.get_booster()):
            raise ValueError(
                "this booster has a threshold and labels, which this estimator has not taken from "
                "it: call load_model(booster.save_raw())"
            )

    def save_model(self, fname: Any) -> None:
        """Save the model to a file that `xgboost.Booster` and `load_model` of this class read."""
        self._save_with_booster()  # the threshold may have been changed since
        name = _SAVED_TYPE if hasattr(self, "offset_") else None
        with replaced(self, **named_for_files(name)):
            super().save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Load a saved model, with its labels, threshold, probabilities, objective and metric.

        Raises
        ------
        ValueError
            If labels, objective or metric are of a kind that a file cannot hold, and for a model
            that has been trained further or cut since its threshold was set.
        """
        booster = xgb.Booster(model_file=fname)
        saved, kind = saved_with(booster), xgboost_type_of_file(booster)
        if kind not in (_SAVED_TYPE, None) and "threshold" in saved:
            saved = {}  # trained further by XGBoost's own
            forget_saved(booster)
            fname = booster.save_raw()
        if "threshold" in saved:
            if saved["labels"] is None:
                raise ValueError(
                    "the saved model has labels that a file cannot hold: pickle the estimator"
                )
            if saved["rounds"] != (rounds := booster.num_boosted_rounds()):
                raise ValueError(
                    f"the saved model has {rounds} rounds, and its threshold is that of "
                    f"{saved['rounds']}: load it into xgboost.Booster, whose scores have no "
                    "threshold, or fit it again"
                )
        found = restored_parameters(self, saved)
        if "threshold" in saved:
            if not isinstance(find_objective(found["objective"]), Objective):
                raise ValueError(
                    f"the saved model has a threshold, and objective={found['objective']!r} has "
                    "none: the file was changed"
                )
            found["_labels"] = restored_labels(saved["labels"])
            found["pos_label_"] = found["_labels"][saved["positive"]]
            found["offset_"] = saved["threshold"]
            found["calibration"] = saved["calibration"]
            found["pos_label"] = found["pos_label_"] if saved["chosen"] else None
            if saved["calibrator"] is not None:
                found["calibrator_"] = restored_calibrator(saved["calibrator"])
        found = _loaded(self, fname, kind if kind == _SAVED_TYPE else None) | found
        self._forget()
        self.__dict__.update(found)

    def _rounds(self) -> dict[str, int]:
        return {"n_estimators": max(1, self.get_booster().num_boosted_rounds())}

    @staticmethod
    def _changing(callbacks: Any) -> list[Any]:
        """XGBoost's scheduler; what others do to a training is not known."""
        kind = xgb.callback.LearningRateScheduler
        return [one for one in callbacks or () if isinstance(one, kind)]

    def _raw(self, X: Any, **kwargs: Any) -> Any:
        self._refuse_unread_booster()
        return xgb.XGBModel.predict(self, X, **{**kwargs, "output_margin": True})
