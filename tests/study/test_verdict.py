"""The verdict: the choice without tested queries, what a study sees, and what is said of it."""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from numpy.typing import NDArray
from scipy import stats
from small_data import letor_folder
from studies import of_digits

from lambdaplus.data import RankingData, cross_validation, digits_queries
from lambdaplus.evaluation.effects import Effect
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import Config, Fitted, Method, Results, Study, Summary, find_methods
from lambdaplus.study.crossed_choice import validated_apart
from lambdaplus.study.detectable import queries_that_see, seeds_that_see, seen, with_seeds
from lambdaplus.study.seeds import more_seeds, seeds_needed
from lambdaplus.study.tables import verdict_table
from lambdaplus.study.verdict import Verdict

FOLDS = ("1", "2", "3", "4", "5")


def trained(task: Any) -> Any:
    raise AssertionError(f"{task} is not to be trained here")


def results_of(values: NDArray[Any], names: Any = (), **config: Any) -> Results:
    """The results of methods with test values (methods, folds, seeds, queries) in rotated folds.

    The validation value of a fold is that on the test queries of the fold before, of one model.
    Methods called ours are of lambdaplus.
    """
    m, n_folds, n_seeds, n = values.shape
    names = [*names] or [f"method{j}" for j in range(m)]
    folds = [*map(str, range(1, n_folds + 1))]
    axes = itertools.product(names, folds, range(n_seeds))
    keys = pl.DataFrame(
        [*axes], {"method": pl.String, "fold": pl.String, "seed": pl.Int64}, orient="row"
    )
    keys = keys.with_columns(metric=pl.lit("map"))
    queries = pl.DataFrame(
        {"value": values.reshape(-1), "query": [*map(str, range(n))] * len(keys)}
    )
    rows = keys[np.repeat(np.arange(len(keys)), n)].hstack(queries)
    of_part_before = np.roll(values, 1, axis=1).mean(axis=3).reshape(-1)
    validation = keys.with_columns(value=pl.Series(of_part_before))
    whose = {name: lambda_objective("map") if "ours" in name else None for name in names}
    methods = {name: Method(name, trained, whose[name]) for name in names}
    seconds = keys.drop("metric").with_columns(
        trial=0, seconds=2.0, chosen=False, warnings=pl.lit("")
    )
    return Results(
        Config(seeds=tuple(range(n_seeds)), **config), methods, folds, ["map"], rows, seconds,
        seconds, validation, rules={"map": ""}, queries=n_folds * n,
    )  # fmt: skip


# The choice --------------------------------------------------------------------------------------


def test_of_equal_rankers_none_is_better_more_often_than_by_chance() -> None:
    """14 rankers on 100 queries, a baseline: 2.5 of 100 are expected, and at most 6 allowed.

    Chosen by all validation values, which are test values of the fold before, it was 12, the value
    of the chosen one was .031 too high, and 24 intervals were above the truth.
    """
    random, better, above, values = np.random.default_rng(1), 0, 0, []
    for _ in range(100):
        rankers = np.clip(random.normal(0.5, 0.3, (14, 5, 1, 20)), 0, 1)
        summary = Summary(results_of(rankers, baseline="method0"))
        better += "better than method0" in summary.conclusion()
        value, (low, _) = summary.expected(summary.choice("map"))
        above += low > 0.5
        values.append(value)
    assert better <= 6
    assert above <= 7
    # Six standard errors of this mean are .018: the value of the luckiest of 14 is .05 higher.
    assert abs(np.mean(values) - 0.5) < 3 * 0.3 / np.sqrt(100 * 100)


def test_equal_rankers_in_few_folds_are_corrected_for_the_choice() -> None:
    random, better = np.random.default_rng(2), 0
    for _ in range(60):
        rankers = random.normal(0.5, 0.1, (8, 3, 2, 20))
        summary = Summary(results_of(rankers, baseline="method0"))
        assert summary.choice("map", summary.others).by_fold is None
        better += "better than method0" in summary.conclusion()
        assert summary.main is not None
        assert summary.main.tests == 7
    assert better <= 4  # of 60 with 2.5 %, 4 are three standard errors above
    assert "Corrected for 7 possible choices" in summary.conclusion()


