"""Baselines from the papers, as scikit-learn style estimators."""
