"""Every block of the README and of the pages runs, in the order of the page.

A diff is two programs, before and after, and both run.  Commands are parsed, not run.  A block of
text below a program is what it prints.

A block that imports a tool of the group "stack" is run where that tool is installed.
"""

import ast
import importlib.util
import re
import shlex
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from places import ROOT
from sklearn import config_context
from threadpoolctl import threadpool_limits
from typer.core import TyperGroup

from lambdaplus.cli import app
from lambdaplus.metrics import CATALOGUE
from lambdaplus.study import Config, study_of

BLOCK = re.compile(
    r"^```(python|diff|\{code-block\} python)\n(?::[^\n]*\n\n)?(.*?)^```"
    r"(?:\n\n```text\n(.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEXTS = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "benchmarks" / "results").glob("*.md")),
    )
}
LOCKED = (ROOT / "constraints.txt").read_text()
PAGES = [ROOT / name for name, text in TEXTS.items() if BLOCK.search(text)]

# Newer than what the package needs: LightGBM's own position=, XGBoost's external memory and Dask.
SINCE = {"large-data": ("xgboost", "3.0"), "labels-and-clicks": ("lightgbm", "4.1")}
OPTIONAL = {
    "mlflow", "onnxmltools", "onnxruntime", "optuna", "optuna_integration", "shap", "treelite",
}  # fmt: skip


@pytest.fixture(autouse=True)
def scripts_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("docs", "docs/figures"):
        monkeypatch.syspath_prepend(ROOT / folder)


def is_installed(block: str) -> bool:
    """Whether the optional tools that a block imports are there."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    return all(importlib.util.find_spec(name) for name in imported & OPTIONAL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the frameworks, about parameters and small data
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.stem in SINCE:
        package, version = SINCE[page.stem]
        pytest.importorskip(package, version, reason=f"{page.name} needs {package} {version}")
    monkeypatch.chdir(tmp_path)
    run_blocks(page)


def run_blocks(page: Path) -> None:
    text = page.read_text()
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = import_module("printed")
    # On little data, threads only wait for each other; settings of scikit-learn end with the page.
    with threadpool_limits(1), config_context():
        for block in BLOCK.finditer(text):
            above = "\n" * text.count("\n", 0, block.start(2))  # so that an error names the line
            for program in programs(block[1], block[2]):
                if is_installed(program):
                    found = printed.run(compile(above + program, page, "exec"), names)
                    if block[3] is not None and printed.frameworks_are_locked():
                        words, numbers = printed.parts(found)
                        assert words == printed.parts(block[3])[0], printed.__doc__
                        # Numbers differ a little between processors.
                        written = pytest.approx(printed.parts(block[3])[1], rel=0.02, abs=0.005)
                        assert numbers == written, printed.__doc__


def programs(kind: str, block: str) -> list[str]:
    """The block; of a diff, what was there before and what is there after."""
    if kind != "diff":
        return [block]
    lines = block.splitlines()
    return ["\n".join(line[1:] for line in lines if line[:1] != gone) for gone in "+-"]


def commands() -> list[str]:
    """Each call of `lambdaplus` on a page, continued lines joined."""
    lines = [
        line.partition(" #")[0].strip()
        for text in TEXTS.values()
        for block in COMMANDS.finditer(text)
        for line in block[1].replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line.startswith("lambdaplus ")]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_pages_are_understood(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    main = typer.main.get_command(app)
    assert isinstance(main, TyperGroup)
    command = main.get_command(typer.Context(main), name)
    assert command
    assert command.make_context(name, arguments).params  # or click says what it does not know


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if SETTINGS.search(text)])
def test_settings_of_the_pages_are_of_a_study(name: str) -> None:
    for block in SETTINGS.finditer(TEXTS[name]):
        config = Config.from_toml(block[1])
        assert study_of(replace(config, data="")).methods  # of the built-in data


# -- what is generated ---------------------------------------------------------------------------


@pytest.fixture
def generate() -> Any:
    return import_module("generate")


@pytest.mark.parametrize(
    "name",
    [name for name, text in TEXTS.items() if re.search("^<!-- [a-z]+(: .*)? -->$", text, re.M)],
)
def test_the_generated_parts_of_a_page_are_as_they_would_be_written_now(
    name: str, generate: Any
) -> None:
    if "commands: " in TEXTS[name] and f"typer=={version('typer')}" not in LOCKED:
        pytest.skip("the reference of commands is written by another version of typer")
    assert TEXTS[name] == generate.generated(TEXTS[name]), "write them anew: make pages"


def test_every_metric_has_a_formula(generate: Any) -> None:
    assert {metric.name for metric in CATALOGUE} == set(generate.references.FORMULAS)


def test_every_metric_has_a_worked_value_and_its_sources_are_listed(generate: Any) -> None:
    assert {metric.name for metric in CATALOGUE} == set(generate.references.WORKED)
    listed = generate.references.BIBLIOGRAPHY
    for metric in CATALOGUE:
        for author, year in re.findall(r"([A-Z]\w+)[^;:,()]*? (\d{4})\b", metric.source):
            assert any(author in one and f"({year})" in one for one in listed), metric.source


def test_a_wrong_worked_value_is_refused(generate: Any) -> None:
    with pytest.raises(ValueError, match=r"is 0\.5, not 1 / 3"):
        generate.references._worked((0, 1), "mrr", "1 / 3")


@pytest.mark.slow
def test_every_figure_is_drawn_and_those_of_measurements_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if f"matplotlib=={version('matplotlib')}" not in LOCKED:
        pytest.skip("the figures are drawn by another version of matplotlib")
    draw = import_module("draw")
    for name, drawn in draw.FIGURES.items():
        draw.save(drawn(), tmp_path, name)
        if drawn.__module__ == "measured":
            committed = (ROOT / "docs" / "figures" / f"{name}.svg").read_text()
            assert (tmp_path / f"{name}.svg").read_text() == committed, "draw it: make pages"


def test_the_images_of_the_pages_are_there() -> None:
    for name, text in TEXTS.items():
        for image in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            assert ((ROOT / name).parent / image).exists(), f"{name} shows {image}"


@pytest.mark.parametrize("name", ["quick-start", "rare-positives"])
def test_a_notebook_is_its_page(name: str) -> None:
    made = import_module("notebooks")
    written = made.NOTEBOOKS[name].read_text()
    assert written == made.notebook(name), "write it anew: python docs/notebooks.py"


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("name", TEXTS)
def test_the_links_of_a_page_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


@pytest.mark.parametrize("name", TEXTS)
def test_the_files_that_a_page_names_are_there(name: str) -> None:
    folders = "benchmarks|docs|examples|lambdaplus|papers|tests"
    for file in re.findall(rf"[` ]((?:{folders})/[\w/-]+\.(?:py|md|json|toml))[` ]", TEXTS[name]):
        assert (ROOT / file).exists(), file


def words(*names: str) -> int:
    return sum(len((ROOT / name).read_text().split()) for name in names)


def test_pages_stay_short() -> None:
    of_users = [name for name in TEXTS if name.count("/") < 2 and "benchmarks" not in name]
    assert words(*of_users) < 13_000, "say things once, and link"
    for name in ("accuracy", "options"):  # their tables are beside the results
        assert words(f"docs/research/results/{name}.md") <= 800
    assert words("docs/one-ranking.md") <= 600
    assert words("CHANGELOG.md") <= 2_500
    assert words("docs/first-change.md") <= 300
