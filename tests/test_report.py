"""The report: its numbers are the study's, it loads nothing, and the same fits give it again."""

from __future__ import annotations

import csv
import html
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lambdaplus.data import digits_queries
from lambdaplus.evaluation import RunComparison, Table, compare_runs, evaluate
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Settings, Study, find_methods, write_csv, write_parquet
from lambdaplus.study.boosting import train_lightgbm
from lambdaplus.study.differences import comparison, significantly_below
from lambdaplus.study.figures import BETTER, SERIES, WORSE, save_plot
from lambdaplus.study.lead import in_words
from lambdaplus.study.line_plots import learning_curves_of
from lambdaplus.study.markup import table_of
from lambdaplus.study.methods import Fitted, Method
from lambdaplus.study.outputs import OURS, OutputFolder
from lambdaplus.study.plots import plots_of, shares, training_time
from lambdaplus.study.report import write_report
from lambdaplus.study.shown_metrics import main_metrics
from lambdaplus.study.study_tables import marked_results

HOSTILE = "svm:<script>alert('x')</script>&\"$title"
VOID = {"meta", "link", "input", "br"}


def by_first_feature(*_: Any) -> Fitted:
    return Fitted(lambda part: np.asarray(part.features[:, 0], dtype=np.float64))


def make_study(folder: Path | None) -> Study:
    """Four methods on two folds: two that boost, one with a hostile name, one that fails."""
    methods = [
        *find_methods("lightgbm:lambda_map,lightgbm:lambda_auc"),
        Method(HOSTILE, by_first_feature, "first", "ndcg@5", grid={"C": [0.1, 1.0]}),
        Method("lightgbm:broken", train_lightgbm, "no<such>objective", "map"),
    ]
    metrics = [parse_metric(name) for name in ("map", "ndcg@5", "auc")]
    study = Study(digits_queries()[:2], methods, metrics, Settings(rounds=4), folder=folder)
    list(study.run())
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return make_study(tmp_path_factory.mktemp("fits"))


@pytest.fixture(scope="module")
def folder(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    assert write_report(study, folder, config_text="rounds = 4 # <&>") == folder / "report.html"
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Balanced tags, unique ids, rows of tables by section, and all that is loaded or shown."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.tables: list[list[list[str]]] = []
        self.marks: list[str] = []
        self.shown = ""
        self.feed(page)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = [(name, value or "") for name, value in attrs]
        self.attributes += found
        self.ids += [value for name, value in found if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
        elif tag == "sup":
            self.tables[-1][-1][-1] += "|"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data
        if "script" not in self.open and "style" not in self.open:
            self.shown += data


def test_the_page_is_well_formed(page: str) -> None:
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids)) > 20
    targets = [v[1:] for k, v in reader.attributes if k in ("href", "xlink:href") and v[:1] == "#"]
    assert len(targets) > 10
    assert set(targets) <= set(reader.ids)
    clips = {v for k, v in reader.attributes if k == "clip-path"}
    assert {clip.removeprefix("url(#").removesuffix(")") for clip in clips} <= set(reader.ids)


def test_results_are_those_of_the_study_and_of_compare_runs(page: str, study: Study) -> None:
    heads, *rows = Reader(page).tables[0]
    assert heads == ["method", "letter", "map", "ndcg@5", "auc", "seconds"]
    assert [row[0] for row in rows] == [method.name for method in study.methods]
    runs = {m.name: study.evaluation(m) for m in study.methods[:3]}
    found = compare_runs({name: run for name, run in runs.items() if run is not None})
    assert [row[1] for row in rows] == ["a", "b", "c", ""]
    letters = dict(zip(found.names, "abc", strict=True))
    marked = 0
    for method, row in zip(study.methods, rows, strict=True):
        for metric, cell in zip(study.metrics, row[2:-1], strict=True):
            value, _, marks = cell.partition("|")
            mean = study.mean(method, metric)
            assert value == ("\N{EN DASH}" if math.isnan(mean) else f"{mean:.4f}")
            beaten = {
                pair.second if pair.first == method.name else pair.first
                for pair in found.of(metric)
                if method.name in (pair.first, pair.second)
                and pair.p_corrected < found.alpha
                and (pair.difference > 0) == (pair.first == method.name)
            }
            assert set(marks) == {letters[name] for name in beaten}
            marked += len(marks)
    assert marked > 0
    assert math.isnan(study.mean(study.methods[3], study.metrics[0]))


