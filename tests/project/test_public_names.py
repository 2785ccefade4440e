"""What `import lambdaplus` offers: every name resolves, and nothing is loaded before it is used."""

import ast
import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

import lambdaplus

METRICS = ("auc", "mauc", "map", "mrr", "ndcg")
SHORTHANDS = {f"{kind}_{metric}" for kind in ("lambda", "eval") for metric in METRICS}
HEAVY = {"numpy", "numba", "scipy", "sklearn", "lightgbm", "xgboost", "rich", "matplotlib"}
API = ROOT / "docs" / "reference" / "api.md"


def test_a_public_name_is_that_of_its_module() -> None:
    assert {*SHORTHANDS} <= {*lambdaplus.__all__} <= {*dir(lambdaplus)}
    assert not {"Any", "TYPE_CHECKING", "import_module"} & {*dir(lambdaplus)}
    for name in lambdaplus.__all__:
        module = import_module(f"lambdaplus.{lambdaplus._MODULES[name]}")
        assert getattr(lambdaplus, name) is getattr(module, name)
        assert name in getattr(module, "__all__", [name])  # few modules have no __all__


@pytest.mark.parametrize("package", ["", ".estimators", ".evaluation", ".study"])
def test_type_checkers_read_what_is_imported(package: str) -> None:
    """The imports that only type checkers see, against the table."""
    module: Any = import_module(f"lambdaplus{package}")
    tree = ast.parse(Path(module.__file__).read_text())
    typed = [node for node in tree.body if isinstance(node, ast.If)]
    found = {
        alias.asname: node.module
        for node in ast.walk(typed[0])
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    full = {
        name: f"lambdaplus.{one.removeprefix('lambdaplus.')}"
        for name, one in module._MODULES.items()
    }
    assert found == full
    assert {*full} <= {*module.__all__} <= {*dir(module), *full}
    with pytest.raises(AttributeError, match="has no attribute 'misspelt'"):
        _ = module.misspelt


def test_the_reference_lists_what_is_public() -> None:
    page = API.read_text()
    for name in lambdaplus.__all__:
        assert (f"`{name}`" if name in SHORTHANDS else f"\n| `{name}` | ") in page


MODULES = ("", "data", "evaluation", "metrics", "objectives", "estimators", "baselines")
FRAMEWORKS = ("lightgbm", "xgboost", "study")


@pytest.mark.parametrize("module", [*MODULES, *FRAMEWORKS])
def test_every_public_name_has_an_example(module: str) -> None:
    found = import_module(f"lambdaplus.{module}".rstrip("."))
    names = ("train", "cv") if module in ("lightgbm", "xgboost") else found.__all__
    for one in (getattr(found, name) for name in names):
        if inspect.isroutine(one) or inspect.isclass(one):
            assert ">>>" in (one.__doc__ or ""), one


def test_every_option_of_an_objective_has_an_example() -> None:
    examples = str(lambdaplus.lambda_objective.__doc__).partition("Examples")[2]
    options = [*inspect.signature(lambdaplus.lambda_objective).parameters][1:-1]
    assert {option for option in options if f"{option}=" not in examples} == set()


def test_shorthands_are_their_long_forms() -> None:
    for name in SHORTHANDS:
        kind, _, metric = name.partition("_")
        long = lambdaplus.lambda_objective if kind == "lambda" else lambdaplus.eval_metric
        assert repr(getattr(lambdaplus, name)) == repr(long(metric))


@pytest.mark.parametrize(
    ("use", "unused"),
    [
        ("dir(lambdaplus)", HEAVY),
        ("import lambdaplus.data", {"sklearn", "scipy.sparse", "pandas", "polars"}),
        pytest.param("lambdaplus.XGBoostRanker()", {"lightgbm"}, marks=pytest.mark.slow),
        pytest.param("lambdaplus.LightGBMRanker()", {"xgboost"}, marks=pytest.mark.slow),
    ],
)
def test_the_package_loads_nothing_before_it_is_used(use: str, unused: set[str]) -> None:
    code = f"import sys, lambdaplus; {use}; print(sorted({unused} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "name"),
    [("metrics.declaration", "RankingMetric"), ("objectives.lambda_objective", "LambdaObjective")],
)
def test_older_pickles_find_classes_where_they_were(module: str, name: str) -> None:
    found = pickle.loads(f"clambdaplus.{module}\n{name}\n.".encode())
    assert found.__name__ == name
    assert found.__module__ != f"lambdaplus.{module}"
