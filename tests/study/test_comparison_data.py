"""The folds of a study."""

import datetime
import importlib.metadata
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import invoke
from scipy import stats
from sklearn.metrics import roc_auc_score
from small_data import graded, write_letor
from test_comparison import finished

from lambdaplus.evaluation import compare_runs, evaluate
from lambdaplus.study import Config, Summary, study_of
from lambdaplus.study.folds import read_study_data


def test_a_file_becomes_five_folds(tmp_path: Path) -> None:
    write_letor(tmp_path / "all.svm", *graded(20).ranking)
    folds = read_study_data(Config(data=str(tmp_path / "all.svm"))).folds
    assert [[part.n_queries for part in fold.parts] for fold in folds] == [[12, 4, 4]] * 5


def test_a_module_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by the installed command, which does not search that folder by itself."""
    (tmp_path / "beside_the_data.py").write_text(
        "from sklearn.base import BaseEstimator\n\n\n"
        "class First(BaseEstimator):\n"
        "    def fit(self, X, y):\n        return self\n\n"
        "    def predict(self, X):\n        return X[:, 0]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    options = ["--methods", "beside_the_data:First", "--folds", "1", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["lambdaplus", "compare", *options])
    [command] = importlib.metadata.entry_points(group="console_scripts", name="lambdaplus")
    with pytest.raises(SystemExit, match=r"^0$"):
        command.load()()
    assert "beside_the_data:First" in capsys.readouterr().out


# A table of one's own ----------------------------------------------------------------------------


def own_table(folder: Path, n: int = 400, **more: Any) -> Path:
    """Rows of 40 queries, with a category, text, weights and an index as of pandas."""
    rng = np.random.default_rng(0)
    x, shop = rng.normal(size=(n, 2)), rng.integers(0, 4, n)
    label = (x[:, 0] + shop + rng.normal(size=n) > 2.5).astype(int)
    frame = pl.DataFrame(
        {
            "": np.arange(n), "x": x[:, 0], "y": x[:, 1],
            "shop": [("north", "east", "", "west")[one] for one in shop],
            "title": [f"title {row}" for row in range(n)], "doc": np.arange(n) + 17,
            "weight": rng.uniform(0.5, 2.0, n), "qid": np.repeat(np.arange(n // 10), 10),
            "label": label,
        } | more
    )  # fmt: skip
    frame.write_csv(folder / "own.csv")
    return folder / "own.csv"


def test_columns_of_a_table_are_features_categories_weights_or_left_out(tmp_path: Path) -> None:
    file = own_table(tmp_path)
    read = read_study_data(Config(data=str(file), weight="weight"))
    assert read.folds[0].test.feature_names == ("x", "y", "shop")
    assert read.folds[0].test.categories == ("shop",)
    kinds = {one.name: one.kind for one in read.columns}
    assert kinds == {
        "": "left out", "x": "number", "y": "number", "shop": "category", "title": "left out",
        "doc": "left out",
    }  # fmt: skip
    [levels] = (one.levels for one in read.columns if one.levels)
    assert levels == ["east", "north", "west"]
    frame, whole = pl.read_csv(file), read.all_rows  # whose rows are in order
    assert whole is not None
    assert whole.weights is not None
    assert whole.weights.tolist() == frame["weight"].to_list()
    names = dict(enumerate(levels))
    shops = [names.get(code) for code in whole.features[:, 2]]
    assert shops == [shop or None for shop in frame["shop"]]
    assert None in shops
    assert " ".join(read.notes) == (
        "Categories: shop (3 values). Left out: a column without a name (row numbers that pandas "
        "wrote), title (text with 400 different values), doc (a number for nearly every row, as an "
        "identifier has; --features +doc keeps it). Weights: weight, in training and in validation "
        "values. In test means and in tests, each query counts equally."
    )
    study = study_of(Config(data=str(file), features=("+doc",)))
    assert study.notes[0].startswith("400 rows; 40 queries, ")
    assert study.notes[0].endswith("5 features: x, y, shop (category), doc, weight.")
    assert "pass --weight weight if it weights the rows" in " ".join(study.notes)
    study = study_of(Config(data=str(file), features=("x", "shop")))
    assert study.folds[0].train.feature_names == ("x", "shop")
    assert not any("Left out" in note for note in study.notes)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that a study may be asked for."""
    folder = tmp_path_factory.mktemp("files")
    own_table(folder, one=[1] * 400, few=[0, 1, 2, 2] * 100, mixed=["12", "a"] * 200)
    rows = "".join(f"{row // 2},{row % 2},,{row // 2}\n" for row in range(20))
    (folder / "holes.csv").write_text(f"qid,label,x,day\n{rows}")
    (folder / "a.txt").write_text("1 qid:1 1:0.5\n")
    return folder


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("own.csv --qid query", "has no column 'query'; it has: .* pass --qid none if the table"),
        (
            "own.csv --qid q --label l",
            "'q' and no 'l'; .* Name the columns as qid and label",
        ),
        ("own.csv --label title", "not a number. Labels are numbers, such as 1 for yes"),
        ("own.csv --drop shpo", r"--drop: there is no column 'shpo' \(did you mean 'shop'\?\)"),
        ("own.csv --features x --drop x", "'x' is in --features and in --drop"),
        ("own.csv --qid one --drop mixed", "'one' has the value 1 in all rows, .* pass --qid none"),
        ("own.csv --features title", "'title', cannot be a feature: text with 400 different"),
        ("holes.csv --features +x,+date", r"no column 'date'"),
        ("own.csv", "mixes numbers and text; .* leave it out with --drop mixed"),
        ("holes.csv --scaling query", "Fold1 train: missing or infinite features"),
        ("--label relevance", "are columns of CSV and Parquet files; the built-in"),
        ("a.txt --weight w", "so its columns have no names"),
        # Without queries
        (
            "own.csv --qid none --drop mixed --methods lightgbm:lambdarank",
            "lambdarank needs queries",
        ),
        ("own.csv --qid none --drop mixed --methods svm:auc", "svm:auc needs queries"),
        ("own.csv --qid none --drop mixed --methods lightgbm:ndcg", "lambda_ndcg needs queries"),
        (
            "own.csv --qid none --drop mixed --metrics ndcg@10",
            "the table has no queries: use",
        ),
        # By date
        ("holes.csv --order date", "holes.csv has no column 'date'.* Name the column as order"),
        ("holes.csv --order label", "order is the column of labels or weights, 'label'"),
        (
            "holes.csv --order day --gap 1",
            "a block of the 7 is shorter than the gap of 1",
        ),
        ("holes.csv --gap 1", "gap is a time before that of order: set order as well"),
        (". --order day", "--order are for a single file"),
        ("--order day", "order are columns of CSV and Parquet"),
    ],
)
def test_what_cannot_be_used_is_named(
    files: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.chdir(files)
    said = invoke("compare", *command.split(), "--out", "out", ends=2).output
    assert re.search(message, " ".join(said.split()))
    assert not Path("out").exists()  # it is said before the first fit


def test_columns_of_folders_are_chosen_by_name(tmp_path: Path) -> None:
    for part in ("train", "vali", "test"):
        own_table(tmp_path).rename(tmp_path / f"{part}.csv")
    config = Config(data=str(tmp_path), drop=("doc",), weight="weight")
    with pytest.warns(UserWarning, match="40 queries are in both .*train.csv and .*test.csv"):
        [fold], notes, *_ = read_study_data(config)
    assert fold.train.feature_names == ("x", "y")
    assert fold.train.weights is not None
    assert fold.train.weights.tolist() == pl.read_csv(tmp_path / "test.csv")["weight"].to_list()
    assert notes[0] == (
        "Left out: a column without a name (row numbers that pandas wrote), shop (text), title "
        "(text), doc (--drop)."
    )


def test_the_plan_of_a_folder_is_that_of_all_of_its_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"qid": [1, 1, 2], "label": [0, 1, 0], "x": [0.5, 1.5, 2.5]})
    parts = {
        "train": frame.with_columns(flag=pl.Series([True, False, True]), same=pl.lit(7)),
        "vali": frame.with_columns(flag=pl.Series([1, 0, 1]), same=pl.lit(7)),
        "test": frame.with_columns(flag=pl.Series([True, False, True]), same=pl.lit(7)),
    }
    for part, of_part in parts.items():
        of_part.with_columns(pl.col("qid") + 10 * [*parts].index(part)).write_csv(
            tmp_path / f"{part}.csv"
        )
    read = read_study_data(Config(data=str(tmp_path)))
    assert {one.name: (one.kind, bool(one.why)) for one in read.columns} == {
        "x": ("number", False), "flag": ("number", False), "same": ("number", True)
    }  # fmt: skip
    for fold in ("Fold1", "Fold2"):
        (tmp_path / fold).mkdir()
        for part, of_part in parts.items():
            named = "flag" if fold == "Fold1" else "other"
            of_part.with_columns(pl.col("qid") + 10 * [*parts].index(part)).rename(
                {"flag": named}
            ).write_csv(tmp_path / fold / f"{part}.csv")
    with pytest.raises(ValueError, match=r"Fold1.* the feature 'flag', .*Fold2.* no column 'flag'"):
        read_study_data(Config(data=str(tmp_path)))
    for part in parts:  # text in a fold, and numbers in the other
        file = tmp_path / "Fold2" / f"{part}.csv"
        pl.read_csv(file).rename({"other": "flag"}).with_columns(flag=pl.lit("a")).write_csv(file)
    with pytest.raises(
        ValueError, match=r"it is left out: text\. --drop flag leaves it out of all"
    ):
        read_study_data(Config(data=str(tmp_path)))
    assert read_study_data(Config(data=str(tmp_path), drop=("flag",))).folds
    only = read_study_data(Config(data=str(tmp_path), drop=("same",), features=("x",)))
    assert [one.kind for one in only.columns] == ["number", "left out"]
    with pytest.raises(ValueError, match="--categories is for a single file"):
        read_study_data(Config(data=str(tmp_path), categories=("x",)))


