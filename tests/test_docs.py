"""Every block of the README and of the pages runs, in the order of the page.

A diff is two programs, before and after, and both run.  Commands are parsed, not run.

Pages that show what their code prints are run as the site is built, by myst-nb.  A block that
imports a tool of the group "stack" is run where that tool is installed.
"""

import ast
import importlib.util
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from sklearn import config_context
from threadpoolctl import threadpool_limits
from typer.core import TyperGroup

from lambdaplus.cli import app
from lambdaplus.study import Config, study_of

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```(python|diff|\{code-block\} python)\n(?::[^\n]*\n\n)?(.*?)^```", re.MULTILINE | re.DOTALL
)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
TEXTS = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
PAGES = [ROOT / name for name, text in TEXTS.items() if BLOCK.search(text)]

# Newer than what the package needs: LightGBM's own position=, XGBoost's external memory and Dask.
SINCE = dict.fromkeys(("large-data", "many-machines"), ("xgboost", "3.0"))
SINCE |= {"clicks": ("lightgbm", "4.1")}
OPTIONAL = {
    "mlflow",
    "onnxmltools",
    "onnxruntime",
    "optuna",
    "optuna_integration",
    "shap",
    "treelite",
}


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
def test_the_code_of_a_page_runs(page: Path) -> None:
    if page.stem in SINCE:
        package, version = SINCE[page.stem]
        pytest.importorskip(package, version, reason=f"{page.name} needs {package} {version}")
    run_blocks(page)


def run_blocks(page: Path) -> None:
    text = page.read_text()
    names: dict[str, Any] = {"__name__": "__main__"}
    # On little data, threads only wait for each other; settings of scikit-learn end with the page.
    with threadpool_limits(1), config_context():
        for block in BLOCK.finditer(text):
            above = "\n" * text.count("\n", 0, block.start(2))  # so that an error names the line
            for program in programs(block[1], block[2]):
                if is_installed(program):
                    exec(compile(above + program, page, "exec"), names)


def programs(kind: str, block: str) -> list[str]:
    """The block; of a diff, what was there before and what is there after."""
    if kind != "diff":
        return [block]
    lines = block.splitlines()
    return ["\n".join(line[1:] for line in lines if line[:1] != gone) for gone in "+-"]


def test_a_diff_is_two_programs() -> None:
    assert programs("diff", " a = 1\n-b = 2\n+b = 3\n") == ["a = 1\nb = 2", "a = 1\nb = 3"]
    assert programs("python", "a = 1\n") == ["a = 1\n"]


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
    command = main.commands[name]
    assert command.make_context(name, arguments).params  # or click says what it does not know


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if SETTINGS.search(text)])
def test_settings_of_the_pages_are_of_a_study(name: str) -> None:
    for block in SETTINGS.finditer(TEXTS[name]):
        config = Config.from_toml(block[1])
        assert study_of(replace(config, data="")).methods  # of the built-in data


def module(path: Path) -> Any:
    """A module that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_table_of_conventions_is_that_of_the_declarations() -> None:
    made = module(ROOT / "docs" / "convention_table.py")
    written = TEXTS["docs/conventions.md"].split(made.BEGIN)[1].split(made.END)[0]
    assert written == made.table(), "write it anew: python docs/convention_table.py"


def test_results_are_folded_tables(tmp_path: Path) -> None:
    extension = module(ROOT / "docs" / "_ext" / "results.py")
    extension.RESULTS = tmp_path
    tables = [
        {"title": title, "columns": ["", "MAP"], "rows": [["a", 0.5]], "foot": ["two sets"]}
        for title in ("Means", "Gains")
    ]
    kept = {"command": "python who.py", "tables": tables}
    (tmp_path / "who.json").write_text(json.dumps(kept))
    lines = ("results: who", "results: who: Gain", "table: who: Mean")
    page = ["# Accuracy\n\n" + "\n\n".join(f"<!-- {line} -->" for line in lines) + "\n"]
    extension.fill_in(None, "results/accuracy", page)
    titles = re.findall("<summary>(.*)</summary>", page[0])
    assert titles == ["Means", "Gains", "Gains"]
    assert page[0].count("Measured by `python who.py`.") == 2
    assert page[0].count("| a | 0.5000 |\n\ntwo sets") == 4
    assert page[0].endswith("</details>\n\n|  | MAP |\n|---|---|\n| a | 0.5000 |\n\ntwo sets\n")


# -- the README ----------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "benchmarks" / "results"


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) < 150


def test_the_accuracy_in_the_readme_is_what_the_study_wrote() -> None:
    """Its last column has MRR on the sets with one relevant document in each query."""
    kept, known = (
        json.loads((RESULTS / f"{name}.json").read_text())
        for name in ("one-line", "one-line-known-items")
    )
    assert kept["command"] in re.sub(r" \\\n *", " ", README)
    mrr_of_known = {row[0]: row[3] for row in known["tables"][-1]["rows"]}
    means = {
        name: [*values, mrr_of_known[name]]
        for name, *values in kept["tables"][-1]["rows"]
        if name in mrr_of_known
    }
    every = [*kept["gains"], *(gain for gain in known["gains"] if gain["metric"] == "mrr")]
    for framework, title in (("lightgbm", "LightGBM"), ("xgboost", "XGBoost")):
        gains = [g for g in every if (g["framework"], g["on"]) == (framework, "mean")]
        ours = [means[gain["ours"]][k] for k, gain in enumerate(gains)]
        rows = {"lambda_auc": ours}
        rows |= {name.partition(":")[2]: values for name, values in means.items()
                 if f"{framework}:" in name and ":lambda_" not in name}  # fmt: skip
        for name, values in rows.items():
            cells = " | ".join(f"{value:.4f}".removeprefix("0") for value in values)
            assert f"`{name}` | {cells} |" in README
        for gain in gains:
            less = f"{gain['mean']:+.3f} ± {gain['error']:.3f}".replace("0.", ".")
            row = next(line for line in README.splitlines() if f"{title}'s own*" in line)
            assert (f"**{less}**" in row) == (gain["p"] < 0.05)
            assert less in row


def test_the_gain_with_relative_features_in_the_readme_is_what_the_study_wrote() -> None:
    gains = json.loads((RESULTS / "relative.json").read_text())["gains"]
    for own in ("lightgbm:lambdarank", "xgboost:rank:map"):
        ours = f"{own.partition(':')[0]}:lambda_map, chosen"
        names = ("map", ours, f"{own}, raw", "mean")
        [gain] = [g for g in gains if (g["metric"], g["ours"], g["own"], g["on"]) == names]
        less = f"{gain['mean']:.3f} ± {gain['error']:.3f} above `{own.partition(':')[2]}`"
        assert less.replace("0.", ".") in " ".join(README.split())


def test_the_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^a-z -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in README.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
