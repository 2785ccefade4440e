"""The report shows the results of a study, loads nothing, and is the same for the same fits."""

import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from lambdaplus.data import digits_queries
from lambdaplus.evaluation.result_tables import decimal
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import (
    Config,
    Results,
    Study,
    Summary,
    find_methods,
    write_report,
    write_tables,
)
from lambdaplus.study.boosted_trainer import train_lightgbm
from lambdaplus.study.methods import Method
from lambdaplus.study.plots import learning_curves
from lambdaplus.study.summary_tables import ABOVE, BELOW, results_table, verdict_table
from lambdaplus.study.tasks import Fitted

HOSTILE = "svm:<script>alert('x')</script>&\"$title"


def by_first_feature(*_: Any) -> Fitted:
    return Fitted(lambda part: np.asarray(part.features[:, 0], dtype=np.float64))


def make_study(folder: Path | None) -> Study:
    """Four methods on five folds: two that boost, one with a hostile name, one that fails."""
    methods = [
        *find_methods("lightgbm:lambda_map,lightgbm:lambda_auc"),
        Method(HOSTILE, by_first_feature, "first", "ndcg@5", grid={"C": [0.1, 1.0]}),
        Method("lightgbm:broken", train_lightgbm, "no<such>objective", "map"),
    ]
    metrics = [parse_metric(name) for name in ("map", "ndcg@5", "auc")]
    study = Study(
        digits_queries(), methods, metrics, Config(rounds=4), folder=folder,
        notes=("Features are those of <b>pixels</b>.",),
    )  # fmt: skip
    list(study.run())
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("fits"))


@pytest.fixture(scope="module")
def results(study: Study) -> Results:
    return study.results


ABOUT = {"config_text": "rounds = 4 # <&>", "data": "set", "date": "today"}


