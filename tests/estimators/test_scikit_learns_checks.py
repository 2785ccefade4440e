"""scikit-learn's own checks of classifiers."""

from typing import Any

import lightgbm
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lambdaplus.estimators import LightGBMClassifier, XGBoostClassifier

EXCEPTED = {
    "check_class_weight_classifiers": "weights say which rows count, not how many to predict",
    "check_sample_weight_equivalence_on_dense_data": "it sets cv to folds of its own",
    "check_sample_weight_equivalence_on_sparse_data": "it sets cv to folds of its own",
    **{
        f"check_classifiers_train{options}": "predict goes by the share of rows"
        for options in ("", "(readonly_memmap=True)", "(readonly_memmap=True,X_dtype=float32)")
    },
}


CHECKED: list[Any] = [XGBoostClassifier(n_estimators=10, n_jobs=1)]


# The first one with the tags of scikit-learn 1.6.
if [*map(int, lightgbm.__version__.split(".")[:2])] >= [4, 6]:
    CHECKED.append(LightGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=1))


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXCEPTED)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)
