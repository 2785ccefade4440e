"""AUC SVMs of each class against the rest, added up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lambdaplus.baselines.base_ranker import BaseRanker
from lambdaplus.baselines.structural_svm import StructuralSVM
from lambdaplus.compute.array_types import Floats
from lambdaplus.ranking.queries import Queries


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
    classes_ : (k,) float64
        Labels above 0, ascending.
    class_coef_ : (k, d) float64
        Coefficients of the SVM of each class.

    References
    ----------
    Welleck 2016, sec. 5.2.1.

    Examples
    --------
    >>> from lambdaplus.baselines import ClassAUCSVM
    >>> X, y = [[4.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [2, 1, 0]
    >>> ClassAUCSVM(C=10.0).fit(X, y).predict(X).round(1)
    array([1. , 0.5, 0. ])
    """

    C: float = 1.0
    tol: float = 1e-3
    max_passes: int = 300

    def _fit(self, X: Floats, queries: Queries) -> None:
        labels = queries.labels
        if labels.min() < 0 or labels.max() <= 0:
            raise ValueError(
                f"labels must be 0 or more, some of them above; they are {labels.min():g} to "
                f"{labels.max():g}"
            )
        query = queries.query_of_row
        self.classes_: Floats = np.unique(labels[labels > 0])
        svm = StructuralSVM("auc", C=self.C, tol=self.tol, max_passes=self.max_passes)
        self.class_coef_ = np.array([svm.fit(X, labels == c, query).coef_ for c in self.classes_])
        self.coef_ = self.classes_ @ self.class_coef_
