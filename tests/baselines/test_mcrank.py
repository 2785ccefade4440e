"""McRank against LightGBM's own estimators, and the selection of rounds."""

import sys

import numpy as np
import pytest
from small_data import graded

from lambdaplus.baselines import McRank

lightgbm = pytest.importorskip("lightgbm")
SMALL = {"n_estimators": 12, "random_state": 0, "n_jobs": 1, "min_child_samples": 5}


def test_multiclass_is_the_expected_label_of_lightgbm() -> None:
    data = graded(60)
    model = McRank(**SMALL).fit(data.features, data.labels, qid=data.qid)
    theirs = lightgbm.LGBMClassifier(
        n_estimators=12, num_leaves=15, min_child_samples=5, n_jobs=1, verbose=-1
    ).fit(data.features, data.labels)
    expected = theirs.predict_proba(data.features)
    np.testing.assert_allclose(model.predict(data.features), expected @ [0.0, 1.0, 2.0, 3.0])


def test_ordinal_is_a_sum_of_chances_to_reach_each_label() -> None:
    data = graded(60)
    labels = np.array([0.0, 1.0, 4.0, 5.0])[data.labels.astype(int)]  # steps of 1, 3 and 1
    model = McRank("ordinal", **SMALL).fit(data.features, labels, qid=data.qid)
    expected = np.zeros(data.n)
    for label, step in ((1.0, 1.0), (4.0, 3.0), (5.0, 1.0)):
        theirs = lightgbm.LGBMClassifier(
            n_estimators=12, num_leaves=15, min_child_samples=5, n_jobs=1, verbose=-1
        ).fit(data.features, labels >= label)
        expected += step * theirs.predict_proba(data.features)[:, 1]
    np.testing.assert_allclose(model.predict(data.features), expected, rtol=1e-9)


def test_two_classes_are_one_binary_model() -> None:
    data = graded(60)
    X, y = data.features, data.binary
    multiclass, ordinal = (McRank(v, **SMALL).fit(X, y) for v in ("multiclass", "ordinal"))
    np.testing.assert_array_equal(multiclass.predict(X), ordinal.predict(X))
    assert ((multiclass.predict(X) > 0) & (multiclass.predict(X) < 1)).all()


def test_without_lightgbm_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    data = graded(4)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"pip install 'lambdaplus\[lightgbm\]'"):
        McRank().fit(data.features, data.labels)
