"""The package has layers (docs/house.md): a lower layer never imports an upper one."""

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from places import ROOT

PACKAGE = ROOT / "lambdaplus"
FOR_CONTRIBUTORS = "".join(
    (ROOT / "docs" / f"{name}.md").read_text() for name in ("first-change", "house")
)
LAYERS = (
    {"compute", "saved_model"},
    {"lists"},
    {"ranking"},
    {"data", "metrics", "frameworks"},
    {"engine"},
    {"objectives", "evaluation", "baselines"},
    {"lightgbm", "xgboost", "dask", "estimators"},
    {"study", "cli", "__main__"},
)
OF_STUDY = (
    {"words", "config_values", "config"},
    {"boosters", "search_spaces", "label_kind", "methods", "tasks"},
    {"validation", "boosted_trainer", "estimator_trainer", "files_and_machines"},
    {"folds", "data_in_words", "data_warnings", "registry", "method_names", "option_check", "plan"},
    {"fits", "training", "store", "memory", "number_range", "preload", "runner"},
    {"results", "result_files", "crossed_choice", "selection", "probabilities"},
    {"verdict", "detectable", "conclusion", "summary", "summary_tables", "seeds"},
    {"plot_style", "plots"},
    {
        "study",
        "from_config",
        "final_model",
        "report_models",
        "rounds_in_words",
        "over_time",
        "single_features",
        "advice",
        "report",
    },
)
LAYER = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}
MAY_IMPORT = {  # and nothing else of its own layer
    "estimators": {"lightgbm", "xgboost"},
    "cli": {"study"},
    "__main__": {"cli"},
}


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if module_of(path) != "__init__"]


@cache
def imported_names(source: str, types: bool = True) -> set[str]:
    """Dotted names of all that a file imports, at its top or within a function.

    Without ``types``, what only type checkers import is left out.
    """
    tree = ast.parse(source)
    if not types:
        tree.body = [node for node in tree.body if not is_for_type_checkers(node)]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = "lambdaplus.saved_model." if node.level else ""
            names |= {f"{package}{node.module}.{alias.name}" for alias in node.names}
    return names


def is_for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported_modules(source: str, of: str = "lambdaplus") -> set[str]:
    """Modules of a package that a file imports from."""
    parts = [[*name.split("."), "__init__"] for name in imported_names(source)]
    return {module for package, module, *_ in parts if package == of}


def test_no_layer_imports_an_upper_one() -> None:
    for path in FILES:
        module = module_of(path)
        assert module in LAYER, f"add {module} to a layer in LAYERS"
        for other in imported_modules(path.read_text()) - {module}:
            what = f"{path} imports {other}"
            assert other in LAYER, f"{what}: the whole package, or a module without a layer"
            assert LAYER[other] <= LAYER[module], f"{what}, which is above it"
            if LAYER[other] == LAYER[module]:
                assert other in MAY_IMPORT.get(module, set()), what


def test_no_files_import_each_other_in_a_circle() -> None:
    """Two classes may have each other as types: a declaration and its metric."""
    paths = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in FILES}
    names = {name: imported_names(path.read_text(), types=False) for name, path in paths.items()}
    graph = {
        name: paths.keys() & {*imported, *(name.rpartition(".")[0] for name in imported)}
        for name, imported in names.items()
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(paths)  # or a CycleError


def test_imports_are_absolute_but_in_the_program_that_is_packed_beside_a_model() -> None:
    """A relative one hides the layer."""
    for path in FILES:
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        levels = {node.level for node in nodes if isinstance(node, ast.ImportFrom)}
        assert levels <= ({0, 1} if module_of(path) == "saved_model" else {0}), path


def test_floors_below_the_interfaces_import_no_boosting_framework() -> None:
    lower = [path for path in FILES if LAYER[module_of(path)] <= LAYER["objectives"]]
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for path in lower
        if {name.partition(".")[0] for name in imported_names(path.read_text())}
        & {"lightgbm", "xgboost"}
    }
    assert importing == {
        "frameworks/internals.py",
        "baselines/mcrank.py",  # which LightGBM trains
        "saved_model/boosters.py",  # of a program that is packed beside models
    }


def test_the_program_beside_a_model_needs_no_lambdaplus() -> None:
    modules = [*(PACKAGE / "saved_model").rglob("*.py")]
    names = set().union(*(imported_names(path.read_text()) for path in modules))
    others = {name for name in names if not name.startswith("lambdaplus.saved_model.")}
    packages = {name.partition(".")[0] for name in others} - sys.stdlib_module_names
    assert packages == {"numpy", "polars", "lightgbm", "xgboost"}


def test_a_plan_knows_no_fits_and_a_fit_no_tables() -> None:
    layer = {module: number for number, modules in enumerate(OF_STUDY) for module in modules}
    for path in (PACKAGE / "study").glob("[a-z]*.py"):
        for name in imported_names(path.read_text()):
            other = name.removeprefix("lambdaplus.study.").partition(".")[0]
            if name.startswith("lambdaplus.study.") and other != path.stem:
                assert layer[other] <= layer[path.stem], f"{path} imports {other}, above it"


def test_the_library_imports_nothing_that_is_not_in_the_wheel() -> None:
    for path in FILES:
        for folder in ("papers", "benchmarks", "tests"):
            assert not imported_modules(path.read_text(), folder), f"{path} imports {folder}"


def test_the_pages_for_contributors_name_files_that_are_there() -> None:
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[a-z]*/**/*.*")]
    named = re.findall(r"`([a-z][a-z_0-9/]*(?:\.py|/))`", FOR_CONTRIBUTORS)
    assert len(named) > 40
    for name in {*named} - {"dist/"}:  # what `make release` makes
        assert any(f"/{name}" in file for file in files), name
