"""Scorers and fevals on labels of which all are relevant say which threshold separates them."""

import numpy as np
import pytest

import lambdaplus as lp
from lambdaplus.baselines import RankSVM

X = np.random.default_rng(0).normal(size=(40, 2))
QID = np.repeat(range(4), 10)
SUCCESS = (X[:, 0] > 0).astype(int)


@pytest.mark.filterwarnings("ignore:all documents are relevant")
@pytest.mark.parametrize("low", [1, 2, 5])
@pytest.mark.parametrize("one_group", [False, True])
def test_an_error_names_the_threshold(low: int, one_group: bool) -> None:
    """Warnings of a search's processes are not seen."""
    model, labels = RankSVM().fit(X, SUCCESS, qid=QID), SUCCESS + low
    with pytest.raises(ValueError, match=f"auc has no value .*Pass relevant={low + 1}, or other"):
        lp.scorer("auc", qid=QID, one_group=one_group)(model, X, labels)
    with pytest.raises(ValueError, match=f"Pass relevant={low + 1}, or other"):
        lp.eval_metric("auc + map", one_group=one_group)(labels, X[:, 0], None, [10] * 4)
    right = lp.scorer("auc", qid=QID, one_group=one_group)(model, X, SUCCESS)
    passed = lp.scorer("auc", qid=QID, one_group=one_group, relevant=low + 1)
    assert passed(model, X, labels) == right