def test_pairs_have_the_counts_of_compare_runs(page: str, study: Study) -> None:
    runs = {m.name: study.evaluation(m) for m in study.methods[:3]}
    found = compare_runs({name: run for name, run in runs.items() if run is not None})
    tables = [table for table in Reader(page).tables if table[0][:2] == ["method", "against"]]
    assert len(tables) == len(study.metrics)
    for metric, (_, *rows) in zip(study.metrics, tables, strict=True):
        for pair, row in zip(found.of(metric), rows, strict=True):
            assert row[:2] == [pair.first, pair.second]
            assert row[4:7] == [str(n) for n in (pair.wins, pair.losses, pair.ties)]
            for p, cell in zip((pair.p_value, pair.p_corrected), row[7:], strict=True):
                assert cell == (f"{p:.4f}" if p >= 5e-5 else "<0.0001")


def test_the_page_loads_nothing(page: str) -> None:
    without_names = re.sub(r' xmlns(:xlink)?="http://www\.w3\.org/[^"]*"', "", page)
    for word in ("http:", "https:", "src=", "@import", "url(", "<iframe", "fetch(", "<image"):
        rest = without_names.replace("url(#", "") if word == "url(" else without_names
        assert word not in rest
    reader = Reader(page)
    assert not reader.tags & {"img", "iframe", "object", "embed", "image", "base", "form"}
    links = {v for k, v in reader.attributes if k in ("href", "xlink:href") and v[:1] != "#"}
    assert links == {"data:,"}  # the icon, which a browser would ask the server for


def test_no_text_becomes_markup(page: str) -> None:
    reader = Reader(page)
    assert page.count("<script") == 1
    assert HOSTILE in reader.shown
    assert "rounds = 4 # <&>" in reader.shown
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_what_failed_is_said_with_its_error(page: str, study: Study) -> None:
    reader = Reader(page)
    assert list(study.errors) == ["lightgbm:broken"]
    assert study.errors["lightgbm:broken"] in reader.shown
    assert "2 of 10 fits are not finished" in reader.shown


@pytest.mark.slow
def test_the_same_fits_give_the_same_bytes(folder: Path, study: Study, tmp_path: Path) -> None:
    again = make_study(study.folder)
    write_report(again, tmp_path, config_text="rounds = 4 # <&>")
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert len(names) == 1 + 4 + 2 * 7  # page; tables; time, matrix, three differences, two curves
    for name in names:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_style_of_the_user_changes_nothing(folder: Path, study: Study, tmp_path: Path) -> None:
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "figure.dpi": 50}):
        save_plot(training_time(study), tmp_path, "training_time")
    for name in ("training_time.svg", "training_time.png"):
        assert (tmp_path / name).read_bytes() == (folder / "plots" / name).read_bytes()


@pytest.mark.usefixtures("empty_plots")
def test_a_baseline_has_stars_and_one_that_failed_is_left_aside(
    study: Study, tmp_path: Path
) -> None:
    chosen = HOSTILE
    by_map = Study(
        study.folds, study.methods, study.metrics[:1], study.settings, folder=study.folder
    )
    list(by_map.run())
    page = write_report(by_map, tmp_path, baseline=chosen).read_text(encoding="utf-8")
    reader = Reader(page)
    marks = {cell.partition("|")[2] for row in reader.tables[0] for cell in row[1:]}
    assert marks - {""} <= {"*", "**", "***"}
    assert marks - {""}
    assert f"minus that of {chosen}:" in reader.shown
    page = write_report(by_map, tmp_path, baseline="lightgbm:broken").read_text(encoding="utf-8")
    assert "The baseline lightgbm:broken could not be compared" in page
    with pytest.raises(ValueError, match="not one of the methods"):
        write_report(by_map, tmp_path, baseline="nonsense")


@pytest.mark.usefixtures("empty_plots")
def test_studies_with_little_in_them(study: Study, tmp_path: Path) -> None:
    alone = Study(
        study.folds, study.methods[:1], study.metrics, study.settings, folder=study.folder
    )
    with pytest.raises(ValueError, match="run the study first"):
        write_report(alone, tmp_path)
    list(alone.run())
    reader = Reader(write_report(alone, tmp_path).read_text(encoding="utf-8"))
    assert reader.tables[0][1][2] == f"{alone.mean(alone.methods[0], alone.metrics[0]):.4f}"
    failed = Study(study.folds, study.methods[3:], study.metrics, study.settings)
    list(failed.run())
    reader = Reader(write_report(failed, tmp_path / "failed").read_text(encoding="utf-8"))
    assert failed.errors["lightgbm:broken"] in reader.shown
    begun = Study(
        study.folds, study.methods[:2], study.metrics[:1], replace(study.settings, rounds=3)
    )
    next(iter(begun.run()))
    reader = Reader(write_report(begun, tmp_path / "begun").read_text(encoding="utf-8"))
    assert "3 of 4 fits are not finished" in reader.shown


