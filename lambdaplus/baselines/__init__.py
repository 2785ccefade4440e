"""Baselines from the papers, as scikit-learn style estimators."""

from lambdaplus.baselines.committee_perceptron import CommitteePerceptron

__all__ = ["CommitteePerceptron"]
