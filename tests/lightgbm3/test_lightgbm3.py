"""What differs in LightGBM 3, in an environment of its own:

make test-lightgbm3
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_data import graded

import lambdaplus as lp

lgb = pytest.importorskip("lightgbm")
if not lgb.__version__.startswith("3."):
    pytest.skip(f"LightGBM is {lgb.__version__}, not 3", allow_module_level=True)

QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1}


def test_plain_lightgbm_takes_no_callable_in_params() -> None:
    """The reason for lambdaplus.lightgbm: code for LightGBM 4 does not run here as it is."""
    data = graded()
    given = lgb.Dataset(data.features, data.labels, group=data.sizes, params=QUIET)
    with pytest.raises((TypeError, lgb.basic.LightGBMError)):
        lgb.train({**QUIET, "objective": lp.lambda_auc}, given, 2)


def test_our_estimators_ask_for_lightgbm_4() -> None:
    with pytest.raises(ImportError, match="the estimators need LightGBM 4"):
        _ = lp.LightGBMRanker


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_lgbmranker_takes_a_function_of_labels_scores_and_group(weighted: bool) -> None:
    """LightGBM 3 knows (y, p) and (y, p, group), and multiplies by the weights itself."""
    data = graded()
    weight = data.row_weights if weighted else None
    options: dict[str, Any] = {"n_estimators": 8, "metric": "None", **QUIET}
    with pytest.raises(TypeError, match="should have 2 or 3 arguments, got 4"):
        lgb.LGBMRanker(objective=lp.lambda_map, **options).fit(
            data.features, data.labels, group=data.sizes
        )
    ranker = lgb.LGBMRanker(
        objective=lambda labels, scores, group: lp.lambda_map(labels, scores, None, group),
        **options,
    )
    ranker.fit(data.features, data.labels, group=data.sizes, sample_weight=weight)

    def in_float32(scores: Any, given: Any) -> Any:  # rounds as LightGBM does
        both = lp.lambda_map(data.labels, scores, None, data.sizes)
        return both if weight is None else tuple(np.asarray(array) * weight for array in both)

    given = lgb.Dataset(data.features, data.labels, group=data.sizes, weight=weight, params=QUIET)
    booster = lgb.train(QUIET, given, 8, fobj=in_float32)
    assert_array_equal(ranker.predict(data.features), booster.predict(data.features))
