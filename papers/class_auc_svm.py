"""The SVM of Welleck 2016, sec. 5.2.1: AUC SVMs of each class against the rest, added up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lambdaplus.baselines import StructuralSVM
from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import RankingData
from lambdaplus.lists.queries import Queries
from lambdaplus.study import Fitted, Task
from lambdaplus.study.estimator_trainer import fit_estimator


@dataclass(eq=False, repr=False)
class ClassAUCSVM(BaseRanker):
    """Ranks by the sum of c * f_c(x) over classes c, f_c an AUC SVM of class c against the rest.

    Parameters
    ----------
    C, tol, max_passes
        As in `StructuralSVM`, for every class.

    Attributes
    ----------
    coef_ : (d,) float64
        Sum of the coefficients of the classes times their labels.
    svms_ : dict of float to StructuralSVM
        By label above 0.

    Examples
    --------
    >>> X, y = [[4.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [2, 1, 0]
    >>> ClassAUCSVM(C=10.0).fit(X, y).predict(X).round(1)
    array([1. , 0.5, 0. ])
    """

    C: float = 1.0
    tol: float = 1e-3
    max_passes: int = 300

    def _fit(self, X: Floats, queries: Queries) -> None:
        labels, query = queries.labels, queries.query_of_row
        self.svms_ = {
            float(c): StructuralSVM("auc", C=self.C, tol=self.tol, max_passes=self.max_passes).fit(
                X, labels == c, query
            )
            for c in np.unique(labels[labels > 0])
        }
        self.coef_ = np.sum([c * svm.coef_ for c, svm in self.svms_.items()], axis=0)


def train_on_one_list(task: Task) -> Fitted:
    """Fit an estimator to all documents as a single ranking, as SVM-Perf does."""
    return fit_estimator(replace(task, train=one_list(task.train)), task.metrics[0])


def one_list(part: RankingData) -> RankingData:
    return replace(part, qid=np.zeros_like(part.qid))
