"""The planes of many hinges, and the interior point method that minimises them."""

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.baselines.cutting_planes import IN_USE, PATIENCE, Planes
from lambdaplus.baselines.interior_point import minimise


def random_planes(seed: int, n_blocks: int, n_features: int, per_block: int) -> Planes:
    random = np.random.default_rng(seed)
    planes = Planes(n_blocks, n_features)
    block = np.repeat(np.arange(n_blocks), random.integers(0, per_block + 1, n_blocks))
    slope = random.normal(size=(block.size, n_features))
    planes.add(block, slope, random.random(block.size))
    return planes


def bounds(planes: Planes, weight: np.ndarray, alpha: np.ndarray) -> tuple[float, float]:
    """Primal and dual value at alpha, by definition."""
    mass = weight[planes.block] * alpha
    w = -(mass @ planes.slope)
    height = planes.slope @ w + planes.offset
    top = [height[planes.block == b].max() for b in range(weight.size)]
    return float(w @ w / 2 + weight @ top), float(mass @ planes.offset - w @ w / 2)


@examples(60)
@given(
    st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 8), st.integers(1, 7),
    st.sampled_from([1e-3, 1.0, 1e4]),
)  # fmt: skip
def test_interior_point_closes_the_gap(
    seed: int, n_blocks: int, n_features: int, per_block: int, C: float
) -> None:
    planes = random_planes(seed, n_blocks, n_features, per_block)
    weight = C * np.random.default_rng(seed).uniform(0.5, 2.0, n_blocks)
    alpha = minimise(planes.edges, planes.slope, planes.offset, weight, 1e-7 * C)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(alpha, planes.edges[:-1]), 1.0)
    primal, dual = bounds(planes, weight, alpha)
    assert dual <= primal + 1e-12 * C
    assert primal - dual <= 1.1e-7 * C


def test_eviction_keeps_the_dual_the_bound_and_what_is_in_use() -> None:
    planes = random_planes(1, 4, 6, 30)
    weight = np.full(4, 2.0)
    planes.alpha = minimise(planes.edges, planes.slope, planes.offset, weight, 1e-6)
    _, dual = bounds(planes, weight, planes.alpha)
    random = np.random.default_rng(2)
    points = random.normal(size=(200, 6))
    heights = [points @ planes.slope.T + planes.offset]
    before = np.maximum.reduceat(heights[0], planes.edges[:-1], axis=1)
    used = planes.slope[planes.alpha >= IN_USE]
    m = planes.offset.size
    for _ in range(PATIENCE + 1):
        planes.evict()
    assert planes.offset.size < m
    assert bounds(planes, weight, planes.alpha)[1] == pytest.approx(dual, abs=1e-12)
    after = np.maximum.reduceat(points @ planes.slope.T + planes.offset, planes.edges[:-1], axis=1)
    assert (after <= before + 1e-12).all()
    assert all((np.abs(planes.slope - plane).sum(axis=1) == 0).any() for plane in used)
    assert not planes.slope[planes.edges[:-1]].any()  # the right ranking's plane stays first
