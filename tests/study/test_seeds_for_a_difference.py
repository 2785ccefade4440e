"""How many seeds and queries see a difference, and a study that adds them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_results import of_two, results_of
from numpy.typing import NDArray
from scipy import stats

from lambdaplus.data import RankingData, digits_queries
from lambdaplus.evaluation.effects import Effect
from lambdaplus.study import Config, Fitted, Method, Study, Summary, find_methods
from lambdaplus.study.detectable import queries_that_see, seeds_that_see, seen, with_seeds
from lambdaplus.study.seeds import more_seeds, seeds_needed


def test_seeds_that_change_nothing_promise_nothing() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.2, (2, 5, 1, 20))
    twice = results_of(np.repeat(values, 2, axis=2), ("ours", "theirs"), see=0.001)
    text = Summary(twice).conclusion()
    assert text.endswith("smaller ones need more queries, since no seed changes the two methods.")
    assert "not yet .001" in text
    assert seeds_needed(Summary(twice), 1) == 2


def test_seeds_and_queries_that_see_a_difference() -> None:
    """The error of more seeds is that of their variance; half of a difference needs four times."""
    effect = Effect(0.0, 0.01, 20.0, 0.25e-4)
    assert with_seeds(effect, 2, 6).error ** 2 == pytest.approx(0.25e-4 + 0.75e-4 / 3)
    assert with_seeds(effect, 2, 6).freedom == 100.0  # 20 with one degree of two seeds
    for difference in (0.02, 0.022, 0.025):
        n = seeds_that_see(difference, effect, 2, 0.05)
        assert n is not None
        assert seen(with_seeds(effect, 2, n), 0.05) <= difference
        assert seen(with_seeds(effect, 2, n - 1), 0.05) > difference
    assert seeds_that_see(0.1, effect, 2, 0.05) == 2
    assert seeds_that_see(0.01, effect, 2, 0.05) is None  # queries are missing
    least = 0.005 * stats.norm.isf([0.025, 0.2]).sum()
    assert queries_that_see(1.0001 * least / 2, effect, 100, 0.05) == 400
    assert queries_that_see(0.9995 * least / 2, effect, 100, 0.05) == 401  # and not 400.4
    assert more_seeds((1, 3), 5) == (1, 3, 0, 2, 4)
    assert more_seeds((0,), 1) == (0,)


def test_see_adds_seeds_within_the_budget() -> None:
    results = of_two(0.0, see=0.018)
    needed = seeds_needed(Summary(results), 1)
    assert 2 < needed < 20
    # A seed of both methods takes 20 s on five folds.
    in_time = replace(results, config=replace(results.config, budget=1.0))
    assert seeds_needed(Summary(in_time), 1) == 3
    assert seeds_needed(Summary(in_time), 4) == min(needed, 12)
    nearly_four = replace(results, config=replace(results.config, budget=1.3))
    assert seeds_needed(Summary(nearly_four), 1) == 3
    too_little = replace(results, config=replace(results.config, budget=0.1))
    assert seeds_needed(Summary(too_little), 1) == 2  # those that there are
    missing = replace(results, config=replace(results.config, see=0.001))
    assert seeds_needed(Summary(missing), 1) == 2
    text = Summary(missing).conclusion()
    assert re.search(r"no number of seeds does: \.001 needs about [\d,]+ queries", text)


def by_seed(task: Any) -> Fitted:
    """Scores of the images' brightness, with noise by seed and fold."""
    noise = 3.0 * np.random.default_rng([task.seed, len(task.train.labels)]).normal(size=100_000)

    def predict(data: RankingData) -> NDArray[np.float64]:
        return np.asarray(data.features[:, 0] + noise[: len(data.labels)], np.float64)

    return Fitted(predict)


def test_a_study_continues_until_it_sees(tmp_path: Path) -> None:
    """The added seeds follow from the first pass alone, and fits are kept."""
    methods = [*find_methods("feature:best"), Method("noisy", by_seed, "noisy")]

    def study(**config: Any) -> Study:
        return Study(digits_queries(), methods, ["map"], Config(**config), tmp_path)

    first = study(seeds=(0, 1))
    first.finish()
    main = Summary(first.results).main
    assert main is not None
    asked = seen(with_seeds(main.effect, 2, 4), 0.05) * 1.0001
    seeing = study(see=asked)
    seeing.finish()
    assert seeing.kept == len(first) == 15  # one of each fold that no seed changes
    assert seeing.seeds == seeing.results.config.seeds == (0, 1, 2, 3)
    assert seeing.config.seeds == (0, 1)  # so that a written configuration repeats the study
    assert len(seeing) == 25
    assert {fit.seed for fit in seeing.fits if fit.method == "noisy"} == {0, 1, 2, 3}
    assert len(seeing.results.runs("noisy")) == 20
    again = study(see=asked)
    again.finish()
    assert again.kept == 25
    assert again.seeds == seeing.seeds


@pytest.mark.parametrize("option", ["rounds", "patience", "rate", "margin", "see", "every"])
def test_zero_is_no_default(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be a"):
        Config(**{option: 0})
    with pytest.raises(ValueError, match="set see as well"):
        Config(budget=3.0)