def test_a_metric_of_whole_folds_has_no_plot_by_query(study: Study) -> None:
    metrics = [parse_metric(name) for name in ("auc(over=dataset)", "ndcg@3")]
    pooled = Study(study.folds, study.methods[:2], metrics, study.settings, folder=study.folder)
    list(pooled.run())
    names = [name for name, _ in plots_of(pooled)]
    assert [name for name in names if "differences" in name] == ["differences_ndcg_3"]


def published(study: Study, folder: Path, made: Path) -> None:
    write_report(study, made)
    with OutputFolder(folder) as out:
        out.publish(made, outdated=["plots/", "tables/"])


@pytest.mark.usefixtures("empty_plots")
def test_what_a_former_report_left_is_removed_and_nothing_else(
    study: Study, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    published(study, tmp_path, tmp_path_factory.mktemp("first"))
    former = {path for path in tmp_path.rglob("*") if path.is_file()}
    theirs = [tmp_path / "plots" / name for name in ("mine.png", "differences.txt", "map.svg")]
    theirs += [tmp_path / "tables" / "pairs.csv", tmp_path / "differences_map.png"]
    for path in theirs:
        path.write_text("mine")
    theirs.append(tmp_path / "plots" / "differences_auc.png")
    theirs[-1].write_text("mine")  # as lambdaplus wrote it, until I drew into it
    alone = Study(
        study.folds, study.methods[:1], study.metrics[:1], study.settings, folder=study.folder
    )
    list(alone.run())
    second = tmp_path_factory.mktemp("second")
    published(alone, tmp_path, second)
    fresh = {path.relative_to(second) for path in second.rglob("*.*")}
    assert {tmp_path / name for name in fresh} < former
    left = {path for path in tmp_path.rglob("*.*") if path.is_file()}
    left = {path for path in left if OURS not in path.parts}
    assert left == {tmp_path / name for name in fresh} | set(theirs)
    assert all(path.read_text() == "mine" for path in theirs)


def test_results_as_markdown_and_latex(folder: Path, study: Study) -> None:
    for ending in ("md", "tex"):
        text = (folder / "tables" / f"results.{ending}").read_text(encoding="utf-8")
        for row in marked_results(study, None).rows[:3]:
            for cell in row[2:-1]:
                assert f"{cell.value:.4f}" in text
        assert "Holm" in text


def test_curves_go_on_with_the_best_value(study: Study) -> None:
    curves = learning_curves_of(study)
    assert {name: list(lines) for name, lines in curves.items()} == {
        "map": ["lightgbm:lambda_map"],
        "auc": ["lightgbm:lambda_auc"],
    }
    kept = [choice.fit.curve for choice in study.results["lightgbm:lambda_map"]]
    assert curves["map"]["lightgbm:lambda_map"] == pytest.approx(np.mean(kept, axis=0))
    first = study.results["lightgbm:lambda_map"]
    first[0] = replace(first[0], fit=replace(first[0].fit, curve=np.array([0.9, 0.3])))
    try:
        curve = learning_curves_of(study)["map"]["lightgbm:lambda_map"]
    finally:
        study.__dict__.pop("results")
    assert curve == pytest.approx((np.array([0.9, 0.3, 0.9, 0.9]) + kept[1]) / 2)


def test_heat_is_by_column() -> None:
    nan = math.nan
    means = np.array([[0.2, 0.5, nan, nan], [0.4, 0.5, 0.1, nan], [0.3, 0.5, 0.2, nan]])
    expected = np.array([[0, 1, nan, nan], [1, 1, 0, nan], [0.5, 1, 1, nan]])
    np.testing.assert_allclose(shares(means), expected, atol=1e-12)


def test_colours_can_be_told_from_both_pages() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colour in {*SERIES, BETTER, WORSE}:
        for page in ("#ffffff", "#0d1117"):
            low, high = sorted((luminance(colour), luminance(page)))
            assert (high + 0.05) / (low + 0.05) >= 3, (colour, page)  # WCAG 2.1, 1.4.11


def test_parquet_has_the_rows_of_the_csv(study: Study, tmp_path: Path) -> None:
    import polars

    write_csv(study, tmp_path)
    write_parquet(study, tmp_path)
    frame = polars.read_parquet(tmp_path / "per_query.parquet")
    with (tmp_path / "per_query.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert frame.columns == list(rows[0])
    assert len(rows) == frame.height > 0
    for row, found in zip(rows, frame.iter_rows(named=True), strict=True):
        assert row == {k: "" if v is None else str(v) for k, v in found.items()}


@pytest.mark.parametrize("missing", ["matplotlib", "polars"])
def test_what_is_not_installed_is_named(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    extra = {"matplotlib": "plot", "polars": "dataframe"}[missing]
    write = {"matplotlib": write_report, "polars": write_parquet}[missing]
    with pytest.raises(ImportError, match=re.escape(f"lambdaplus[{extra}]")):
        write(study, tmp_path)


@pytest.mark.usefixtures("empty_plots")
def test_the_report_begins_with_data_date_and_search(study: Study, tmp_path: Path) -> None:
    page = write_report(study, tmp_path, data="mq2008", date="2026-11-22").read_text()
    lead = page.partition("<main>")[0]
    assert "Data: mq2008; 2026-11-22; parameters chosen from grids" in lead
    for metric in ("map", "ndcg@5", "auc"):  # each was a criterion of some method
        assert f"<li>{metric}: " in lead


def test_a_best_mean_is_called_significant_only_if_it_is() -> None:
    random = np.random.default_rng(0)
    labels, qid = random.integers(0, 2, 2000), np.repeat(np.arange(100), 20)
    noise = random.normal(size=2000)

    def compared(**slopes: float) -> tuple[str, RunComparison]:
        runs = {
            name: evaluate(labels, slope * labels + noise, qid=qid, metrics=["map"])
            for name, slope in slopes.items()
        }
        best = max(runs, key=lambda name: runs[name]["map"])
        return best, compare_runs(runs)

    best, found = compared(good=2.0, poor=0.1)
    assert in_words(found, "map", best, ".9") == "good is significantly better than all others (.9)"
    best, found = compared(one=1.0, other=1.0)
    assert in_words(found, "map", best, ".9") == (
        "no significant difference to the highest mean, .9 of one"
    )
    best, found = compared(good=2.0, level=2.0, poor=0.1)
    assert in_words(found, "map", best, ".9") == (
        "good has the highest mean (.9), with no significant difference to level"
    )
    best, found = compared(good=2.0, level=2.0, even=2.0, poor=0.1)
    assert in_words(found, "map", best, ".9") == (
        "good has the highest mean (.9); significantly below it: poor; no significant difference "
        "to the other 2"
    )


def test_what_is_level_with_the_best_is_as_bold(page: str, study: Study) -> None:
    found = comparison(study)
    assert found is not None
    table = page.partition("</table>")[0]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)
    bold = {row[0]: re.findall(r'<td class="number( best)?" data', row[1]) for row in rows}
    for place, metric in enumerate(study.metrics):
        best = max(found.names, key=lambda name: found.means[str(metric)][name])
        level = {*found.names} - {*significantly_below(found, str(metric), best)}
        marked = [name for name in found.names if bold[html.escape(name)][place]]
        assert set(marked) == level
    even = Table(("method", "map"), [("one", 0.5), ("other", 0.4), ("poor", 0.1)])
    assert table_of(even, "", best={(0, 1), (1, 1)}).count("number best") == 2


@pytest.mark.usefixtures("empty_plots")
def test_metrics_that_are_one_are_shown_once(study: Study, tmp_path: Path) -> None:
    metrics = [parse_metric(name) for name in ("ndcg@10", "auc", "mauc", "map")]
    methods = find_methods("lightgbm:lambda_auc,lightgbm:lambda_map")
    binary = Study(study.folds, methods, metrics, study.settings, folder=study.folder)
    list(binary.run())
    reader = Reader(write_report(binary, tmp_path).read_text(encoding="utf-8"))
    # Those that methods were trained for come first.
    assert reader.tables[0][0] == ["method", "letter", "auc", "map", "ndcg@10", "seconds"]
    assert "mauc has the values of auc on every query, and is not shown." in reader.shown
    write_csv(binary, tmp_path)
    with (tmp_path / "summary.csv").open(newline="") as file:
        kept = {row["metric"]: row["mean"] for row in csv.DictReader(file)}
    assert float(kept["mauc"]) == pytest.approx(float(kept["auc"]))
    by_mauc = Study(
        study.folds, find_methods("lightgbm:lambda_mauc"), metrics, study.settings,
    )  # fmt: skip
    list(by_mauc.run())
    assert [str(metric) for metric in main_metrics(by_mauc)] == ["auc"]