@pytest.fixture(scope="module")
def folder(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    assert write_report(Summary(results), folder, **ABOUT) == folder / "report.html"
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


class Reader:
    """The page as XML, which is well-formed: rows of tables, ids, and all that is shown."""

    def __init__(self, page: str) -> None:
        code = r"<(script|style)>.*?</\1>"
        root = ElementTree.fromstring(re.sub(code, "", page, flags=re.DOTALL))
        self.tags = {one.tag.rpartition("}")[2] for one in root.iter()}
        self.attributes = [item for one in root.iter() for item in one.items()]
        self.ids = [value for name, value in self.attributes if name == "id"]
        self.shown = "".join(root.itertext())
        self.tables = [
            [[self.text(cell) for cell in row] for row in table.iter("tr")]
            for table in root.iter("table")
        ]

    @staticmethod
    def text(cell: Any) -> str:
        """The value of a cell, and its mark behind a line."""
        mark = cell.find("sup")
        return "".join(cell.itertext()) if mark is None else f"{cell.text}|{mark.text}"


def against(results: Results, baseline: str) -> Results:
    return replace(results, config=replace(results.config, baseline=baseline))


def page_of(folder: Path, results: Results) -> str:
    return write_report(Summary(results), folder).read_text(encoding="utf-8")


def test_page_is_well_formed_and_loads_nothing(page: str) -> None:
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids)) > 20
    links = [v for k, v in reader.attributes if k.endswith("href")]
    assert len(links) > 7
    # Besides places of the page only the icon, which a browser would ask the server for.
    assert {*links} - {f"#{place}" for place in reader.ids} == {"data:,"}
    clips = {v for k, v in reader.attributes if k == "clip-path"}
    assert clips <= {f"url(#{place})" for place in reader.ids}
    assert not reader.tags & {"img", "iframe", "object", "embed", "image", "base", "form"}
    rest = re.sub(r' xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", page).replace("url(#", "")
    for word in ("http:", "https:", "src=", "@import", "url(", "<iframe", "fetch(", "<image"):
        assert word not in rest


def test_page_shows_the_means_and_the_tests_of_the_study(page: str, results: Results) -> None:
    verdicts, [heads, *rows], *_ = Reader(page).tables
    ours, means = ("lightgbm:lambda_map", "lightgbm:lambda_auc"), results.validation_means
    for row, metric in zip(verdicts[1:], results.metrics, strict=True):
        best = max(ours, key=lambda name: means[name, metric])
        assert row[:2] == [metric.upper(), best + HOSTILE]  # in two lines
    assert heads == ["method", "MAP", "NDCG@5", "AUC", "time"]
    first = [HOSTILE, "lightgbm:broken"]  # lambdaplus's own follow
    assert [row[0] for row in rows] == [*first, *ours]
    assert f"Of lambdaplus: {', '.join(ours)}." in page
    marks = []
    for method, *cells, _ in rows:
        for metric, cell in zip(results.metrics, cells, strict=True):
            value, _, mark = cell.partition("|")
            mean = results.mean(method, metric)
            assert value == ("\N{EN DASH}" if math.isnan(mean) else f"{mean:.4f}".lstrip("0"))
            marks.append(mark)
    assert {*marks} == {"", "*", BELOW}
    assert page.split("</table>")[1].count('class="number best"') == marks.count("*")
    [pairs] = [table for table in Reader(page).tables if table[0][:2] == ["metric", "run"]]
    assert len(pairs) == 1 + 3 * 2  # each against the one that validation data chooses


def test_text_is_escaped(page: str) -> None:
    reader = Reader(page)
    assert page.count("<script") == 1
    for text in (HOSTILE, "rounds = 4 # <&>", "Features are those of <b>pixels</b>."):
        assert text in reader.shown
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_page_begins_with_data_conclusions_and_errors(page: str, results: Results) -> None:
    beginning = page.partition("<main>")[0]
    shown = Reader(page).shown
    assert '<p class="lead">set; today</p>' in beginning
    assert "Both are chosen on validation data; diff.: lambdaplus minus other" in beginning
    for metric in ("MAP", "NDCG@5", "AUC"):  # each was a criterion of some method
        assert f'<th scope="row">{metric}</th>' in beginning
    assert list(results.errors) == ["lightgbm:broken"]
    assert results.errors["lightgbm:broken"] in shown
    assert "5 of 25 fits are not finished" in shown


@pytest.mark.slow
def test_same_fits_give_the_same_bytes_in_any_style(
    folder: Path, study: Study, tmp_path: Path
) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "figure.dpi": 50}):
        write_report(Summary(make_study(study.folder).results), tmp_path, **ABOUT)
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert len(names) == 1 + 2 * 4  # page; three differences, the curves of the first metric
    for name in names:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


@pytest.mark.usefixtures("empty_plots")
def test_comparison_with_a_baseline_unless_it_failed(results: Results, tmp_path: Path) -> None:
    shown = Reader(page_of(tmp_path, against(results, HOSTILE))).shown
    assert f"{ABOVE} significantly above {HOSTILE}; {BELOW} significantly below it." in shown
    assert f"minus that of {HOSTILE}:" in shown
    page = page_of(tmp_path, against(results, "lightgbm:broken"))
    assert "The baseline lightgbm:broken could not be compared" in page


@pytest.mark.usefixtures("empty_plots")
def test_studies_with_few_results(study: Study, results: Results, tmp_path: Path) -> None:
    alone = Study(study.folds, study.methods[:1], study.metrics, study.config)
    with pytest.raises(ValueError, match="run the study first"):
        write_report(Summary(alone.results), tmp_path)
    seeds = replace(results.config, seeds=(3, 7))
    one = replace(results, methods=dict([*results.methods.items()][:1]), config=seeds)
    reader = Reader(page_of(tmp_path, one))
    assert "and over the seeds 3, 7. Higher is better." in reader.shown
    table = reader.tables[0]
    assert [row[0] for row in table] == ["method", "lightgbm:lambda_map"]
    assert f"0{table[1][1]}".removesuffix("|*") == f"{results.mean(table[1][0], 'map'):.4f}"
    failed = Study(study.folds, study.methods[3:], study.metrics, study.config)
    list(failed.run())
    reader = Reader(page_of(tmp_path, failed.results))
    assert failed.errors["lightgbm:broken"] in reader.shown