def test_a_table_without_queries_is_compared_by_rows(tmp_path: Path) -> None:
    file = own_table(tmp_path)
    options = ["--qid", "none", "--weight", "weight", "--drop", "qid,doc", "--rounds", "5"]
    by_default = {method.name for method in study_of(Config(data=str(file), qid="none")).methods}
    methods = ["lightgbm:binary", "xgboost:lambda_auc"]
    assert len(by_default) == 6
    assert by_default > {*methods, "xgboost:binary:logistic"}
    options += ["--methods", ",".join(methods), "--report", "--jobs", "1"]
    done = invoke("compare", file, *options, "--out", tmp_path / "out")
    assert all(name in done.output for name in methods)
    assert "as one ranking;" in done.output
    assert "MAP of all rows in one ranking is their average precision." in done.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "shop (category)" in page
    assert "Query by query" not in page
    config = Config.read(tmp_path / "out" / "study.toml")
    study = finished(config, tmp_path / "out")
    assert study.kept == len(study) == 5 * 2
    positives = [fold.test.labels.mean() for fold in study.folds]
    assert np.ptp(positives) < 1 / 80 + 1e-9  # one row of a fold
    tested = np.concatenate([fold.test.features[:, 0] for fold in study.folds])
    assert sorted(tested) == sorted(pl.read_csv(file)["x"])
    summary = Summary(study.results)
    for method in config.methods:
        aucs = [
            roc_auc_score(fold.test.labels, fit.test, sample_weight=fold.test.weights)
            for fit, fold in zip(study.chosen(method, "auc"), study.folds, strict=True)
        ]
        assert study.results.mean(method, "auc") == pytest.approx(np.mean(aucs))
        low, high = summary.interval(method, "auc")
        assert low < np.mean(aucs) < high


