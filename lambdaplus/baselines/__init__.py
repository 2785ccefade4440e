"""Rankers from papers, as scikit-learn compatible estimators, and a scaler of features.

Rankers have ``fit(X, y, qid)`` and ``predict(X)``.

Examples
--------
>>> from lambdaplus.baselines import StructuralSVM
>>> X, labels, qid = [[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1], [1, 1, 2, 2]
>>> svm = StructuralSVM("map", C=10.0).fit(X, labels, qid=qid)
>>> bool(svm.coef_[0] > 0), bool(svm.relative_gap_ <= svm.tol)
(True, True)
"""

from lambdaplus.baselines.best_feature import BestFeature
from lambdaplus.baselines.committee_perceptron import CommitteePerceptron
from lambdaplus.baselines.mcrank import McRank
from lambdaplus.baselines.rank_boost import RankBoost
from lambdaplus.baselines.rank_svm import RankSVM
from lambdaplus.baselines.structural_svm import StructuralSVM
from lambdaplus.baselines.svm_accuracy import SVMAccuracy
from lambdaplus.baselines.svm_combo import SVMCombo
from lambdaplus.baselines.transformers import QueryScaler

__all__ = [
    "BestFeature",
    "CommitteePerceptron",
    "McRank",
    "QueryScaler",
    "RankBoost",
    "RankSVM",
    "SVMAccuracy",
    "SVMCombo",
    "StructuralSVM",
]