def test_learning_curves_end_where_training_ended() -> None:
    keys = {"method": "a", "seed": 0, "metric": "map"}
    rows = [
        {**keys, "fold": fold, "round": place, "value": value}
        for fold, values in {"1": (0.9, 0.3), "2": (0.1, 0.2, 0.8)}.items()
        for place, value in enumerate(values, start=1)
    ]
    [axes] = learning_curves("MAP", pl.DataFrame(rows)).axes
    lines = [line.get_ydata().tolist() for line in axes.lines]  # type: ignore[union-attr]
    assert lines == [[0.9, 0.3], [0.1, 0.2, 0.8], pytest.approx([0.5, 0.25])]


def test_csv_and_parquet_have_the_values(results: Results, tmp_path: Path) -> None:
    write_tables(results, tmp_path)
    frame = pl.read_parquet(tmp_path / "per_query.parquet")
    assert pl.read_csv(tmp_path / "per_query.csv").cast(dict(frame.schema)).equals(frame)
    summary = pl.read_csv(tmp_path / "summary.csv")
    keys = ["method", "metric"]
    by_fold = frame.pivot("fold", index=keys, values="value", aggregate_function="mean")
    means = by_fold.with_columns(mean=pl.mean_horizontal(results.folds)).select(summary.columns)
    assert_frame_equal(summary, means, check_row_order=False, abs_tol=1e-12)
    for method, metric, mean, *folds in summary.rows():
        assert mean == results.mean(method, metric)
        assert folds == [*results.fold_means(method, metric).values()]


@pytest.mark.parametrize(("missing", "extra"), [("matplotlib", "plot"), ("jinja2", "cli")])
def test_missing_package_is_named(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=re.escape(f"lambdaplus[{extra}]")):
        write_report(Summary(results), tmp_path)


def values_of(means: dict[str, float], valid: dict[str, float] | None = None) -> Results:
    """Results of methods on five folds of 20 queries; values are their means with noise."""
    random = np.random.default_rng(0)
    same = {"seed": 0, "metric": pl.lit("map")}
    folds = [str(fold) for fold in range(1, 6)]
    values = pl.concat(
        pl.DataFrame(
            {
                "fold": np.repeat(folds, 20),
                "query": [*map(str, range(100))],
                "value": random.normal(mean, 0.1, 100),
            }
        ).with_columns(method=pl.lit(name), **same)
        for name, mean in means.items()
    )
    whose = {name: lambda_objective("map") if "ours" in name else None for name in means}
    methods = {name: Method(name, by_first_feature, whose[name], "map") for name in means}
    none = pl.DataFrame(schema={"chosen": pl.Boolean, "warnings": pl.String}
                        | dict.fromkeys(("method", "fold", "seed", "trial"), pl.String)
                        | {"seconds": pl.Float64})  # fmt: skip
    validation = pl.DataFrame({"method": list(means), "value": list((valid or means).values())})
    validation = validation.with_columns(fold=pl.lit("1"), **same)
    rest = {"rules": {"map": ""}, "queries": 100}
    return Results(Config(), methods, folds, ["map"], values, none, none, validation, **rest)


@pytest.mark.parametrize(
    ("baseline", "marks"),
    [("", {"a": "*", "b": BELOW, "c": BELOW, "d": BELOW}), ("b", {"a": ABOVE, "c": BELOW})],
)
def test_marks_say_what_is_significant(baseline: str, marks: dict[str, str]) -> None:
    results = against(values_of({"a": 0.7, "b": 0.5, "c": 0.3, "d": 0.5}), baseline)
    rows = results_table(Summary(results)).rows
    assert {row[0]: row[1].mark for row in rows if row[1].mark != " "} == marks


def test_the_verdict_compares_the_best_of_ours_with_the_best_of_the_others() -> None:
    def said(baseline: str = "", **means: float) -> list[str]:
        return [one.outcome for one in Summary(against(values_of(means), baseline)).verdicts]

    assert said(ours=0.7, ours2=0.2, theirs=0.5, theirs2=0.1) == ["better"]
    assert said(ours=0.3, theirs=0.5, theirs2=0.1) == ["worse"]
    assert said(ours=0.5, theirs=0.5) == [""]
    # Two of one side are compared as well, the one that validation data prefers first.
    assert said(ours=0.5, ours2=0.1) == said(theirs=0.5, theirs2=0.1) == ["better"]
    assert said(theirs=0.5) == []
    # With a baseline, the best of all others is compared with it.
    assert said("theirs2", ours=0.3, theirs=0.5, theirs2=0.7) == ["worse"]


