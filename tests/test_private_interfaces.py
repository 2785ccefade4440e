"""Private interfaces of other libraries are used in four files; their tests tell of changes."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import lightgbm
import pytest
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

PACKAGE = Path(__file__).parents[1] / "lambdaplus"
FILES = sorted(PACKAGE.rglob("*.py"))
MAY = (
    "frameworks/internals.py", "frameworks/call_stack.py", "compute/compiled.py",
    "ranking/queries.py",
)  # fmt: skip
PUBLIC = {*dir(NamedTuple("Any", []))}  # whatever they begin with
ENDS = {"_loss", "_deviance", "_lambdaplus"}  # of longer names


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
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def ours() -> set[str]:
    """What any of our files defines."""
    return {name for path in FILES for name in own_names(parsed(path))}


@cache
def of_frameworks() -> set[str]:
    """Private names of their classes and estimators, which we would use or override."""
    public = [*vars(lightgbm).values(), *vars(xgboost).values()]
    classes = [one for one in public if inspect.isclass(one)]
    estimators = [one() for one in classes if issubclass(one, BaseEstimator)]
    found = {name for one in classes for name in dir(one)}
    found |= {name for one in estimators for name in vars(one)}
    return found - {*dir(BaseEstimator), *dir(ClassifierMixin)} - PUBLIC


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_interfaces_are_used_in_few_files(path: Path) -> None:
    used = private_names(parsed(path)) - PUBLIC - ENDS
    foreign = used - ours() | used & of_frameworks()
    assert not foreign or path.relative_to(PACKAGE).as_posix() in MAY, f"move {foreign} to {MAY}"
