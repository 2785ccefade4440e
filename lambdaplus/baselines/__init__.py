"""Baselines from the papers, as scikit-learn style estimators."""

from lambdaplus.baselines.best_feature import BestFeature
from lambdaplus.baselines.committee_perceptron import CommitteePerceptron
from lambdaplus.baselines.mcrank import McRank
from lambdaplus.baselines.rank_boost import RankBoost
from lambdaplus.baselines.rank_svm import RankSVM

__all__ = ["BestFeature", "CommitteePerceptron", "McRank", "RankBoost", "RankSVM"]
