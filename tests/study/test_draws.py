"""Parameters that a random search draws: each integer of a range, and each value, as often."""

import numpy as np
import pytest

from lambdaplus.study.search_spaces import Range, draw

SHARES = np.arange(1000) / 1000


def test_each_integer_of_a_range_has_the_same_share() -> None:
    drawn = [Range(3, 6, integer=True).at(share) for share in SHARES]
    assert drawn == [3] * 250 + [4] * 250 + [5] * 250 + [6] * 250


def test_integers_on_a_log_scale_are_those_below_a_number_between_them() -> None:
    """From 1 to 3: below 2, the root of 4, for half of the shares."""
    numbers, of_three = Range(1, 3, log=True, integer=True), np.log(3) / np.log(4)
    shares = (0.0, 0.4999, 0.5001, of_three - 1e-9, of_three + 1e-9, 1 - 1e-12)
    assert [numbers.at(share) for share in shares] == [1, 1, 2, 2, 3, 3]


def test_numbers_are_between_both_ends() -> None:
    assert [Range(0.2, 1.0).at(share) for share in (0.0, 0.5)] == [0.2, 0.6]
    assert Range(0.01, 1.0, log=True).at(0.5) == pytest.approx(0.1)


def test_each_of_several_values_is_drawn_as_often() -> None:
    drawn = [draw({"x": ("a", "b", "c")}, 0, trial)["x"] for trial in range(3000)]
    counts = [drawn.count(value) for value in "abc"]
    assert min(counts) > 900  # of 1000, with a standard deviation of 26