@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_folds_have_independent_errors(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    """Those of their means, also with a second seed that changes nothing."""
    config = Config(
        data=str(own_table(tmp_path)), qid="none", methods=("lightgbm:binary", "lightgbm:auc"),
        metrics=("auc",), rounds=3, seeds=seeds,
        grid={
            name: {"bagging_freq": [0], "feature_fraction_bynode": [1.0]}
            for name in ("lightgbm:binary", "lightgbm:lambda_auc")
        },
    )  # fmt: skip
    study = finished(config)
    summary = Summary(study.results)
    [pair] = summary.comparisons["auc"].pairs
    gaps = []
    for fold in study.folds:
        runs = {}
        for method in study.methods:
            one: Any = study.results.rows[method.name, fold.name, 0]["auc"]
            runs[method.name] = evaluate(one.labels, one.scores, metrics="auc")
        [alone] = compare_runs(runs).of("auc")
        gaps.append(alone.difference * (1 if alone.first == pair.first else -1))
    expected = stats.ttest_1samp(gaps, 0.0).confidence_interval(0.95)
    assert pair.interval == pytest.approx(tuple(expected))


def test_an_estimator_of_ones_own_ranks_rows_without_queries(tmp_path: Path) -> None:
    own, file = ("sklearn.linear_model:LogisticRegression",), str(own_table(tmp_path))
    config = Config(data=file, qid="none", methods=own, features=("x", "y", "shop"))
    assert finished(config).results.mean(own[0], "auc") > 0.6


# By date -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("qid", ["day", "list", "none"])
def test_folds_of_a_table_walk_forward_by_date(tmp_path: Path, kind: str, qid: str) -> None:
    random = np.random.default_rng(0)
    number = random.permutation(np.repeat(np.arange(15), 10))
    day = [datetime.date(2025, 12, 28) + datetime.timedelta(int(n)) for n in number]
    frame = pl.DataFrame(
        {"day": day, "list": number * 2 + random.integers(0, 2, 150), "x": number, "w": number + 1}
    ).with_columns(label=pl.Series(random.integers(0, 2, 150)))
    file = tmp_path / f"daily.{kind}"
    (frame.write_csv if kind == "csv" else frame.write_parquet)(file)
    options: dict[str, Any] = {"data": str(file), "qid": qid, "order": "day", "weight": "w"}
    options |= {"drop": ("list",)} if qid != "list" else {}
    folds, notes, *_ = read_study_data(Config(**options, gap="1d"))
    assert folds[0].train.feature_names == ("x",)
    # 15 days in 7 blocks: the first of 3, then 6 of 2 days each, of which the gap takes the last.
    assert [[{*part.features[:, 0]} for part in fold.parts] for fold in folds] == [
        [{*range(2 * i)}, {2 * i + 1}, {2 * i + 3, 2 * i + 4}] for i in range(1, 6)
    ]
    assert sum(fold.test.labels.size for fold in folds) == 100
    for part in (part for fold in folds for part in fold.parts):
        assert part.weights is not None
        assert part.weights.tolist() == (part.features[:, 0] + 1).tolist()
    assert notes[-7:-5] == [
        "Folds in time: each is validated, and then tested, on later rows than it is trained on.",
        "Fold1: training 2025-12-28 to 2025-12-29 (20 rows), validation 2025-12-31 (10 rows), "
        "test 2026-01-02 to 2026-01-03 (20 rows). Left out: 1d before validation "
        "(10 rows) and before test (10 rows).",
    ]


# The plan of the columns --------------------------------------------------------------------------

N = 4000
DAYS = [datetime.date(2025, 1, 1) + datetime.timedelta(row // 50) for row in range(N)]
SHUFFLED = np.random.default_rng(0).permutation(N)
SIGNED = (
    "numbers with signs or separators: write 12%, $12 or 1,200 as 12, 12 or 1200; "
    "--categories column makes it a category"
)
PLANNED: dict[str, tuple[Any, str, str]] = {  # cells, and kind and reason of a column
    "numbers": (SHUFFLED / 2, "number", ""),
    "counts": (SHUFFLED**2, "number", ""),
    "few": (SHUFFLED % 7, "number", ""),
    "flags": ([row % 3 == 0 for row in range(N)], "flag", ""),
    "400 shops": ([f"shop {row % 400}" for row in SHUFFLED], "category", ""),
    "items": ([f"name {row % 400}" for row in range(N)], "left out",
              "400 names of items, different in each row of a query, which new items do not have"),
    "dates": (DAYS, "left out", "dates: convert"),
    "German dates": ([f"{day:%d.%m.%Y}" for day in DAYS], "left out", "dates: convert"),
    "times": ([f"{day}T10:30:00Z" for day in DAYS], "left out", "dates: convert"),
    "dates as numbers": ([int(f"{day:%Y%m%d}") for day in DAYS], "left out",
                         "dates; --features +column keeps it"),
    **{
        f"numbers as {form(1234)}": ([form(row % 90 + 1000 * (row % 3 + 1)) for row in SHUFFLED],
                                     "left out", SIGNED)
        for form in (
            "{}%".format, "{:.1f} %".format, "${:,.2f}".format, "{} €".format, "-£{}".format,
            "{:,}".format, lambda x: f"{x:,}".replace(",", "\u202f"),
        )
    },
    "models": ([f"{row % 90 + 1000:_}" for row in SHUFFLED], "category", ""),
    "postal codes": ([f"110 {row % 90:03}" for row in SHUFFLED], "category", ""),
    "discounts in steps": ([f"{row % 20} %" for row in SHUFFLED], "category", ""),
    "ranges": ([f"{row % 7}-{row % 7 + 1}" for row in SHUFFLED], "category", ""),
    "sizes": ([f"{row % 7} kg" for row in SHUFFLED], "category", ""),
    "discounts": ([f"{row % 7}% off" for row in SHUFFLED], "category", ""),
    "row numbers": (np.arange(N) + 17, "left out", "a number for nearly every row, as an"),
    "shuffled row numbers": (SHUFFLED, "left out", "a number for nearly every row, as an"),
    "some numbers twice": (np.maximum(SHUFFLED, 200), "left out", "a number for nearly every"),
    "titles": ([f"title {row}" for row in range(N)], "left out", "text with 4,000 different"),
    "1,001 names": ([f"name {row % 1001}" for row in range(N)], "left out",
                    "text with 1,001 different values; --features +column makes it a category"),
    "the same in each query": (np.arange(N) // 10 * 0.1, "number", "the same in all rows of each"),
}  # fmt: skip


def planned(folder: Path, name: str, cells: Any, suffix: str, **options: Any) -> Any:
    """What a study makes of a column."""
    frame = pl.DataFrame({"qid": np.arange(N) // 10, "label": SHUFFLED % 2, "z": SHUFFLED / 3})
    frame = frame.with_columns(pl.Series(name, cells))
    file = folder / f"a.{suffix}"
    (frame.write_csv if suffix == "csv" else frame.write_parquet)(file)
    [found] = (one for one in read_study_data(Config(data=str(file), **options)).columns
               if one.name == name)  # fmt: skip
    return found


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("cells", "kind", "why"), PLANNED.values(), ids=PLANNED)
def test_each_column_has_a_kind_and_a_reason(
    tmp_path: Path, suffix: str, cells: Any, kind: str, why: str
) -> None:
    found = planned(tmp_path, "column", cells, suffix)
    assert found.kind == kind
    assert found.why.startswith(why)
    assert bool(found.why) == bool(why)
    if "--categories" in found.why:
        kept = planned(tmp_path, "column", cells, suffix, categories=("column",))
        assert kept.kind == "category"
    if "--features" in found.why:  # the option does what is said of it
        kept = planned(tmp_path, "column", cells, suffix, features=("+column",))
        assert kept.kind == ("category" if "makes it a category" in found.why else "number")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "name", ["id", "item_id", "movieId", "ITEM ID", "docno", "item", "sku", "TickerNo"]
)
def test_whole_numbers_named_as_identifiers_are_left_out(
    tmp_path: Path, suffix: str, name: str
) -> None:
    assert planned(tmp_path, name, SHUFFLED % 100, suffix).why == (
        f"an identifier, by its name; --features +{name} keeps it, --categories {name} makes it a "
        "category"
    )
    found = planned(tmp_path, name, SHUFFLED % 100, suffix, categories=(name,))
    assert (found.kind, len(found.levels)) == ("category", 100)
    assert planned(tmp_path, name, SHUFFLED % 100, suffix, features=(name,)).kind == "number"
    assert planned(tmp_path, name, SHUFFLED / 7, suffix).kind == "number"


def test_what_the_type_declares_is_a_category_of_any_number_of_levels(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "qid": np.arange(N) // 10, "label": SHUFFLED % 2,
            "codes": pd.Categorical(SHUFFLED % 1500), "names": pd.Categorical(
                [f"name {number % 1500}" for number in SHUFFLED]),
        }
    )  # fmt: skip
    frame.to_parquet(tmp_path / "a.parquet")
    read = read_study_data(Config(data=str(tmp_path / "a.parquet")))
    assert {one.name: (one.kind, len(one.levels)) for one in read.columns} == {
        "codes": ("category", 1500), "names": ("category", 1500)
    }  # fmt: skip
    assert read.all_rows is not None
    codes = [int(read.columns[0].levels[int(code)]) for code in read.all_rows.features[:, 0]]
    assert codes == (SHUFFLED % 1500).tolist()


@pytest.mark.parametrize("name", ["day", "title"])
def test_a_named_column_is_a_feature_or_refused(tmp_path: Path, name: str) -> None:
    cells = DAYS if name == "day" else [f"title {row}" for row in range(N)]
    message = "dates: convert what recurs" if name == "day" else "text with 4,000 different values"
    for option in (name, f"+{name}"):
        with pytest.raises(ValueError, match=f"--features: .* cannot be a feature: {message}"):
            planned(tmp_path, name, cells, "csv", features=(option,))
