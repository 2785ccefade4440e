"""Private interfaces of each library are used in one file, whose tests fail if they change."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import lightgbm
import numba
import pytest
import sklearn
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

PACKAGE = Path(__file__).parents[1] / "lambdaplus"
FILES = sorted(PACKAGE.rglob("*.py"))
FRAMEWORKS, NUMBA, SKLEARN = "frameworks/internals.py", "compute/compiled.py", "ranking/queries.py"
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


def names_in_source(library: ModuleType, *left_out: str) -> set[str]:
    """Private names in the source of a library."""
    names: set[str] = set()
    for path in Path(str(library.__file__)).parent.rglob("*.py"):
        if not {*left_out, "tests", "testing"} & {*path.parts}:
            names |= private_names(ast.parse(path.read_text()))
    return names


@cache
def names_of_libraries() -> dict[str, set[str]]:
    """The private names of the libraries, by the file that may use them."""
    inherited = {*dir(BaseEstimator), *dir(ClassifierMixin)}
    ours = {*dir(NamedTuple("Any", [])), "_getframe", "_loss"}  # the last is the end of a name
    ours |= inherited | {name for path in FILES for name in own_names(parsed(path))}
    frameworks = {"_Booster__name_inner_eval"}  # self.__name_inner_eval there
    for library in (lightgbm, xgboost):  # of dask, we subclass nothing
        frameworks |= names_in_source(library, "dask", "dask.py")
    return {
        FRAMEWORKS: frameworks - inherited,
        NUMBA: names_in_source(numba) - ours,
        SKLEARN: names_in_source(sklearn) - ours,
    }


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_interfaces_are_used_in_one_file(path: Path) -> None:
    name, tree = path.relative_to(PACKAGE).as_posix(), parsed(path)
    # Subclasses of the frameworks' classes might override what they define.
    used = private_names(tree) - (set() if name.startswith(SUBCLASSES) else own_names(tree))
    used -= names_of_libraries().get(name, set())
    for place, names in names_of_libraries().items():
        assert not used & names, f"move {used & names} to lambdaplus/{place}"
