"""Comparisons of data as strangers bring it: what the output says of columns, rows and rounds."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import invoke
from scipy.stats import spearmanr
from strangers import clicks, fraud, stocks

from lambdaplus.data.column_kinds import are_codes, is_position, tells_rows_apart
from lambdaplus.study import Config, Summary, study_of
from lambdaplus.study.advice import advice
from lambdaplus.study.data_warnings import follows_rows
from lambdaplus.study.fits import Fit
from lambdaplus.study.over_time import OverTime
from lambdaplus.study.rounds_in_words import rounds_in_words
from lambdaplus.study.words import Nouns

METHODS = ("lightgbm:binary", "lightgbm:map")


def written(folder: Path, frame: pd.DataFrame, **options: Any) -> Config:
    file = folder / "data.csv"
    frame.to_csv(file, index=False)
    return Config(str(file), **options)


def notes(folder: Path, frame: pd.DataFrame, **options: Any) -> str:
    return " ".join(study_of(written(folder, frame, **options)).notes)


@pytest.fixture(scope="module")
def log() -> pd.DataFrame:
    return clicks(sessions=150, items=100, days=10)


CLICKS: dict[str, Any] = {"qid": "session", "label": "clicked", "methods": METHODS}


# Columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "right"),
    [
        *((name, True) for name in (
            "position", "Position", "POS", "pos", "rank", "slot", "shown_at", "shownAt", "Shown-At",
            "displayed at", "display_position", "itemPosition", "rank_shown", "srp rank",
            "list_index", "display_order", "position_in_list", "old_rank",
        )),
        *((name, False) for name in (
            "sales_rank", "page_rank", "PageRank", "bm25_rank", "positive", "geo_position",
            "postal", "popularity", "slots_free", "price", "shown_price",
        )),
    ],
)  # fmt: skip
def test_names_of_positions(name: str, right: bool) -> None:
    assert is_position(name, "label", grouped=True) == right
    assert is_position(name, "clicked", grouped=False) == right
    assert not is_position(name, "is_fraud", grouped=False)


@pytest.mark.parametrize("name", ["position", "Rank", "shown_at"])
def test_a_logged_position_is_left_out_unless_it_is_asked_for(
    tmp_path: Path, log: pd.DataFrame, name: str
) -> None:
    frame = log.rename(columns={"position": name})
    said = notes(tmp_path, frame, **CLICKS)
    assert f"{name} (where a row was shown, by its name" in said
    assert f"see Position bias in the documentation; --features +{name} keeps it)" in said
    kept = study_of(written(tmp_path, frame, **CLICKS, features=(f"+{name}",)))
    assert name in kept.folds[0].train.feature_names


def test_a_rank_is_a_feature_of_real_valued_labels_and_without_whole_numbers(
    tmp_path: Path, log: pd.DataFrame
) -> None:
    returns = log.rename(columns={"position": "rank"}).assign(clicked=lambda t: t["price"] / 7)
    said = study_of(written(tmp_path, returns, qid="session", label="clicked"))
    assert "rank" in said.folds[0].train.feature_names
    shares = log.rename(columns={"position": "rank"}).assign(rank=log["text_match"].rank(pct=True))
    assert "rank" in study_of(written(tmp_path, shares, **CLICKS)).folds[0].train.feature_names


def test_a_feature_along_the_rows_is_named_whatever_its_name(
    tmp_path: Path, log: pd.DataFrame
) -> None:
    hidden = log.rename(columns={"position": "zz"}).assign(page=lambda t: (t["zz"] - 1) // 4)
    said = notes(tmp_path, hidden, **CLICKS)
    assert "2 features rise or fall along the rows of nearly every session: zz, page." in said
    assert "--drop zz,page leaves them out" in said
    mixed = hidden.sample(frac=1, random_state=0)
    assert "along the rows" not in notes(tmp_path, mixed, **CLICKS)


def test_what_follows_the_rows() -> None:
    cuts = np.arange(0, 601, 12)
    row, random = np.tile(np.arange(12.0), 50), np.random.default_rng(0)
    for rising in (row, -row, row // 5, np.exp(row), row == 0, row + 0.1 * random.random(600)):
        assert follows_rows(np.asarray(rising, dtype=np.float64), cuts)
    query = np.repeat(np.arange(50.0), 12)
    for other in (random.permutation(row), query, np.zeros(600), row % 2, np.full(600, np.nan)):
        assert not follows_rows(other, cuts)


def test_items_are_left_out_and_codes_are_hinted_at(tmp_path: Path, log: pd.DataFrame) -> None:
    said = notes(tmp_path, log, **CLICKS)
    assert (
        "sku (99 names of items, by its name, which new items do not have; --features +sku" in said
    )
    kept = study_of(written(tmp_path, log, **CLICKS, features=("+sku",)))
    assert "sku" in kept.folds[0].train.categories
    said = notes(tmp_path, fraud(rows=2000, share=0.05), qid="none", label="is_fraud")
    assert "mcc is used as a number, but its 89 whole numbers look like codes: --categories" in said
    assert "card_age_days is" not in said


def test_codes_and_items_by_their_values() -> None:
    random = np.random.default_rng(0)
    codes = random.choice(random.choice(np.arange(1000, 10_000), 60, replace=False), 3000)
    assert are_codes("x", codes)
    assert are_codes("zip_code", codes % 100)
    for quantity in (codes * 10 // 10 % 100, 5 * (codes // 5), random.poisson(5, 3000), codes / 2):
        assert not are_codes("x", np.asarray(quantity, dtype=np.float64))
    query = np.repeat(np.arange(100), 10)
    each_once = np.concatenate([random.permutation(60)[:10] for _ in range(100)])
    assert tells_rows_apart(each_once, query)
    assert not tells_rows_apart(random.integers(0, 60, 1000), query)
    assert not tells_rows_apart(np.tile(np.arange(10), 100), query)


def test_a_feature_that_is_the_label_is_named(tmp_path: Path, log: pd.DataFrame) -> None:
    def said(frame: pd.DataFrame) -> str:
        asked = {**CLICKS, "methods": ("lightgbm:binary",), "metrics": ("map",), "rounds": 5}
        study = study_of(written(tmp_path, frame, **asked))
        study.finish()
        return " ".join(advice(Summary(study.results), study))

    order = log["clicked"] + np.random.default_rng(0).normal(0, 0.1, len(log))
    for leak in (-order, order.where(log["clicked"] > 0)):
        found = said(log.assign(later=leak))
        assert re.search(r"later alone reaches MAP (1\.0|\.9)\d+ on validation data", found)
        assert "leave it out (--drop later)" in found
    assert "later alone" in said(log.assign(later=np.where(log["clicked"] > 0, "paid", "open")))
    assert "alone reaches" not in said(log)


# Queries -----------------------------------------------------------------------------------------


def test_one_large_query_and_queries_of_one_label_are_named(
    tmp_path: Path, log: pd.DataFrame
) -> None:
    assert "of the positives" not in notes(tmp_path, log, **CLICKS)
    clicked = log[log["clicked"] == 1]
    large = pd.concat([log, clicked.assign(session="none given"), clicked.assign(session="x")])
    n = len(clicked)
    large.loc[(large["session"] == "x").to_numpy(), "clicked"] = 0
    said = notes(tmp_path, large, **CLICKS)
    assert f"One session, none given, has 50% of the positives ({n:,} of {2 * n:,})" in said
    few = log.assign(clicked=log["clicked"] * (log["session"] < "s000060"))
    alike = int((few.groupby("session")["clicked"].max() == 0).sum())
    assert f"Most sessions ({alike} of 150) have one label in all" in notes(tmp_path, few, **CLICKS)


@pytest.mark.parametrize(
    ("qid", "right"),
    [
        ("session", ("session", "sessions")), ("date", ("date", "dates")), ("day", ("day", "days")),
        ("user_id", ("user", "users")), ("SearchId", ("search", "searches")),
        ("customer-id", ("customer", "customers")), ("city", ("city", "cities")),
        ("qid", ("query", "queries")), ("query_id", ("query", "queries")),
        ("id", ("query", "queries")),
        ("srch_id", ("query", "queries")), ("q7", ("query", "queries")), ("none", ("row", "rows")),
    ],
)  # fmt: skip
def test_queries_are_called_by_their_column(qid: str, right: tuple[str, str]) -> None:
    assert Nouns.of(qid)[:2] == right


# Rounds ------------------------------------------------------------------------------------------


def chosen(*rounds: int, rate: float = 0.05) -> dict[str, list[Fit]]:
    return {
        "m": [
            Fit("m", f"Fold{i}", 0, 0, rounds=n, parameters={"learning_rate": rate})
            for i, n in enumerate(rounds)
        ]
    }


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ((8, 12, 300, 4, 20), "among the first 20 for m (8, 12, 300, 4, 20)"),
        ((8, 12, 300, 4, 20), "Lower the rate: --rate 0.01 (now 0.05)."),
        ((30, 40, 50, 210, 60), "differ 7-fold or more between folds for m (30 to 210)"),
        ((30, 40, 50, 210, 60), "--patience 160 stops later (now 80)"),
        ((490, 500, 499, 100, 200), "at the last of 500 rounds in 3 of 5 trainings of m"),
        ((490, 500, 499, 100, 200), "--rounds 1000 goes on"),
        ((490, 500, 100, 200), "in 2 of 4 trainings of m"),
        ((30, 40, 50, 209, 60), ""),
        ((490, 500, 100, 100, 200), ""),
    ],
)
def test_rounds_say_which_option_helps(rounds: tuple[int, ...], message: str) -> None:
    said = " ".join(rounds_in_words(chosen(*rounds), Config(rounds=500, patience=80)))
    assert message in said
    assert bool(said) == bool(message)


def test_no_option_is_named_that_changes_nothing() -> None:
    """All of few rounds are among the first, and patience cannot be longer than the training."""
    assert not [*rounds_in_words(chosen(1, 2, 2), Config(rounds=40, patience=80))]
    [said] = rounds_in_words(chosen(3, 40, 90), Config(rounds=160, patience=80))
    assert "--patience" not in said
    assert "a metric of more pairs" in said


def test_with_trials_the_rate_is_in_the_grid() -> None:
    [said] = rounds_in_words(chosen(3), Config(rounds=500, patience=80, trials=5))
    assert "add lower values of learning_rate to the grid" in said


# Over time ---------------------------------------------------------------------------------------


def test_values_by_date_have_a_mean_a_ratio_and_an_autocorrelation(tmp_path: Path) -> None:
    frame = stocks(names=30, days=84)
    asked: dict[str, Any] = {"qid": "date", "label": "forward_return", "order": "date"}
    methods = ("lightgbm:regression", "lightgbm:regression(labels=ranks)")
    study = study_of(written(tmp_path, frame, **asked, gap="7d", methods=methods, rounds=5))
    study.finish()
    found = OverTime.of(study.results, "lightgbm:regression", "spearman")
    assert found is not None
    by_date = {}
    for fit in study.chosen("lightgbm:regression", "spearman"):
        [fold] = [fold for fold in study.folds if fold.name == fit.fold]
        for date in np.unique(fold.test.qid):
            rows = fold.test.qid == date
            by_date[date] = spearmanr(fold.test.labels[rows], fit.test[rows]).statistic
    values = pd.Series(by_date).sort_index()
    assert found.lags == 5  # trading days in a week
    np.testing.assert_array_equal(found.times.astype("M8[D]").astype(str), values.index)
    np.testing.assert_allclose(found.values, values)
    a = values - values.mean()
    right = [(a * a.shift(lag)).sum() / (a * a).sum() for lag in range(1, 6)]
    np.testing.assert_allclose(found.autocorrelation, right)
    said = " ".join(advice(Summary(study.results), study))
    ratio = f"{values.mean() / values.std():.2f}".replace("0.", ".")
    assert f"on average over {len(values)} dates, standard deviation" in said
    assert f"ratio of both {ratio}; autocorrelation" in said


# From file to decision ---------------------------------------------------------------------------

WORDS_OF_OTHERS = re.compile(r"\b(query|queries|documents?|relevant)\b")


@pytest.mark.parametrize("kind", ["clicks", "fraud", "stocks"])
def test_the_output_is_in_the_users_words(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pd.DataFrame
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, options = {
        "clicks": (log, "--qid session --label clicked --order time --methods lightgbm:binary,"
                   "lightgbm:map"),
        "fraud": (fraud(rows=1500, share=0.06), "--label is_fraud --qid none --order time "
                  "--gap 1d --methods lightgbm"),
        "stocks": (stocks(names=20, days=84), "--qid date --label forward_return --order date "
                   "--gap 7d --methods lightgbm:regression,lightgbm:spearman"),
    }[kind]  # fmt: skip
    frame.to_csv("data.csv", index=False)
    arguments = f"compare data.csv {options} --rounds 8 --jobs 1 --report"
    output = invoke(*arguments.split(), "--save-model", "model").output
    assert not WORDS_OF_OTHERS.findall(output.replace("per_query", ""))
    assert "Fold5: training 2026-" in output
    assert "better than" in output or "Open: " in output
    page = Path("lambdaplus-compare/report.html").read_text().partition('id="protocol"')[0]
    shown = re.sub(r"<(style|script|svg|pre).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not WORDS_OF_OTHERS.findall(shown)
    assert ("Over time" in shown) == (kind == "stocks")
    lines = invoke("predict", "model", "data.csv").stdout.split()
    assert len(lines) == len(frame)
