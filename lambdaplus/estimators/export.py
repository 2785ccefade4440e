"""The folder of an estimator's model, which scores files without lambdaplus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from lambdaplus.compute.digests import versions_in_words
from lambdaplus.data.model_folder import model_folder, write_model
from lambdaplus.data.scoring import Column
from lambdaplus.estimators.calibration import Sigmoid
from lambdaplus.estimators.saved_models import as_data, classifier_as_data


def export(model: Any, folder: Path, columns: Sequence[str] | None) -> None:
    """See `FrameworkEstimator.export`."""
    check_is_fitted(model)
    framework = "lightgbm" if hasattr(model, "booster_") else "xgboost"
    booster = model.booster_ if framework == "lightgbm" else _best_rounds(model)
    named = model._columns or getattr(booster, "feature_names", None)
    names = [*map(str, columns or named or range(1, model.n_features_in_ + 1))]
    if len(names) != model.n_features_in_:
        raise ValueError(f"{len(names)} columns for {model.n_features_in_} features")
    described = {"estimator": type(model).__name__, **data_of(model)}
    if "classes" not in described and hasattr(model, "classes_"):
        described |= _classifier_of_framework(model)
    plan = [_column(name, model._levels) for name in names]
    with model_folder(folder) as made:
        write_model(
            made, framework, booster.save_model, plan, versions=versions_in_words(), **described
        )


def data_of(model: Any) -> dict[str, Any]:
    """Objective, metrics and, of a classifier, classes, threshold and probabilities, as JSON."""
    data = {name: as_data(getattr(model, name)) for name in ("objective", "eval_metric")}
    if hasattr(model, "offset_"):
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
    return classifier_as_data(model.classes_, model.classes_[1], 0.0, Sigmoid(-slope, 0.0))


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