def test_a_fold_is_tested_with_the_choice_of_other_folds() -> None:
    """Of fold f, and of fold f + 1, which is validated on the test queries of f, nothing counts."""
    for place in range(5):
        values = np.full((2, 5, 1, 20), 0.5)
        values += np.random.default_rng(0).normal(0, 1e-3, values.shape)
        # Method 1 is far better on validation data of the two folds that must not count.
        values[1, [place - 1, place]] += 0.3
        values[0, [place - 4, place - 3, place - 2]] += 0.1
        choice = Summary(results_of(values)).choice("map")
        assert choice.best == "method1"
        assert choice.by_fold is not None
        assert choice.by_fold[FOLDS[place]][0] == "method0"
        runs = choice.runs()
        expected = [
            values[int(choice.by_fold[fold][0][-1]), number].mean()
            for number, fold in enumerate(FOLDS)
        ]
        assert [run["map"] for run in runs] == pytest.approx(expected)
        times = choice.times_chosen()
        assert sum(times.values()) == 5
        assert times["method0"] >= 1


def test_what_is_compared_is_named_where_the_choice_varies() -> None:
    """The difference is then that of the choices, not of the two methods that are best overall."""
    names = ("ours1", "ours2", "theirs1", "theirs2")
    for seed in range(20):
        values = np.clip(np.random.default_rng(seed).normal(0.5, 0.2, (4, 5, 1, 20)), 0, 1)
        summary = Summary(results_of(values, names))
        both = summary.contenders("map")
        main, table, text = summary.main, verdict_table(summary), summary.conclusion()
        assert main is not None
        assert table is not None
        own = values[names.index(main.first)].mean() - values[names.index(main.second)].mean()
        for one, words in zip(both, main.words, strict=True):
            times = one.times_chosen()
            varies = len(times) > 1 or one.best not in times
            assert words.startswith("the choice by other folds (") == varies
            assert all(name in words for name in times)
            assert words[1:] in text
        if main.words == (main.first, main.second):
            assert main.difference == pytest.approx(own)
        else:
            assert [line for line in table.foot if line.startswith("By MAP: the choice")
                    or " less the choice" in line]  # fmt: skip


def test_equal_values_are_no_proof_of_equality() -> None:
    values = np.tile(np.random.default_rng(0).uniform(size=(1, 5, 1, 20)), (2, 1, 2, 1))
    summary = Summary(results_of(values, ("ours", "theirs"), margin=0.01))
    assert summary.conclusion() == (
        "Open: ours less theirs is +.000 MAP, but differences do not vary, so nothing is known of "
        "other queries: use more queries, or train longer."
    )


def test_seeds_that_change_nothing_promise_nothing() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.2, (2, 5, 1, 20))
    twice = results_of(np.repeat(values, 2, axis=2), ("ours", "theirs"), see=0.001)
    text = Summary(twice).conclusion()
    assert text.endswith("smaller ones need more queries, since no seed changes the two methods.")
    assert "not yet .001" in text
    assert seeds_needed(Summary(twice), 1) == 2


def test_folds_that_share_no_queries_are_found_by_content() -> None:
    random = np.random.default_rng(0)
    data = RankingData(
        random.normal(size=(300, 3)), random.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    )
    tables = replace(data, qid=np.zeros(300, np.int64), grouped=False)
    for each in (cross_validation(data), cross_validation(tables), digits_queries()):
        apart = validated_apart(each)
        for place, fold in enumerate(each):
            left_out = {fold.name, each[(place + 1) % 5].name}
            assert {*apart[fold.name]} == {one.name for one in each} - left_out
    # Folds with validation data of their own say nothing of each other's tests.
    parts = [data.take_queries(np.arange(j, 30, 6)) for j in range(6)]
    first, second = (
        replace(fold, name=f"f{j}") for j, fold in enumerate(cross_validation(data)[:2])
    )
    own = [
        replace(first, valid=parts[0], test=parts[1]),
        replace(second, valid=parts[2], test=parts[3]),
    ]
    assert validated_apart(own) == {"f0": ["f1"], "f1": ["f0"]}
    # Other labels, or other numbers of queries, are other queries.
    other = replace(parts[1], labels=parts[1].labels + 1)
    assert validated_apart([own[0], replace(own[1], valid=other)])["f0"] == ["f1"]
    assert validated_apart([own[0], replace(own[1], valid=parts[1])])["f0"] == []


