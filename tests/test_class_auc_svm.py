"""Welleck's sum of class-reference AUC SVMs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lambdaplus.baselines import ClassAUCSVM, StructuralSVM


def graded() -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    X, qid = random.normal(size=(120, 4)), np.repeat(range(12), 10)
    y = np.clip(np.round(X[:, 0] + 0.5 * random.normal(size=120)), 0, 2)
    return X, y, qid


def test_it_is_the_sum_of_the_classes_own_svms() -> None:
    X, y, qid = graded()
    model = ClassAUCSVM(C=100.0).fit(X, y, qid=qid)
    parts = [StructuralSVM("auc", C=100.0).fit(X, y == c, qid=qid) for c in (1, 2)]
    expected = sum(c * part.predict(X) for c, part in zip((1, 2), parts, strict=True))
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.class_coef_, [part.coef_ for part in parts])


def test_two_classes_are_one_svm() -> None:
    X, y, qid = graded()
    y = (y > 0).astype(float)
    model, plain = ClassAUCSVM(C=10.0), StructuralSVM("auc", C=10.0)
    np.testing.assert_array_equal(model.fit(X, y, qid=qid).coef_, plain.fit(X, y, qid=qid).coef_)


@pytest.mark.parametrize("y", [[0, 0, 0], [-1, 0, 1]])
def test_labels_that_have_no_classes(y: list[int]) -> None:
    with pytest.raises(ValueError, match="labels must be 0 or more, some of them above; they are"):
        ClassAUCSVM().fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.filterwarnings("ignore")  # w = 0 is the best on data without order
@parametrize_with_checks([ClassAUCSVM()])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)
