"""The verdict of a study: what is said of a difference, and what the study sees."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_up_results import of_two, results_of
from scipy import stats

from lambdaplus.evaluation.effects import Effect
from lambdaplus.study import Summary
from lambdaplus.study.verdict import Verdict


def said(gap: float, seeds: int = 2, names: Any = ("ours", "theirs"), **config: Any) -> str:
    return Summary(of_two(gap, seeds, names, **config)).conclusion()


def test_a_difference_that_is_found_is_said_with_its_interval() -> None:
    for gap, better in (
        (0.1, "ours is better than theirs by"),
        (-0.1, "theirs is better than ours by"),
    ):
        text = said(gap)
        main = Summary(of_two(gap)).main
        assert main is not None
        low, high = sorted(f"{abs(bound):.3f}"[1:] for bound in main.interval)
        assert text == f"{better} {abs(main.difference):.3f} MAP ({low} to {high}).".replace(
            " 0.", " ."
        )
        assert "keep" not in text
    assert said(-0.1, baseline="theirs").endswith("): keep it.")
    assert "keep" not in said(0.1, baseline="theirs")
    assert said(0.1, baseline="ours").endswith("): keep it.")


def test_an_open_difference_says_what_would_be_seen() -> None:
    summary = Summary(of_two(0.0))
    main = summary.main
    assert main is not None
    assert not main.outcome
    text = summary.conclusion()
    low, high = (f"{bound:+.3f}".replace("0.", ".") for bound in main.interval)
    assert f"MAP ({low} to {high}). This study sees differences from" in text
    # Eighty percent of studies with this error find this difference, by a simulation of its test.
    sees = float(re.findall(r"from (\.\d+) on", text)[0])
    error, freedom = main.effect.error, main.effect.freedom
    random = np.random.default_rng(0)
    t = (sees + error * random.normal(size=20000)) / (
        error * np.sqrt(random.chisquare(freedom, 20000) / freedom)
    )
    assert np.mean(np.abs(t) > stats.t.isf(0.025, freedom)) == pytest.approx(0.8, abs=0.02)
    then, least, half, queries = map(
        float,
        re.findall(r"--seeds 3 \(it continues, about \d+ s of training\) sees about (\.\d+); below "
                   r"about (\.\d+) no number of seeds does: (\.\d+) needs about (\d+) ", text)[0],
    )  # fmt: skip
    assert least < then < sees
    assert half == pytest.approx(least / 2, abs=0.001)
    assert queries == pytest.approx(400, rel=0.02)  # four times as many for half of it
    assert "20 s of training" in text  # 2 methods, 5 folds, 2 s each


def test_one_seed_promises_at_most() -> None:
    text = said(0.0, seeds=1)
    assert re.search(r"--seeds 3 .* sees about \.\d+ or less\.$", text)
    assert "number of seeds" not in text


def test_methods_that_no_seed_changes_need_queries() -> None:
    results = of_two(0.0, seeds=1)
    fixed = {name: replace(method, random=False) for name, method in results.methods.items()}
    text = Summary(replace(results, methods=fixed)).conclusion()
    assert text.endswith("smaller ones need more queries, since no seed changes the two methods.")


def test_one_degree_of_freedom_gives_no_verdict_but_advice() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.2, (2, 2, 1, 20))
    results = results_of(values, ("ours", "theirs"))
    summary = Summary(results)
    assert summary.main is not None
    assert not summary.main.tested
    assert np.isnan([*summary.main.interval, *summary.interval("ours", "map")]).all()
    assert "2 folds with 1 seed are too few for a test: --seeds 3" in summary.conclusion()
    again = results_of(np.repeat(values, 3, axis=2) + np.random.default_rng(1).normal(
        0, 0.01, (2, 2, 3, 20)), ("ours", "theirs"))  # fmt: skip
    assert "This study sees" in Summary(again).conclusion()


def test_two_of_one_side_have_a_sentence() -> None:
    for names in (("ours", "ours2"), ("theirs", "theirs2")):
        assert said(0.1, names=names).startswith(f"{names[0]} is better than {names[1]} by ")
    assert Summary(results_of(np.ones((1, 5, 1, 20)))).conclusion() == ""


@pytest.mark.parametrize(("margin", "equal"), [(0.05, True), (0.01, False)])
def test_a_margin_offers_equality(margin: float, equal: bool) -> None:
    """By two one-sided t-tests at .05."""
    text = said(0.005, margin=margin)
    effect = Summary(of_two(0.005)).main.effect  # type: ignore[union-attr]
    sides = [(margin - effect.mean) / effect.error, (margin + effect.mean) / effect.error]
    assert (max(stats.t.sf(sides, effect.freedom)) < 0.05) == equal
    assert text.startswith(f"ours and theirs are equal within .{1000 * margin:03.0f} MAP") == equal
    assert ("90 % interval" in text) == equal


def test_equality_is_at_the_level_of_two_one_sided_tests() -> None:
    """Of which each has the quantile 1.6449, and not the 1.96 of a two-sided one."""
    verdict = Verdict("map", "a", "b", Effect(0.0, 0.01, 1e9), tested=True)
    assert verdict.is_within(0.01645)
    assert not verdict.is_within(0.01644)


def test_the_best_of_three_is_corrected_by_bonferroni() -> None:
    verdict = Verdict("map", "a", "b", Effect(0.02, 0.01, 1e9), tested=True, tests=3)
    assert verdict.p_value == pytest.approx(6 * stats.norm.sf(2.0))
    assert verdict.interval[0] == pytest.approx(0.02 - 0.01 * stats.norm.isf(0.05 / 6))
    assert replace(verdict, tests=30).p_value == 1.0


def test_intervals_stay_in_the_range_of_the_metric() -> None:
    values = np.clip(np.random.default_rng(0).normal(0.1, 0.5, (2, 3, 1, 4)), 0, 1)
    low, high = Summary(results_of(values)).interval("method0", "map")
    assert 0.0 <= low < high <= 1.0
    wide = Verdict("map", "a", "b", Effect(0.5, 1.0, 3.0), tested=True, bounds=(-1.0, 1.0))
    assert wide.interval == (-1.0, 1.0)


def test_a_method_has_an_interval_without_validation_values() -> None:
    """Those of a metric that has none there, while test queries have."""
    results = results_of(np.random.default_rng(0).normal(0.5, 0.1, (2, 5, 1, 20)))
    summary = Summary(replace(results, validation=results.validation.clear()))
    low, high = summary.interval("method0", "map")
    assert low < results.mean("method0", "map") < high
    assert summary.conclusion() == ""


def test_equal_values_are_no_proof_of_equality() -> None:
    values = np.tile(np.random.default_rng(0).uniform(size=(1, 5, 1, 20)), (2, 1, 2, 1))
    summary = Summary(results_of(values, ("ours", "theirs"), margin=0.01))
    assert summary.conclusion() == (
        "Open: ours less theirs is +.000 MAP, but differences do not vary, so nothing is known of "
        "other queries: use more queries, or train longer."
    )


def test_more_seeds_see_more() -> None:
    """No second or third seed lowers the power, with the components of MQ2008."""
    random, found = np.random.default_rng(0), dict.fromkeys((1, 2, 3), 0)
    for _ in range(150):
        shape = (2, 5, 3, 113)
        values = 0.085 * random.standard_t(5, shape) / np.sqrt(5 / 3)
        values += 0.004 * random.normal(size=(2, 5, 3, 1))
        values[0] += 0.01 + 0.02 * random.normal(size=(5, 1, 113))
        for seeds in found:
            main = Summary(results_of(values[:, :, :seeds], ("ours", "theirs"))).main
            assert main is not None
            found[seeds] += main.outcome == "better"
    assert found[1] < found[2] < found[3]
    assert found[3] > 0.65 * 150  # 78 % of many, less three standard errors
