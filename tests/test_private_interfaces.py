"""Private interfaces of other libraries are used in four files; their tests tell of changes."""

import ast
import inspect
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import lightgbm
import pytest
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

PACKAGE = Path(__file__).parents[1] / "lambdaplus"
FILES = sorted(PACKAGE.rglob("*.py"))
MAY = (
    "frameworks/internals.py", "frameworks/call_stack.py", "compute/compiled.py",
    "ranking/documents.py",
)  # fmt: skip
PUBLIC = {*dir(NamedTuple("Any", []))}  # whatever they begin with
ENDS = {"_loss", "_deviance", "_lambdaplus"}  # of longer names


def private_names(code: CodeType) -> set[str]:
    """Names and strings of compiled code that begin with one underscore."""
    found: set[Any] = {*code.co_names, code.co_name}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= private_names(constant)
        found |= {*constant} if isinstance(constant, tuple) else {constant}
    words = (name for name in found if isinstance(name, str) and name.isidentifier())
    return {
        name for name in words if name.strip("_") and name[0] == "_" != name[1] and "__" not in name
    }


@cache
def ours() -> set[str]:
    """What any of our files defines: functions, classes, variables and attributes."""
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text()))]
    named = {getattr(node, "name", "") for node in nodes if hasattr(node, "body")}
    stored = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return named | arguments | {getattr(each, "id", getattr(each, "attr", "")) for each in stored}


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
    used = private_names(compile(path.read_text(), path.name, "exec")) - PUBLIC - ENDS
    foreign = used - ours() | used & of_frameworks()
    assert not foreign or path.relative_to(PACKAGE).as_posix() in MAY, f"move {foreign} to {MAY}"