def test_folds_of_time_are_corrected() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, (3, 5, 1, 20))
    results = results_of(values)
    assert Summary(results).choice("map").tests == 1
    by_time = replace(results, config=replace(results.config, order="day"))
    assert Summary(by_time).choice("map").tests == 3
    assert "Corrected for 3 possible choices" in Summary(by_time).conclusion()


def test_the_saved_model_is_the_one_of_the_conclusion(tmp_path: Path) -> None:
    """Also where validation data prefers another one, which is worse on test data."""
    data = letor_folder(tmp_path / "data", folds=5, queries=10)
    options = ("--methods", "lightgbm:map,xgboost:map,lightgbm:lambdarank", "--metrics", "map",
               "--rounds", 6, "--jobs", 1, "--out", tmp_path / "out")  # fmt: skip
    for baseline in ((), ("--baseline", "lightgbm:lambdarank")):
        model = tmp_path / f"model{len(baseline)}"
        said = " ".join(
            invoke("compare", data, *options, *baseline, "--save-model", model).output.split()
        )
        saved = re.search(r"Model: (\S+), trained", said)
        assert saved is not None
        names = re.search(r"(\S+) (?:less|is better than|and) (\S+) (?:is|by|are)", said)
        assert names is not None
        assert saved[1] in names.groups()
        assert "keep it" not in said or baseline


# The error ---------------------------------------------------------------------------------------


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


# The sentence ------------------------------------------------------------------------------------


def said(gap: float, seeds: int = 2, names: Any = ("ours", "theirs"), **config: Any) -> str:
    return Summary(of_two(gap, seeds, names, **config)).conclusion()


def of_two(gap: float, seeds: int = 2, names: Any = ("ours", "theirs"), **config: Any) -> Results:
    """Two methods that differ by about a gap, by query with a standard deviation of .1."""
    random = np.random.default_rng(0)
    values = np.zeros((2, 5, seeds, 20))
    values += 0.5 + random.normal(0, 0.2, (1, 5, 1, 20))
    values[0] += gap + random.normal(0, 0.05, (5, 1, 20))
    values += random.normal(0, 0.05, values.shape)
    return results_of(values, names, **config)


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


def test_intervals_stay_in_the_range_of_the_metric() -> None:
    values = np.clip(np.random.default_rng(0).normal(0.1, 0.5, (2, 3, 1, 4)), 0, 1)
    low, high = Summary(results_of(values)).interval("method0", "map")
    assert 0.0 <= low < high <= 1.0
    wide = Verdict("map", "a", "b", Effect(0.5, 1.0, 3.0), tested=True, bounds=(-1.0, 1.0))
    assert wide.interval == (-1.0, 1.0)


# Seeds for a difference --------------------------------------------------------------------------


def test_seeds_and_queries_that_see_a_difference() -> None:
    """The error of more seeds is that of their variance; half of a difference needs four times."""
    effect = Effect(0.0, 0.01, 20.0, 0.25e-4)
    assert with_seeds(effect, 2, 6).error ** 2 == pytest.approx(0.25e-4 + 0.75e-4 / 3)
    for difference in (0.02, 0.022, 0.025):
        n = seeds_that_see(difference, effect, 2, 0.05)
        assert n is not None
        assert seen(with_seeds(effect, 2, n), 0.05) <= difference
        assert seen(with_seeds(effect, 2, n - 1), 0.05) > difference
    assert seeds_that_see(0.1, effect, 2, 0.05) == 2
    assert seeds_that_see(0.01, effect, 2, 0.05) is None  # queries are missing
    least = 0.005 * stats.norm.isf([0.025, 0.2]).sum()
    assert queries_that_see(1.0001 * least / 2, effect, 100, 0.05) == 400
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


# Patience ----------------------------------------------------------------------------------------


def test_a_metric_has_the_same_rounds_alone_and_in_company() -> None:
    """One whose patience has run out does not count again while others keep the training alive."""
    options = {"rounds": 120, "patience": 4, "n_folds": 3}
    rounds: dict[str, Any] = {}
    for metrics in (["map"], ["mrr"], ["map", "auc", "mrr", "ndcg@3"]):
        results = of_digits("lightgbm:lambdarank,xgboost:auc", *metrics, **options).results
        for metric in metrics:
            of_metric = results.fits.filter(metric=metric)
            found = of_metric.select("method", "fold", "round").rows()
            assert rounds.setdefault(metric, found) == found
            means = {name: results.mean(name, metric) for name in results.methods}
            assert rounds.setdefault(f"values of {metric}", means) == means