def test_verdicts_are_about_the_methods_that_validation_data_chooses() -> None:
    test = {"ours": 0.7, "ours2": 0.3, "theirs": 0.6, "theirs2": 0.1}
    results = values_of(test, {"ours": 0.1, "ours2": 0.2, "theirs": 0.2, "theirs2": 0.1})
    for baseline in ("", "theirs"):
        [verdict] = Summary(against(results, baseline)).verdicts
        assert (verdict.first, verdict.second) == ("ours2", "theirs")
        expected = results.mean("ours2", "map") - results.mean("theirs", "map")
        assert verdict.difference == pytest.approx(expected)
        assert verdict.interval[0] < expected < verdict.interval[1] < 0
        assert verdict.outcome == "worse"


def with_one_training(results: Results) -> Results:
    """All queries as those of one fold."""
    return replace(results, folds=["1"], values=results.values.with_columns(fold=pl.lit("1")))


def test_one_training_of_each_method_has_no_arrow_and_says_what_would_give_one() -> None:
    results = with_one_training(values_of({"ours": 0.7, "theirs": 0.5}))
    summary = Summary(results)
    [verdict] = summary.verdicts
    assert verdict.outcome == ""
    assert np.isnan([verdict.p_value, verdict.p_corrected, *verdict.interval]).all()
    table = results_table(summary)
    assert {row[1].mark for row in table.rows} == {"*", " "}
    assert not [note for note in table.foot if "Significant" in note]
    assert summary.conclusion() == (
        f"Open: ours less theirs is {decimal(verdict.difference, 3, '+')} MAP, but one training of "
        "each cannot tell them from chance: --seeds 3."
    )
    fixed = {name: replace(method, random=False) for name, method in results.methods.items()}
    said = Summary(replace(results, methods=fixed)).conclusion()
    assert said.endswith("use more folds, since no seed changes them.")
    # Seeds with other values are trainings; those of equal values are not.
    for noise, tested in ((0.01, True), (0.0, False)):
        random = np.random.default_rng(0)
        again = results.values.with_columns(
            seed=1, value=pl.col("value") + noise * random.normal(size=len(results.values))
        )
        both = replace(
            results, values=pl.concat([results.values.with_columns(seed=pl.lit(0)), again]),
            config=replace(results.config, seeds=(0, 1)),
        )  # fmt: skip
        [verdict] = Summary(both).verdicts
        assert bool(verdict.outcome) == tested
        note = "No variance between seeds, which do not change: ours, theirs."
        seconds = pl.DataFrame({"method": ["ours", "theirs"], "fold": "1", "seed": 0, "trial": 0,
                                "seconds": 1.0, "chosen": False, "warnings": ""})  # fmt: skip
        foot = results_table(Summary(replace(both, fits=seconds))).foot
        assert (note in foot) == (not tested)


def test_queries_without_a_value_are_counted_below_each_table() -> None:
    results = values_of({"ours": 0.7, "theirs": 0.5})
    some = pl.when(pl.col("query").cast(int) % 4 == 0).then(None).otherwise(pl.col("value"))
    summary = Summary(replace(results, values=results.values.with_columns(value=some)))
    verdicts = verdict_table(summary)
    assert verdicts is not None
    for table in (verdicts, results_table(summary)):
        assert "No value on 25 of 100 queries, which are left out: MAP." in table.foot


def test_a_fold_without_a_value_leaves_no_mean() -> None:
    results = values_of({"a": 0.7, "b": 0.3})
    empty = results.values.with_columns(fold=pl.lit("6"), value=pl.lit(None, pl.Float64))
    both = replace(results, folds=[*results.folds, "6"], values=pl.concat([results.values, empty]))
    assert math.isnan(both.mean("a", "map"))
    row, _ = results_table(Summary(both)).rows
    assert math.isnan(row[1].value)
