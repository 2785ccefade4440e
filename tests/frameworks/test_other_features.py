"""Evaluation data with other features than the training data, which are read by their places."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
X = np.random.default_rng(0).normal(size=(80, 3))
Y, SIZES = (X[:, 0] > 0).astype(int), [10] * 8
FRAME = pd.DataFrame(X, columns=list("abc"))
Make = Callable[[Any], Any]
FRAMES: dict[str, Make] = {
    "pandas": lambda frame: frame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pandas,
}
ARRAYS: dict[str, Make] = {"array": np.asarray, "CSR": sp.csr_matrix, "CSC": sp.csc_matrix}


def train(of_training: Any, evaluated: Any, **names: Any) -> Any:
    data = lgb.Dataset(of_training, Y, group=SIZES)
    valid = lgb.Dataset(evaluated, Y, group=SIZES, **names)
    return lgb.train({"verbose": -1}, data, 2, fobj=lp.lambda_map, valid_sets=[data, valid])


@pytest.mark.parametrize("columns", ["cba", "ab", "abd", "abcd"])
@pytest.mark.parametrize("frame", FRAMES)
def test_of_frames_are_refused_by_name(frame: str, columns: str) -> None:
    evaluated = FRAME.assign(d=0.0)[list(columns)]
    with pytest.raises(
        ValueError, match=r"^valid_sets\[1\] has the columns .* not those of the tr"
    ):
        train(FRAMES[frame](FRAME), FRAMES[frame](evaluated))


@pytest.mark.parametrize("columns", [[0, 1], [0, 1, 2, 0]])
@pytest.mark.parametrize("array", ARRAYS)
def test_of_arrays_are_refused_by_number(array: str, columns: list[int]) -> None:
    with pytest.raises(ValueError, match=rf"^valid_sets\[1\] has {len(columns)} features, and the"):
        train(ARRAYS[array](X), ARRAYS[array](X[:, columns]))
    with pytest.raises(ValueError, match=rf"^valid_sets\[1\] has {len(columns)} features, and the"):
        train(FRAME, ARRAYS[array](X[:, columns]))


@pytest.mark.parametrize("make", [*FRAMES.values(), *ARRAYS.values()])
def test_the_same_features_in_another_container_are_not(make: Make) -> None:
    right, found = train(FRAME, FRAME), train(FRAME, make(FRAME))
    assert found.best_score["valid_1"] == right.best_score["valid_1"]
    kept = lgb.Dataset(FRAME, Y, group=SIZES).construct()  # without its frame
    assert lgb.train({"verbose": -1}, kept, 2, fobj=lp.lambda_map, valid_sets=[
        lgb.Dataset(make(FRAME), Y, group=SIZES, reference=kept)]).num_trees() == 2  # fmt: skip


def test_xgboost_takes_fewer_for_missing_which_is_warned_of() -> None:
    data, valid = (xgb.DMatrix(A, Y, group=SIZES) for A in (X, X[:, :2]))
    with pytest.warns(UserWarning, match="held out has 2 features and the training data 3"):
        xgb.train({}, data, 2, obj=lp.lambda_map, evals=[(data, "t"), (valid, "held out")])
