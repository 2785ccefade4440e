"""An evaluation set of training rows, in any form, sets neither threshold nor probabilities."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from small_classifiers import X, Y, both, made

import lambdaplus as lp
from lambdaplus.estimators.seen_rows import TrainingRows, hashes_of_rows

NEW = X + np.random.default_rng(1).normal(size=X.shape)
HALF = np.arange(300) % 2 == 0
ORDER = np.random.default_rng(0).permutation(300)
SEEN: dict[str, tuple[Any, Any, int]] = {  # features, labels, and how many were trained on
    "half": (X[HALF], Y[HALF], 150),
    "in another order": (X[ORDER], Y[ORDER], 300),
    "twice": (np.tile(X, (2, 1)), np.tile(Y, 2), 600),
    "with new rows": (np.concatenate([X, NEW[:100]]), np.append(Y, Y[:100]), 300),
    "float32": (X[ORDER].astype(np.float32), Y[ORDER], 300),
    "sparse": (csr_matrix(X[ORDER]), Y[ORDER], 300),
}


def fitted(kind: Any, features: Any, labels: Any, training: Any = (X, Y), **options: Any) -> Any:
    quiet = {} if kind is lp.LightGBMClassifier else {"verbose": False}
    return made(kind, **options).fit(*training, eval_set=[(features, labels)], **quiet)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize(("features", "labels", "seen"), SEEN.values(), ids=SEEN)
@both
def test_training_rows_in_another_form(kind: Any, features: Any, labels: Any, seen: int) -> None:
    rows = f"^{seen} of the {len(labels)} rows of evaluation set 0 are training rows, so it sets"
    with pytest.warns(UserWarning, match=rows):
        model = fitted(kind, features, labels)
    np.testing.assert_array_equal(model.predict_proba(X), made(kind).fit(X, Y).predict_proba(X))
    with pytest.warns(UserWarning, match=rows):
        assert not hasattr(fitted(kind, features, labels, cv=None), "predict_proba")


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("rows", [np.arange(300), ORDER], ids=["a copy", "in another order"])
@pytest.mark.parametrize(
    ("kind", "stops"),
    [
        (lp.LightGBMClassifier, "early_stopping_round"),
        (lp.LightGBMClassifier, "early_stopping_rounds"),
        (lp.XGBoostClassifier, "early_stopping_rounds"),
    ],
)
def test_models_of_halves_do_not_stop_early(kind: Any, stops: str, rows: Any) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*are training rows")
        model = fitted(kind, X[rows], Y[rows], **{stops: 2})
    assert model.predict_proba(X).shape == (300, 2)


FLAGS = (X[:, :3] > 0).astype(float)  # eight different rows
ONCE = np.where(np.arange(300)[:, None] < 200, X, 0.0)  # a third of the rows are equal
UNSEEN: dict[str, tuple[Any, Any]] = {
    "other rows": (X, NEW),
    "four rows, with new ones": (X, np.concatenate([X[:4], NEW[:50]])),
    "few different rows": (FLAGS, np.random.default_rng(2).permutation(FLAGS)[:200]),
    "few different rows, one of them": (FLAGS, FLAGS[[0] * 30]),
    "equal rows as often as in the training": (ONCE, np.where(ONCE == 0.0, 0.0, NEW)),
}


@both
@pytest.mark.parametrize(("training", "features"), UNSEEN.values(), ids=UNSEEN)
def test_rows_that_are_equal_by_chance(kind: Any, training: Any, features: Any) -> None:
    labels = Y[: len(features)]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*are training rows")
        model = fitted(kind, features, labels, (training, Y), cv=None)
    assert hasattr(model, "offset_")
    assert not TrainingRows(training, Y).among(features, labels).any()


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("known", [20, 100])
@both
def test_of_a_set_with_some_training_rows_the_others_are_used(kind: Any, known: int) -> None:
    rows = ORDER[:300]
    features = np.concatenate([X[:known], NEW[known:]])
    with pytest.warns(UserWarning, match=f"^{known} of the 300 rows .*so only the others set thr"):
        model = fitted(kind, features[rows], Y[rows])
    kept = rows[rows >= known]
    right = fitted(kind, NEW[kept], Y[kept])
    assert model.offset_ == right.offset_
    np.testing.assert_array_equal(model.predict_proba(X), right.predict_proba(X))


@pytest.mark.parametrize(
    "form",
    [np.asfortranarray, np.float32, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, csr_matrix,
     csc_matrix, lambda X: pl.DataFrame(X).to_arrow(), lambda X: np.where(X == 0.0, -0.0, X)],
)  # fmt: skip
def test_hashes_are_those_of_the_rows_in_any_container(form: Any) -> None:
    features = np.where(X > 1.0, 0.0, np.where(X < -1.5, np.nan, X)).astype(np.float32)
    right = hashes_of_rows(features.astype(float), Y)
    np.testing.assert_array_equal(hashes_of_rows(form(features.astype(float)), Y), right)
    assert len(np.unique(right)) == len(np.unique(np.column_stack([features, Y]), axis=0))
    assert (hashes_of_rows(features, 1 - Y) != right).all()
    assert (hashes_of_rows(features[:, [1, 0, 2, 3]], Y) != right).mean() > 0.9


@pytest.mark.parametrize(("equal", "told"), [(160, False), (400, True)])
def test_few_training_rows_do_not_tell_the_chance_exactly(equal: int, told: bool) -> None:
    """A tenth of 100 rows occur again, give or take a few; of 1,000 new ones, 160 may be equal."""
    values = np.append(np.arange(95.0), np.arange(5.0))[:, None]
    new = np.append(np.arange(equal) % 95.0, 1000.0 + np.arange(1000 - equal))[:, None]
    seen = TrainingRows(values, np.zeros(100, int)).among(new, np.zeros(1000, int))
    assert seen.sum() == (equal if told else 0)
