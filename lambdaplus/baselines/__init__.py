"""Baselines from the papers, as scikit-learn style estimators."""

from lambdaplus.baselines.structural_ranker import PathPoint
from lambdaplus.baselines.structural_svm import StructuralSVM
from lambdaplus.baselines.svm_accuracy import SVMAccuracy
from lambdaplus.baselines.svm_combo import SVMCombo
from lambdaplus.baselines.transformers import QueryScaler, ThresholdFeatures

__all__ = [
    "PathPoint",
    "QueryScaler",
    "SVMAccuracy",
    "SVMCombo",
    "StructuralSVM",
    "ThresholdFeatures",
]
