"""Baselines from the papers, as scikit-learn compatible estimators."""

from lambdaplus.baselines.best_feature import BestFeature
from lambdaplus.baselines.class_auc_svm import ClassAUCSVM
from lambdaplus.baselines.committee_perceptron import CommitteePerceptron
from lambdaplus.baselines.mcrank import McRank
from lambdaplus.baselines.rank_boost import RankBoost
from lambdaplus.baselines.rank_svm import RankSVM
from lambdaplus.baselines.structural_ranker import PathPoint
from lambdaplus.baselines.structural_svm import StructuralSVM
from lambdaplus.baselines.svm_accuracy import SVMAccuracy
from lambdaplus.baselines.svm_combo import SVMCombo
from lambdaplus.baselines.transformers import QueryScaler, ThresholdFeatures

__all__ = [
    "BestFeature",
    "ClassAUCSVM",
    "CommitteePerceptron",
    "McRank",
    "PathPoint",
    "QueryScaler",
    "RankBoost",
    "RankSVM",
    "SVMAccuracy",
    "SVMCombo",
    "StructuralSVM",
    "ThresholdFeatures",
]
