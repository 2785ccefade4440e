"""Welleck's baseline for graded labels: one AUC structural SVM for each relevance class."""

from __future__ import annotations

import numpy as np

from lambdaplus.baselines.base_ranker import Ranker
from lambdaplus.baselines.structural_svm import StructuralSVM
from lambdaplus.data.queries import Floats, Queries


class ClassAUCSVM(Ranker):
    """The sum over classes c of c * f_c(x), f_c an AUC structural SVM of class c against the rest.

    Parameters
    ----------
    C : float
        Parameter of every SVM, see `StructuralSVM`.
    tol : float
    max_passes : int

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
    >>> import numpy as np
    >>> from lambdaplus.baselines import ClassAUCSVM
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0], [2.0, 0.0]])
    >>> model = ClassAUCSVM(C=10.0).fit(X, [2, 1, 0, 1], qid=[7, 7, 7, 7])
    >>> model.classes_.tolist(), int(model.predict(X).argmax())
    ([1.0, 2.0], 0)
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-3, max_passes: int = 300) -> None:
        self.C = C
        self.tol = tol
        self.max_passes = max_passes

    def _fit(self, X: Floats, queries: Queries) -> None:
        labels = queries.labels
        if labels.min() < 0 or labels.max() <= 0:
            raise ValueError(
                f"labels must be 0 or more, some of them above; they are {labels.min():g} to "
                f"{labels.max():g}"
            )
        rows = np.repeat(np.arange(queries.n_queries), queries.sizes)
        self.classes_: Floats = np.unique(labels[labels > 0])
        self.class_coef_: Floats = np.array(
            [
                StructuralSVM("auc", C=self.C, tol=self.tol, max_passes=self.max_passes)
                .fit(X, (labels == label).astype(np.float64), qid=rows)
                .coef_
                for label in self.classes_
            ]
        )
        self.coef_ = self.classes_ @ self.class_coef_
