"""Readable reimplementations of the native ranking objectives of LightGBM and XGBoost.

Nothing here is library code. These two callables stand on the tests' side, as proof of two things:
that the custom-objective path of either framework carries gradients through unharmed, and that we
read the native formulas rightly. Trained with them, both frameworks grow the trees that their own
objectives grow, to the last bit (see test_native_reference.py), so they may also serve as an oracle
wherever the library says "as LightGBM" or "as XGBoost".

To the last bit means that the width of every intermediate number counts, which is why float32 and
float64 are spelled out below. Logarithms and exponentials come from `math`, inside numba or out:
these are libm's, as in the frameworks, while numpy's own vectorised ones may round otherwise.

Read in: LightGBM src/objective/rank_objective.hpp (class LambdarankNDCG) and src/metric/
dcg_calculator.cpp; XGBoost src/objective/lambdarank_obj.{h,cc}, src/common/ranking_utils.{h,cc} and
src/common/math.h. Each formula below names the function that it restates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
GradientAndHessian = tuple[Singles, Singles]

_jit: Callable[[Any], Any] = njit(cache=True)

SIGMOID_BINS = 1 << 20  # LightGBM: _sigmoid_bins
SIGMOID_RANGE = 25.0  # LightGBM: max_sigmoid_input_ = 50, halved, then divided by sigma


# -- what the two have in common -----------------------------------------------------------------


def ranked(keys: NDArray[np.floating[Any]], bounds: Integers) -> Integers:
    """Row numbers, query after query, by descending key; equal keys keep the order of the rows.

    LightGBM: std::stable_sort in GetGradientsForOneQuery. XGBoost: ArgSort, stable as well, in
    RankingCache::MakeRankOnCPU.
    """
    query = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return np.lexsort((-keys, query)).astype(np.int64, copy=False)


def discounts(bounds: Integers) -> Floats:
    """D(r) = 1 / log2(2 + r), r from 0, for the longest query.

    LightGBM: DCGCalculator::Init. XGBoost: CalcDCGDiscount. Neither cuts it off at the truncation
    level, which limits only which pairs are formed and the ideal DCG.
    """
    longest = int(np.diff(bounds).max(initial=0))
    return np.array([1.0 / math.log2(2.0 + rank) for rank in range(longest)])


def gains(labels: Singles, exponential: bool = True) -> Floats:
    """2^label - 1, or the label itself.

    LightGBM: DCGCalculator::DefaultLabelGain. XGBoost: CalcDCGGain, or ndcg_exp_gain=False.
    """
    if exponential:
        return np.asarray(np.ldexp(1.0, labels.astype(np.int32)) - 1.0)
    return labels.astype(np.float64)


@_jit
def inverse_ideal_dcg(
    gain: Floats, by_label: Integers, bounds: Integers, discount: Floats, level: int
) -> Floats:
    """1 / DCG@level of the best order of each query; 0 where nothing is relevant.

    LightGBM: DCGCalculator::CalMaxDCGAtK, with level = lambdarank_truncation_level. XGBoost:
    NDCGCache::InitOnCPU, with level = lambdarank_num_pair_per_sample.
    """
    inverse = np.zeros(len(bounds) - 1)
    for query in range(len(bounds) - 1):
        start, size = bounds[query], bounds[query + 1] - bounds[query]
        ideal = 0.0
        for rank in range(min(size, level)):
            ideal += discount[rank] * gain[by_label[start + rank]]
        if ideal > 0.0:
            inverse[query] = 1.0 / ideal
    return inverse


# -- LightGBM ------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def lightgbm_sigmoid_table(sigma: float) -> Floats:
    return _lightgbm_sigmoid_table(sigma)  # type: ignore[no-any-return]


@_jit
def _lightgbm_sigmoid_table(sigma: float) -> Floats:
    """1 / (1 + e^(sigma d)) at the left edge of 2^20 bins of d in +-25/sigma.

    LightGBM: ConstructSigmoidTable.
    """
    table = np.empty(SIGMOID_BINS)
    low = -SIGMOID_RANGE / sigma
    bins_per_unit = SIGMOID_BINS / (-low - low)
    for i in range(SIGMOID_BINS):
        table[i] = 1.0 / (1.0 + math.exp((i / bins_per_unit + low) * sigma))
    return table


@_jit
def lightgbm_sigmoid(distance: float, sigma: float, table: Floats) -> float:
    """p(d), looked up; an empty table asks for the exact value instead.

    LightGBM: GetSigmoid.
    """
    if len(table) == 0:
        return 1.0 / (1.0 + math.exp(distance * sigma))
    low = -SIGMOID_RANGE / sigma
    if distance <= low:
        return table[0]  # type: ignore[no-any-return]
    if distance >= -low:
        return table[SIGMOID_BINS - 1]  # type: ignore[no-any-return]
    return table[int((distance - low) * (SIGMOID_BINS / (-low - low)))]  # type: ignore[no-any-return]


@_jit
def lightgbm_lambdas(
    label: Singles,
    score: Floats,
    gain: Floats,
    order: Integers,
    bounds: Integers,
    discount: Floats,
    inverse_ideal: Floats,
    table: Floats,
    sigma: float,
    truncation: int,
    norm: bool,
    damping: float,
    hessian_factor: float,
) -> GradientAndHessian:
    """LightGBM: GetGradientsForOneQuery, for every query."""
    gradient = np.zeros(len(score), np.float32)
    hessian = np.zeros(len(score), np.float32)
    for query in range(len(bounds) - 1):
        start, end = bounds[query], bounds[query + 1]
        size = end - start
        if size == 0:
            continue
        damped = norm and score[order[start]] != score[order[end - 1]]
        total = 0.0  # S, of the exact lambdas rather than of the rounded ones
        for i in range(min(size - 1, truncation)):  # the upper document is within the truncation
            for j in range(i + 1, size):
                if label[order[start + i]] == label[order[start + j]]:
                    continue
                high, low = i, j  # ranks of the more and of the less relevant document
                if label[order[start + i]] < label[order[start + j]]:
                    high, low = j, i
                high_row, low_row = order[start + high], order[start + low]
                distance = score[high_row] - score[low_row]

                # |delta NDCG| = (g_high - g_low) |D_high - D_low| / maxDCG
                gap = abs(discount[high] - discount[low])
                delta = (gain[high_row] - gain[low_row]) * gap * inverse_ideal[query]
                if damped:  # lambdarank_norm, first half: near pairs count for more
                    delta /= damping + abs(distance)

                # lambda = -sigma delta p, hessian = sigma^2 delta p (1 - p)
                p = lightgbm_sigmoid(distance, sigma, table)
                pair_lambda = p * (-sigma * delta)
                pair_hessian = p * (1.0 - p) * (sigma * sigma * delta) * hessian_factor

                gradient[low_row] -= np.float32(pair_lambda)
                hessian[low_row] += np.float32(pair_hessian)
                gradient[high_row] += np.float32(pair_lambda)
                hessian[high_row] += np.float32(pair_hessian)
                total -= 2.0 * pair_lambda

        if norm and total > 0.0:  # lambdarank_norm, second half: queries come closer in weight
            scale = math.log2(1.0 + total) / total
            for row in range(start, end):
                gradient[row] = np.float32(gradient[row] * scale)
                hessian[row] = np.float32(hessian[row] * scale)
    return gradient, hessian


@dataclass(frozen=True)
class LightGBMLambdarank:
    """LightGBM's objective="lambdarank" as a custom objective: `params["objective"] = self`.

    The first three fields are LightGBM's parameters sigmoid, lambdarank_truncation_level and
    lambdarank_norm. The last three are constants of its source, here so that a test can get them
    wrong on purpose.
    """

    sigma: float = 1.0
    truncation: int = 30
    norm: bool = True
    damping: float = float(np.float32(0.01))  # "0.01f": a float32 constant in float64 arithmetic
    hessian_factor: float = 1.0
    tabulated: bool = True

    def __call__(self, preds: Floats, dataset: Any) -> GradientAndHessian:
        bounds = np.concatenate([[0], np.cumsum(dataset.get_group())]).astype(np.int64)
        label = np.asarray(dataset.get_label(), np.float32)
        gain, discount = gains(label), discounts(bounds)
        gradient, hessian = lightgbm_lambdas(
            label,
            preds,
            gain,
            ranked(preds, bounds),
            bounds,
            discount,
            inverse_ideal_dcg(gain, ranked(label, bounds), bounds, discount, self.truncation),
            lightgbm_sigmoid_table(self.sigma) if self.tabulated else np.empty(0),
            self.sigma,
            self.truncation,
            self.norm,
            self.damping,
            self.hessian_factor,
        )
        weight = dataset.get_weight()  # per row, and ours to apply; after the normalisation
        if weight is not None:
            gradient *= np.asarray(weight, np.float32)
            hessian *= np.asarray(weight, np.float32)
        return gradient, hessian


# -- XGBoost -------------------------------------------------------------------------------------


@_jit
def xgboost_sigmoid(distance: np.float32) -> np.float32:
    """1 / (1 + e^-d), in float32 throughout: under numba, math.exp of a float32 is libm's expf.

    XGBoost: common::Sigmoid(float).
    """
    exponent: Any = min(-distance, np.float32(88.7))  # e^88.7 is about the largest float32
    return np.float32(1.0) / (np.float32(math.exp(exponent)) + np.float32(1.0))


@_jit
def map_swap_delta(
    upper: int, lower: int, concordant: bool, relevant: Floats, precision: Floats
) -> float:
    """Change of average precision when the documents at ranks upper < lower trade places.

    relevant[r] counts the relevant documents at ranks 0..r, precision[r] sums 1/(1+k) over the
    relevant ranks k <= r. XGBoost: DeltaMAP, with the sums of MAPStat.
    """
    between = precision[lower - 1] - precision[upper]
    here, there = relevant[upper], relevant[lower]
    if concordant:
        change = here / (upper + 1.0) - there / (lower + 1.0) + between
    else:
        change = there / (lower + 1.0) - (here + 1.0) / (upper + 1.0) - between
    return change / relevant[-1]  # type: ignore[no-any-return]


@_jit
def xgboost_lambdas(
    label: Singles,
    score: Singles,
    gain: Floats,
    order: Integers,
    bounds: Integers,
    discount: Floats,
    inverse_ideal: Floats,
    weight: Singles,
    average_precision: bool,
    num_pair: int,
    normalization: bool,
    score_normalization: bool,
    damping: float,
    hessian_factor: float,
) -> GradientAndHessian:
    """XGBoost: LambdaRankObj::CalcLambdaForGroup, for every query."""
    gradient = np.zeros(len(score), np.float32)
    hessian = np.zeros(len(score), np.float32)
    # RankingCache::InitOnCPU: the weights of the queries (not of the rows) are given a mean of 1
    total_weight = 0.0
    for query in range(len(weight)):
        total_weight += weight[query]
    weight_norm = np.float32(len(weight) / total_weight)

    for query in range(len(bounds) - 1):
        start, end = bounds[query], bounds[query + 1]
        size = end - start
        if size == 0:
            continue
        damped = score_normalization and score[order[start]] != score[order[end - 1]]

        relevant, precision = np.zeros(size), np.zeros(size)  # MAPStat
        if average_precision:
            count, precisions = 0.0, 0.0
            for rank in range(size):
                count += label[order[start + rank]]
                precisions += label[order[start + rank]] / (rank + 1.0)
                relevant[rank], precision[rank] = count, precisions

        total = 0.0  # S, of the rounded lambdas: LightGBM sums the exact ones
        for i in range(min(size, num_pair)):  # MakePairs, lambdarank_pair_method="topk"
            for j in range(i + 1, size):
                if label[order[start + i]] == label[order[start + j]]:
                    continue
                high, low = i, j  # ranks of the more and of the less relevant document
                if label[order[start + i]] < label[order[start + j]]:
                    high, low = j, i
                high_row, low_row = order[start + high], order[start + low]
                distance = score[high_row] - score[low_row]  # a float32

                if average_precision:
                    delta = abs(map_swap_delta(i, j, high == i, relevant, precision))
                else:  # DeltaNDCG: the DCG of the two before less that after, in this order
                    before = gain[high_row] * discount[high] + gain[low_row] * discount[low]
                    after = gain[low_row] * discount[high] + gain[high_row] * discount[low]
                    delta = abs((before - after) * inverse_ideal[query])
                if damped:  # lambdarank_score_normalization
                    delta /= abs(np.float64(distance)) + damping

                # LambdaGrad: p(d) = 1 - sigmoid(d), and the hessian doubled
                sigmoid = np.float64(xgboost_sigmoid(distance))
                pair_lambda = np.float32((sigmoid - 1.0) * delta)
                curvature = max(sigmoid * (1.0 - sigmoid), 1e-16)
                pair_hessian = np.float32(curvature * delta * hessian_factor)

                gradient[high_row] += pair_lambda
                hessian[high_row] += pair_hessian
                gradient[low_row] -= pair_lambda
                hessian[low_row] += pair_hessian
                total -= 2.0 * np.float64(pair_lambda)

        scale = np.float32(1.0)
        if normalization and total > 0.0:  # lambdarank_normalization
            scale = np.float32(math.log2(1.0 + total) / total)
        for row in range(start, end):  # one float32 product at a time
            gradient[row] = gradient[row] * scale * weight[query] * weight_norm
            hessian[row] = hessian[row] * scale * weight[query] * weight_norm
    return gradient, hessian


@dataclass(frozen=True)
class XGBoostLambdarank:
    """XGBoost's rank:ndcg or rank:map with topk pairs as a custom objective: `obj=self`.

    The fields from num_pair on are XGBoost's parameters lambdarank_num_pair_per_sample,
    lambdarank_normalization, lambdarank_score_normalization and ndcg_exp_gain. The last two are
    constants of its source, here so that a test can get them wrong on purpose. sigma is 1.
    """

    objective: Literal["rank:ndcg", "rank:map"] = "rank:ndcg"
    num_pair: int = 32
    normalization: bool = True
    score_normalization: bool = True
    exp_gain: bool = True
    damping: float = 0.01  # a float64 here, unlike LightGBM's
    hessian_factor: float = 2.0

    def __call__(self, preds: Singles, dmatrix: Any) -> GradientAndHessian:
        bounds = dmatrix.get_uint_info("group_ptr").astype(np.int64)
        label, weight = dmatrix.get_label(), dmatrix.get_weight()
        if self.objective == "rank:map" and not np.isin(label, (0, 1)).all():
            raise ValueError("rank:map is defined for binary labels only")
        gain, discount = gains(label, self.exp_gain), discounts(bounds)
        gradient, hessian = xgboost_lambdas(
            label,
            preds,
            gain,
            ranked(preds, bounds),
            bounds,
            discount,
            inverse_ideal_dcg(gain, ranked(label, bounds), bounds, discount, self.num_pair),
            weight if len(weight) else np.ones(len(bounds) - 1, np.float32),
            self.objective == "rank:map",
            self.num_pair,
            self.normalization,
            self.score_normalization,
            self.damping,
            self.hessian_factor,
        )
        return gradient, hessian
