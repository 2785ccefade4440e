"""The folder of an estimator's model, which scores files without lambdaplus."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from lambdaplus.compute.versions import versions_in_words
from lambdaplus.data.model_folder import model_folder, write_model
from lambdaplus.estimators.calibration import Sigmoid
from lambdaplus.estimators.saved_models import as_data, classifier_as_data
from lambdaplus.saved_model.columns import Column


class Exported:
    """An estimator whose model can be written to a folder."""

    _columns: list[Any] | None
    _levels: Mapping[str, Sequence[str]]
    booster_: Any  # of LightGBM's estimators
    n_features_in_: int

    def export(
        self, folder: str | os.PathLike[str], *, columns: Sequence[str] | None = None
    ) -> None:
        """Write the model to a folder, in which it scores files without lambdaplus.

        The folder gets the model in the framework's own format, ``about.json`` with what the model
        needs to know, and ``predict.pyz``, which prints the raw scores of the rows of a file; see
        the page "Tools".

        Parameters
        ----------
        folder : path
            An earlier export is replaced, and files of yours are not.
        columns : sequence of str, optional
            Names of the features in files.  By default, those of the frame that `fit` was given;
            the features of an array are numbered from 1, as in svmlight files.

        Raises
        ------
        ValueError
            For another number of columns than features, and classifiers of more than two classes.
        FileExistsError
            If a file of yours would be overwritten.
        """
        check_is_fitted(self)
        framework = "lightgbm" if hasattr(self, "booster_") else "xgboost"
        booster = self.booster_ if framework == "lightgbm" else _best_rounds(self)
        named = self._columns or getattr(booster, "feature_names", None)
        names = [*map(str, columns or named or range(1, self.n_features_in_ + 1))]
        if len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} columns for {self.n_features_in_} features")
        described = {"estimator": type(self).__name__, **data_of(self)}
        if "classes" not in described and hasattr(self, "classes_"):
            described |= _classifier_of_framework(self)
        plan = [_column(name, self._levels) for name in names]
        with model_folder(Path(folder)) as made:
            write_model(
                made, framework, booster.save_model, plan, versions=versions_in_words(), **described
            )


def data_of(model: Any) -> dict[str, Any]:
    """Objective, metrics and, of a classifier, classes, threshold and probabilities, as JSON."""
    data = {name: as_data(getattr(model, name)) for name in ("objective", "eval_metric")}
    if hasattr(model, "offset_"):
        model._warn_of_other_rounds()
        calibrator = getattr(model, "calibrator_", None)
        why_not = model._no_probabilities
        learnt = model.classes_, model.pos_label_, model.offset_, calibrator, why_not
        return {**data, **classifier_as_data(*learnt)}
    return data


def _classifier_of_framework(model: Any) -> dict[str, Any]:
    """The same of a classifier with an objective of the framework, whose scores are log-odds."""
    slopes = {"binary": float(getattr(model, "sigmoid", 1.0)), "binary:logistic": 1.0}
    slope = slopes.get(model.objective) if isinstance(model.objective, str) else None
    if len(model.classes_) != 2 or slope is None:
        raise ValueError(
            f"a classifier with the objective {model.objective!r} and {len(model.classes_)} "
            "classes cannot be exported: save its booster, whose scores its framework describes"
        )
    data = classifier_as_data(model.classes_, model.classes_[1], 0.0, Sigmoid(-slope, 0.0))
    return {**data, "scores": f"log-odds of the label {data['pos_label']}"}


def _column(name: str, levels: Mapping[str, Sequence[str]]) -> Column:
    if name not in levels:
        return Column(name)
    return Column(name, "category" if levels[name] else "flag", levels=levels[name])


def _best_rounds(model: Any) -> Any:
    """The booster of an estimator of XGBoost, with the rounds that its `predict` uses."""
    booster = model.get_booster()
    rounds = booster.num_boosted_rounds()
    best = int(booster.attr("best_iteration") or rounds - 1) + 1
    return booster if best == rounds else booster[:best]
