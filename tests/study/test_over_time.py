"""How many dates a gap is: labels of so many dates overlap."""

import numpy as np

from lambdaplus.study.over_time import dates_in_gap


def test_a_gap_is_as_many_dates_as_it_has_in_the_later_half() -> None:
    """Twenty weeks and then twenty days: the first dates have fewer before them."""
    start = np.datetime64("2026-01-05")
    weeks = start + 7 * np.arange(20)
    days = weeks[-1] + np.arange(1, 21)
    times = np.concatenate([weeks, days])
    assert dates_in_gap(times, "7d") == 7
    assert dates_in_gap(times, "30d") == 10  # a quarter of the dates at most
    assert dates_in_gap(times, "12h") == 1
    assert dates_in_gap(times, "") == 1
