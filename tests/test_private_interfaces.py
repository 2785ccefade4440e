"""Private interfaces of LightGBM and XGBoost are used in `frameworks/internals.py` only."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import lightgbm
import pytest
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

PACKAGE = Path(__file__).parents[1] / "lambdaplus"
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "internals.py"]
SUBCLASSES = ("estimators", "lightgbm.py", "xgboost.py")  # of the frameworks' classes


def words(node: ast.AST) -> Iterator[str]:
    """The names and strings of a node."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield from alias.name.split(".")


def private_names(tree: ast.AST) -> set[str]:
    """Names that begin with one underscore."""
    names = {word for node in ast.walk(tree) for word in words(node)}
    return {name for name in names if name.strip("_") and name[0] == "_" != name[1]}


def own_names(tree: ast.AST) -> set[str]:
    """Names that a file defines: functions, classes, variables and attributes."""
    nodes = list(ast.walk(tree))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = (node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store))
    return defined | {word for node in stored for word in words(node)}


@cache
def of_the_frameworks() -> set[str]:
    """Private names in the source of LightGBM and XGBoost, but those of scikit-learn."""
    names = {"_Booster__name_inner_eval"}  # self.__name_inner_eval there
    for library in (lightgbm, xgboost):
        for path in Path(str(library.__file__)).parent.rglob("*.py"):
            if not {"dask", "dask.py", "testing"} & {*path.parts}:  # no classes that we subclass
                names |= private_names(ast.parse(path.read_text()))
    return names - {*dir(BaseEstimator), *dir(ClassifierMixin)}


def private_uses(source: str, subclasses: bool) -> set[str]:
    """Private names of the frameworks that a file uses, or that its subclasses might override."""
    tree = ast.parse(source)
    return private_names(tree) & of_the_frameworks() - (set() if subclasses else own_names(tree))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_interfaces_are_used_in_one_file(path: Path) -> None:
    subclasses = path.relative_to(PACKAGE).parts[0] in SUBCLASSES
    used = private_uses(path.read_text(), subclasses)
    assert not used, f"move what needs {used} to lambdaplus/frameworks/internals.py"
