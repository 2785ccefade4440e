"""Our reading of the native objectives, trained as custom objectives, grows the native trees.

Equality is to the last bit: every split, threshold, leaf value and statistic of the model file. The
negative controls show how much that says: the smallest change of any constant shows in the trees.
"""

from __future__ import annotations

import json
import lzma
import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from native_reference import LightGBMLambdarank, XGBoostLambdarank, map_swap_delta
from numpy.typing import NDArray

lgb = pytest.importorskip("lightgbm", minversion="4.0")
xgb = pytest.importorskip("xgboost", minversion="3.0")

pytestmark = pytest.mark.slow
on_linux_x86_64 = sys.platform == "linux" and platform.machine() == "x86_64"
same_libm = pytest.mark.skipif(
    not on_linux_x86_64,
    reason="equal bits need the frameworks and numba to share a libm and to fuse no multiply-adds",
)

ROUNDS = 25
MQ2008 = Path(__file__).parents[2] / "shared" / "data" / "mq2008" / "S1.txt.xz"
XGBoostName = Literal["rank:ndcg", "rank:map"]

LIGHTGBM: dict[str, Any] = {
    "num_leaves": 31,
    "metric": "None",
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
XGBOOST: dict[str, Any] = {
    "tree_method": "hist",
    "base_score": 0.0,  # the native default is fitted, a custom objective's is 0.5
    "disable_default_eval_metric": 1,
    "nthread": 1,
    "seed": 7,
}


# -- data ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Data:
    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @property
    def row_weights(self) -> NDArray[np.float64]:
        return np.random.default_rng(1).uniform(0.2, 3.0, len(self.labels))

    @property
    def query_weights(self) -> NDArray[np.float64]:
        return np.random.default_rng(2).uniform(0.2, 3.0, len(self.sizes))


@cache
def mq2008() -> Data:
    from sklearn.datasets import load_svmlight_file  # type: ignore[import-untyped]

    with lzma.open(MQ2008) as lines:
        features, labels, qid = load_svmlight_file(lines, query_id=True)
    starts = np.flatnonzero(np.diff(qid, prepend=qid[0] - 1))
    return Data(features.toarray(), labels, np.diff(starts, append=len(qid)))


@cache
def synthetic() -> Data:
    """Five grades, queries of 1 to 150 documents, and duplicated rows, whose scores stay tied."""
    random = np.random.default_rng(0)
    sizes = np.concatenate([[1, 2, 1, 31, 32, 33, 150], random.integers(1, 90, 45)])
    features = random.normal(size=(sizes.sum(), 12))
    twins = np.arange(0, len(features) - 1, 5)
    features[twins] = features[twins + 1]
    signal = features[:, 0] + features[:, 1] * features[:, 2] + random.normal(size=len(features))
    labels = np.digitize(signal, [0.5, 1.2, 2.0, 3.0]).astype(float)
    ends = np.cumsum(sizes)
    labels[ends[9] : ends[10]] = 0.0  # a query with nothing relevant
    labels[ends[10] : ends[11]] = 4.0  # and one with nothing else
    return Data(features, labels, sizes)


def load(name: str) -> Data:
    if name == "synthetic":
        return synthetic()
    if not MQ2008.exists():
        pytest.skip(f"MQ2008 is not at {MQ2008}")
    return mq2008()


each_data_set = pytest.mark.parametrize("name", ["mq2008", "synthetic"])
each_xgboost = pytest.mark.parametrize("objective", ["rank:ndcg", "rank:map"])


# -- training ------------------------------------------------------------------------------------


def train_lightgbm(data: Data, objective: Any, weighted: bool = False, **params: Any) -> Any:
    weight = data.row_weights if weighted else None
    train_set = lgb.Dataset(data.features, data.labels, group=data.sizes, weight=weight)
    return lgb.train({**LIGHTGBM, **params, "objective": objective}, train_set, ROUNDS)


def lightgbm_trees(model: Any) -> str:
    """The trees as the model file has them, numbers in full; without the parameters around them."""
    text = str(model.model_to_string())
    return text[text.index("\nTree=0") : text.index("end of trees")]


def xgboost_matrix(data: Data, objective: XGBoostName, weighted: bool = False) -> Any:
    labels = data.labels > 0 if objective == "rank:map" else data.labels
    matrix = xgb.DMatrix(data.features, labels, weight=data.query_weights if weighted else None)
    matrix.set_group(data.sizes)
    return matrix


def train_xgboost(
    data: Data,
    objective: XGBoostName,
    reference: XGBoostLambdarank | None = None,
    weighted: bool = False,
    **params: Any,
) -> Any:
    matrix = xgboost_matrix(data, objective, weighted)
    return xgb.train({**XGBOOST, **params, "objective": objective}, matrix, ROUNDS, obj=reference)


def xgboost_trees(model: Any) -> list[dict[str, Any]]:
    learner = json.loads(model.save_raw("json"))["learner"]
    return list(learner["gradient_booster"]["model"]["trees"])


@cache
def native_lightgbm_trees() -> str:
    return lightgbm_trees(train_lightgbm(synthetic(), "lambdarank"))


@cache
def native_xgboost_trees(objective: XGBoostName) -> list[dict[str, Any]]:
    return xgboost_trees(train_xgboost(synthetic(), objective))


def assert_same_lightgbm(data: Data, native: Any, ours: Any) -> None:
    assert native.num_trees() == ROUNDS
    assert np.ptp(native.predict(data.features)) > 1.0, "the comparison would be empty"
    assert lightgbm_trees(ours) == lightgbm_trees(native)
    np.testing.assert_array_equal(ours.predict(data.features), native.predict(data.features))


def assert_same_xgboost(data: Data, native: Any, ours: Any) -> None:
    matrix = xgb.DMatrix(data.features)
    expected = native.predict(matrix, output_margin=True)
    assert native.num_boosted_rounds() == ROUNDS
    assert np.ptp(expected) > 1.0, "the comparison would be empty"
    assert xgboost_trees(ours) == xgboost_trees(native)
    np.testing.assert_array_equal(ours.predict(matrix, output_margin=True), expected)


# -- LightGBM ------------------------------------------------------------------------------------


@same_libm
@each_data_set
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_lightgbm_lambdarank_grows_the_same_trees(name: str, weighted: bool) -> None:
    data = load(name)
    native = train_lightgbm(data, "lambdarank", weighted)
    assert_same_lightgbm(data, native, train_lightgbm(data, LightGBMLambdarank(), weighted))


@same_libm
@pytest.mark.parametrize(
    ("native", "ours"),
    [
        ({"lambdarank_norm": False}, {"norm": False}),
        ({"lambdarank_truncation_level": 5}, {"truncation": 5}),
        ({"sigmoid": 2.5}, {"sigma": 2.5}),
        ({"bagging_fraction": 0.7, "bagging_freq": 1}, {}),
        ({"data_sample_strategy": "goss", "learning_rate": 0.2}, {}),
    ],
    ids=["no norm", "truncation", "sigmoid", "bagging", "goss"],
)
def test_lightgbm_options_are_read_the_same(native: dict[str, Any], ours: dict[str, Any]) -> None:
    data = synthetic()
    theirs = train_lightgbm(data, "lambdarank", **native)
    assert_same_lightgbm(data, theirs, train_lightgbm(data, LightGBMLambdarank(**ours), **native))


@same_libm
def test_lightgbm_column_sampling_is_one_draw_ahead_on_the_custom_path() -> None:
    """The first update with a callable resets the parameters, which draws a set of features.

    So with feature_fraction < 1 a custom objective sees other features than its native twin
    (LightGBM issue 6053), and the same ones as soon as the twin's parameters are reset too.
    """
    data = synthetic()
    ours = train_lightgbm(data, LightGBMLambdarank(), feature_fraction=0.5)
    untouched = train_lightgbm(data, "lambdarank", feature_fraction=0.5)
    assert lightgbm_trees(ours) != lightgbm_trees(untouched)

    params = {**LIGHTGBM, "objective": "lambdarank", "feature_fraction": 0.5}
    native = lgb.Booster(params, lgb.Dataset(data.features, data.labels, group=data.sizes))
    native.reset_parameter({"objective": "lambdarank"})
    for _ in range(ROUNDS):
        native.update()
    assert_same_lightgbm(data, native, ours)


@pytest.mark.parametrize(
    "mistake",
    [
        {"damping": 0.02},
        {"damping": 0.01},  # a float64 where LightGBM has a float32
        {"tabulated": False},
        {"hessian_factor": 2.0},
        {"sigma": 1.01},
        {"truncation": 29},
        {"norm": False},
    ],
    ids=str,
)
def test_lightgbm_trees_notice_a_wrong_constant(mistake: dict[str, Any]) -> None:
    wrong = train_lightgbm(synthetic(), LightGBMLambdarank(**mistake))
    assert lightgbm_trees(wrong) != native_lightgbm_trees()


# -- XGBoost -------------------------------------------------------------------------------------


@same_libm
@each_data_set
@each_xgboost
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_xgboost_topk_objectives_grow_the_same_trees(
    name: str, objective: XGBoostName, weighted: bool
) -> None:
    data = load(name)
    native = train_xgboost(data, objective, weighted=weighted)
    ours = train_xgboost(data, objective, XGBoostLambdarank(objective), weighted)
    assert_same_xgboost(data, native, ours)


@same_libm
@each_xgboost
@pytest.mark.parametrize(
    ("native", "ours"),
    [
        ({"lambdarank_num_pair_per_sample": 5}, {"num_pair": 5}),
        ({"lambdarank_normalization": False}, {"normalization": False}),
        ({"lambdarank_score_normalization": False}, {"score_normalization": False}),
        ({"ndcg_exp_gain": False}, {"exp_gain": False}),
        ({"subsample": 0.7, "colsample_bytree": 0.5}, {}),
    ],
    ids=["num pair", "no normalization", "no score normalization", "linear gain", "sampling"],
)
def test_xgboost_options_are_read_the_same(
    objective: XGBoostName, native: dict[str, Any], ours: dict[str, Any]
) -> None:
    data = synthetic()
    theirs = train_xgboost(data, objective, **native)
    reference = XGBoostLambdarank(objective, **ours)
    assert_same_xgboost(data, theirs, train_xgboost(data, objective, reference, **native))


@pytest.mark.parametrize(
    ("objective", "mistake"),
    [
        ("rank:ndcg", {"damping": 0.02}),
        ("rank:map", {"damping": 0.02}),
        ("rank:ndcg", {"damping": float(np.float32(0.01))}),  # LightGBM's
        ("rank:ndcg", {"hessian_factor": 1.0}),
        ("rank:map", {"hessian_factor": 1.0}),
        ("rank:ndcg", {"num_pair": 31}),
        ("rank:map", {"num_pair": 31}),
        ("rank:ndcg", {"score_normalization": False}),
        ("rank:map", {"normalization": False}),
    ],
    ids=str,
)
def test_xgboost_trees_notice_a_wrong_constant(
    objective: XGBoostName, mistake: dict[str, Any]
) -> None:
    wrong = train_xgboost(synthetic(), objective, XGBoostLambdarank(objective, **mistake))
    assert xgboost_trees(wrong) != native_xgboost_trees(objective)


def test_xgboost_fits_its_base_score_natively_only() -> None:
    """Why base_score is spelled out above: left alone, the two start from different scores."""

    def base_score(reference: XGBoostLambdarank | None) -> float:
        params = {key: value for key, value in XGBOOST.items() if key != "base_score"}
        matrix = xgboost_matrix(synthetic(), "rank:ndcg")
        model = xgb.train({**params, "objective": "rank:ndcg"}, matrix, 1, obj=reference)
        learner = json.loads(model.save_config())["learner"]
        return float(learner["learner_model_param"]["base_score"].strip("[]"))

    assert abs(base_score(None)) < 1e-6
    assert base_score(XGBoostLambdarank()) == 0.5


def test_rank_map_refuses_graded_labels_here_and_there() -> None:
    graded = xgboost_matrix(synthetic(), "rank:ndcg")
    with pytest.raises(xgb.core.XGBoostError, match="binary"):
        xgb.train({**XGBOOST, "objective": "rank:map"}, graded, 1)
    with pytest.raises(ValueError, match="binary"):
        xgb.train(XGBOOST, graded, 1, obj=XGBoostLambdarank("rank:map"))


def average_precision(relevance: NDArray[np.float64]) -> float:
    precision = np.cumsum(relevance) / np.arange(1, len(relevance) + 1)
    return float(precision @ relevance / relevance.sum())


def test_xgboost_map_delta_is_the_change_of_average_precision() -> None:
    random = np.random.default_rng(3)
    for size in (2, 3, 8, 40):
        relevance = random.permutation((np.arange(size) <= size // 3).astype(float))
        relevant, ranks = np.cumsum(relevance), np.arange(1, size + 1)
        precision = np.cumsum(relevance / ranks)
        for upper in range(size):
            for lower in range(upper + 1, size):
                if relevance[upper] == relevance[lower]:
                    continue
                swapped = relevance.copy()
                swapped[[upper, lower]] = relevance[[lower, upper]]
                change = abs(average_precision(swapped) - average_precision(relevance))
                concordant = bool(relevance[upper])
                delta = map_swap_delta(upper, lower, concordant, relevant, precision)
                assert abs(delta) == pytest.approx(change, abs=1e-14)
