"""The progress of a training against the definition of the best round and of patience."""

import math

from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.metrics.progress import Progress


def test_no_rounds_have_no_best_and_without_patience_there_is_no_end() -> None:
    progress = Progress(patience=1)
    assert (progress.best, progress.best_round, progress.over) == (-math.inf, 0, False)
    endless = Progress()
    endless.add(2, 0.5)
    endless.add(400, 0.5)
    assert (endless.best_round, endless.over) == (2, False)


@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, math.nan]), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_a_training_is_over_after_rounds_without_improvement(
    values: list[float], patience: int, every: int
) -> None:
    progress = Progress(patience)
    for n, value in enumerate(values, start=1):
        progress.add(n * every, value)
        seen = [v for v in values[:n] if not math.isnan(v)]
        best = values.index(max(seen)) + 1 if seen else 0
        assert progress.best_round == best * every
        assert progress.best == max(seen, default=-math.inf)
        assert progress.over == ((n - best) * every >= patience)
    assert progress.rounds == [n * every for n in range(1, len(values) + 1)]
    assert len(progress.values) == len(values)
