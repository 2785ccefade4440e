"""What `import lambdaplus` offers: every name resolves, and nothing is loaded before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lambdaplus

METRICS = ("auc", "mauc", "map", "mrr", "ndcg")
SHORTHANDS = {f"{kind}_{metric}" for kind in ("lambda", "eval") for metric in METRICS}
HEAVY = {"numpy", "numba", "scipy", "sklearn", "lightgbm", "xgboost", "rich", "matplotlib"}
API = Path(__file__).parents[1] / "docs" / "reference" / "api.md"


@pytest.mark.parametrize("name", lambdaplus.__all__)
def test_a_public_name_is_that_of_its_module(name: str) -> None:
    module = import_module(f"lambdaplus.{lambdaplus._MODULES[name]}")
    assert getattr(lambdaplus, name) is getattr(module, name)
    assert name in getattr(module, "__all__", [name])  # the module of PositionBias has no __all__


def test_what_is_public() -> None:
    assert {"Declaration", "PositionBias", "RunComparison", "Explanation"} <= {*lambdaplus.__all__}
    assert {*lambdaplus.__all__} >= SHORTHANDS
    assert lambdaplus.__all__ == sorted(lambdaplus.__all__)
    assert {*lambdaplus.__all__} <= {*dir(lambdaplus)}
    with pytest.raises(AttributeError, match="has no attribute 'lambda_objectives'"):
        _ = lambdaplus.lambda_objectives


def test_type_checkers_read_what_is_imported() -> None:
    """The imports that only type checkers see, against the table."""
    assert lambdaplus.__file__
    nodes = ast.walk(ast.parse(Path(lambdaplus.__file__).read_text()))
    found = {
        alias.asname: node.module.removeprefix("lambdaplus.")
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lambdaplus")
        for alias in node.names
    }
    assert found == lambdaplus._MODULES


def test_the_reference_lists_what_is_public() -> None:
    page = API.read_text()
    for name in lambdaplus.__all__:
        module = f"~lambdaplus.{lambdaplus._MODULES[name]}"
        assert (f"`{name}`" if name in SHORTHANDS else f"   {module}.{name}\n") in page


def test_shorthands_are_their_long_forms() -> None:
    for name in SHORTHANDS:
        kind, _, metric = name.partition("_")
        long = lambdaplus.lambda_objective if kind == "lambda" else lambdaplus.eval_metric
        assert repr(getattr(lambdaplus, name)) == repr(long(metric))


def test_the_package_loads_nothing_before_it_is_used() -> None:
    code = f"import sys, lambdaplus; dir(lambdaplus); print(sorted({HEAVY} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
