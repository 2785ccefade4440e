"""The progress of a training against the definition of the best round and of patience."""

import math

from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.metrics.progress import Progress


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, math.nan]), max_size=12),
    st.none() | st.integers(1, 5),
    st.integers(1, 3),
)
def test_a_training_is_over_after_rounds_without_improvement(
    values: list[float], patience: int | None, every: int
) -> None:
    progress = Progress(patience)
    assert (progress.best, progress.best_round, progress.over) == (-math.inf, 0, False)
    for n, value in enumerate(values, start=1):
        progress.add(n * every, value)
        seen = [v for v in values[:n] if not math.isnan(v)]
        best = values.index(max(seen)) + 1 if seen else 0
        assert progress.best_round == best * every
        assert progress.best == max(seen, default=-math.inf)
        assert progress.over == (patience is not None and (n - best) * every >= patience)
    assert progress.rounds == [n * every for n in range(1, len(values) + 1)]
    assert repr(progress.values) == repr(values)
