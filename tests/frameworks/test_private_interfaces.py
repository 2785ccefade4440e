"""Private interfaces of other libraries are used in four files; their tests tell of changes."""

import ast
import inspect
import warnings
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pytest
import xgboost
from places import ROOT
from sklearn.base import BaseEstimator, ClassifierMixin

import lambdaplus as lp
import lambdaplus.lightgbm
import lambdaplus.xgboost
from lambdaplus.frameworks.internals import (
    lightgbm_aliases,
    xgboost_field,
    xgboost_field_in_place,
)
from lambdaplus.frameworks.openmp_team import openmp_functions

PACKAGE = ROOT / "lambdaplus"
FILES = sorted(PACKAGE.rglob("*.py"))
MAY = (
    "frameworks/internals.py", "frameworks/call_stack.py", "compute/compiled.py",
    "lists/order.py",
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


def test_a_private_name_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would fail without a word: early stopping, threads, workers, and equal names."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    data = xgboost.DMatrix(X, X[:, 0] > 1, group=[10] * 20)
    rows = lightgbm.Dataset(X, X[:, 0] > 1, group=[10] * 20, free_raw_data=False)

    def by_xgboost() -> None:
        xgboost.train(
            {"nthread": 1, "disable_default_eval_metric": 1}, data, 1, obj=lp.lambda_map,
            custom_metric=lp.eval_mrr, evals=[(data, "v")], verbose_eval=False,
            early_stopping_rounds=1,
        )  # fmt: skip

    def by_lightgbm() -> None:
        params = {"num_threads": 1, "verbose": -1, "objective": lp.lambda_map, "metric": "None"}
        lightgbm.train(params, rows, 1, valid_sets=[rows], feval=lp.eval_map)

    missing = [
        (by_xgboost, xgboost.callback, "CallbackContainer", "early stopping minimises metrics"),
        (by_xgboost, xgboost.callback, "EarlyStopping", "early stopping minimises metrics"),
        (by_xgboost, xgboost, "collective", "each worker of a training takes its rows for all"),
        (by_xgboost, xgboost, "Booster", "do not see the threads, workers and early stopping"),
        (by_lightgbm, lightgbm, "Booster", "do not see the threads, workers and early stopping"),
        (by_xgboost, xgboost.core, "_LIB", "gradients are computed on other threads"),
    ]
    for train, owner, name, lost in missing:
        openmp_functions.cache_clear()
        found = getattr(owner, name)
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            patch.delattr(owner, name)
            if name == "_LIB":
                assert openmp_functions("xgboost") is None
            else:
                train()
            patch.setattr(owner, name, found, raising=False)
        assert any(lost in str(one.message) for one in told), (name, [*map(str, told)])
    openmp_functions.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        by_xgboost()
        by_lightgbm()


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (lightgbm.basic, "_ConfigAliases"),
        (lightgbm.Dataset, "_update_params"),
        (xgboost.sklearn, "_wrap_evaluation_matrices"),
        (xgboost.XGBRanker, "_create_dmatrix"),
        (xgboost.sklearn, "ltr_metric_decorator"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_an_error_names_a_private_name_that_nothing_works_without(
    owner: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y, qid = np.arange(40.0)[:, None], np.arange(40) % 2, np.repeat([1, 2], 20)
    (tmp_path / "rows.svm").write_text("".join(f"{i % 2} 0:{i} 1:{-i}\n" for i in range(40)))
    framework = owner.__module__ if isinstance(owner, type) else owner.__name__
    framework = framework.partition(".")[0]

    def distance(labels: Any, scores: Any) -> float:
        return float(np.mean((labels - scores) ** 2))

    def use() -> None:
        if framework == "lightgbm":
            params = {"verbose": -1, "min_data_in_leaf": 2}
            file = lightgbm.Dataset(str(tmp_path / "rows.svm"), params=params)
            lambdaplus.lightgbm.cv(params, file, 1, fobj=lp.lambda_auc, nfold=2)
        else:
            model = lp.XGBoostRanker(n_estimators=1, n_jobs=1, eval_metric=distance)
            model.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])

    lightgbm_aliases.cache_clear()
    if isinstance(owner, type):  # it may be of a parent class
        monkeypatch.setattr(owner, name, None)
    else:
        monkeypatch.delattr(owner, name)
    with pytest.raises(AttributeError, match=rf"{framework} \d.* has no {name}, .*install a vers"):
        use()
    monkeypatch.undo()
    use()


@pytest.mark.parametrize("module", [lambdaplus.lightgbm, lambdaplus.xgboost])
def test_names_that_a_framework_lacks_are_said_with_both_modules(module: Any) -> None:
    framework = module.__name__.rpartition(".")[2]
    for name, similar in (("_private", ""), ("trian", r" \(did you mean 'train'\?\)")):
        words = rf"^neither {module.__name__} nor {framework} \d.* has {name}{similar}$"
        with pytest.raises(AttributeError, match=words):
            getattr(module, name)


def test_a_field_in_the_memory_of_a_dmatrix_is_what_xgboost_copies() -> None:
    """And what is set later is seen, which may be at the same address."""
    X, y = np.zeros((6, 1)), np.arange(6.0)
    for given in ({}, {"weight": y[:2] + 1, "group": [4, 2]}):
        data = xgboost.DMatrix(X, label=y, **given)
        for label in (y, y[::-1]):
            data.set_label(label)
            for name in ("label", "weight", "group_ptr", "base_margin"):
                found, copied = xgboost_field_in_place(data, name), xgboost_field(data, name)
                assert found.base is not None  # memory of another
                assert found.dtype == copied.dtype
                np.testing.assert_array_equal(found, copied)
