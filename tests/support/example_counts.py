"""The number of examples of a hypothesis test."""

from hypothesis import settings


def examples(count: int) -> settings:
    """Settings of a hypothesis test: so many examples, or the share of them that the profile says.

    Profiles are in conftest.py.
    """
    return settings(max_examples=max(1, count * settings().max_examples // 100))
