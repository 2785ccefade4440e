"""Holm's correction and Wilcoxon's test, by their definitions."""

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lambdaplus.evaluation.significance import holm, rounded, wilcoxon


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=6))
@examples(60)
def test_holm_is_its_definition(p: list[float]) -> None:
    """Rejected at alpha: those before the first, in order of size, with p > alpha / (m - rank)."""
    corrected, m = holm(np.array(p)), len(p)
    for alpha in (0.01, 0.05, 0.2, 0.7):
        rejected = set()
        for rank, i in enumerate(sorted(range(m), key=lambda i: p[i])):
            if p[i] * (m - rank) > alpha:
                break
            rejected.add(i)
        assert {i for i in range(m) if corrected[i] <= alpha} == rejected
    with_nan = holm(np.array([np.nan, *p]))
    assert np.isnan(with_nan[0])
    assert with_nan[1:].tolist() == corrected.tolist()


def test_wilcoxon_is_exact_without_the_queries_that_do_not_differ() -> None:
    few = np.array([0.0] * 19 + [-0.1, -0.2, -0.3])
    assert wilcoxon(few) == (pytest.approx(2 / 2**3), -6.0)


@given(st.lists(st.sampled_from([-0.9, -0.2, -0.1, 0.0, 0.1, 0.3]), min_size=2, max_size=12))
@examples(60)
def test_the_direction_is_that_of_the_smaller_one_sided_p(difference: list[float]) -> None:
    found = np.array(difference)
    nonzero = found[found != 0.0]
    less, greater = (
        [stats.wilcoxon(nonzero, alternative=side).pvalue for side in ("less", "greater")]
        if nonzero.size
        else (1.0, 1.0)
    )
    assert np.sign(wilcoxon(rounded(found))[1]) == np.sign(round(less - greater, 9))
