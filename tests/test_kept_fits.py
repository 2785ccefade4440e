"""A stored fit is only reused if everything that it depends on is the same."""

from __future__ import annotations

import dataclasses
import importlib
import pathlib
import pickle
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from brute_force import examples
from damage import damaged
from hypothesis import given
from hypothesis import strategies as st
from test_store import folds, odd, study

from lambdaplus.data import Fold
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import Fitted, Method, Settings, Store, Study, find_methods
from lambdaplus.study.boosting import train_lightgbm
from lambdaplus.study.identity import digest, source_of_lambdaplus
from lambdaplus.study.store import Fit, key_of

RANKER = """
{imports}
class Ranker:
    def fit(self, X, y): return self
    def predict(self, X): return {sign}X[:, 0]
"""


@pytest.fixture
def module(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A module of the user's, ``my_ranker``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "my_ranker.py"
    for name in ("my_ranker", "my_helper"):
        sys.modules.pop(name, None)


def edit(module: pathlib.Path, sign: str, imports: str = "") -> None:
    """As if the user had edited the file and restarted Python."""
    module.write_text(RANKER.format(sign=sign, imports=imports))
    for name in ("my_ranker", "my_helper"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def mean(folder: pathlib.Path) -> float:
    found = study(folder, "my_ranker:Ranker")
    assert len([*found.run()]) == 3
    assert found.errors == {}
    return found.mean(found.methods[0], found.metrics[0])


def test_an_edited_class_of_mine_is_fitted_again(
    tmp_path: pathlib.Path, module: pathlib.Path
) -> None:
    edit(module, "+")
    first = mean(tmp_path / "out")
    edit(module, "-")
    assert mean(tmp_path / "out") != first
    edit(module, "+")
    assert mean(tmp_path / "out") == first
    assert len([*(tmp_path / "out" / "fits").iterdir()]) == 6


@pytest.mark.parametrize("imports", ["from my_helper import SIGN", "import my_helper"])
def test_so_is_one_that_imports_what_was_edited(
    tmp_path: pathlib.Path, module: pathlib.Path, imports: str
) -> None:
    helper = module.with_name("my_helper.py")
    used = "SIGN * " if "from" in imports else "my_helper.SIGN * "
    helper.write_text("SIGN = 1")
    edit(module, used, imports)
    first = mean(tmp_path / "out")
    helper.write_text("SIGN = -1")
    edit(module, used, imports)
    assert mean(tmp_path / "out") != first


def train_first(*_: Any) -> Fitted:
    return Fitted(lambda part: part.features[:, 0])


def train_last(*_: Any) -> Fitted:
    return Fitted(lambda part: part.features[:, -1])


def gain_to_the(power: float) -> Any:
    def gain(facts: Any) -> Any:
        return facts.label**power

    return gain


def of(target: Any, trainer: Any = train_lightgbm) -> str:
    one = Study(folds()[:1], [Method("lightgbm:mine", trainer, target, "map")],
                [parse_metric("map")])  # fmt: skip
    return one.tasks[0].key


def test_two_declarations_of_one_name_are_two() -> None:
    dcg = parse_metric("dcg").declaration
    ndcg = parse_metric("ndcg").declaration
    gains = [gain_to_the(1), gain_to_the(2), lambda facts: facts.label, ndcg.gain]
    gains.append(lambda facts: facts.label * 2)
    keys = {of(lambda_objective(dataclasses.replace(dcg, name="mine", gain=g))) for g in gains}
    assert len(keys) == 5
    same = [of(lambda_objective(dataclasses.replace(dcg, name="mine", gain=gain_to_the(2))))
            for _ in range(2)]  # fmt: skip
    assert same[0] == same[1]
    assert same[0] in keys


def test_two_trainers_of_one_method_are_two() -> None:
    assert of("x", train_first) != of("x", train_last)


def test_the_source_of_lambdaplus_is_in_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(seed=0)
    assert key_of(seed=0) == before
    monkeypatch.setattr(
        "lambdaplus.study.store.source_of_lambdaplus", lambda: source_of_lambdaplus()[::-1]
    )
    assert key_of(seed=0) != before


def test_an_edit_of_lambdaplus_changes_its_digest(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr("lambdaplus.study.identity.PACKAGE", tmp_path)
    for name, text in (("a.py", "1"), ("a.py", "2"), ("cli/b.py", "1"), ("metrics/b.py", "1")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        found.append(source_of_lambdaplus.__wrapped__())
    assert len(set(found)) == 3
    assert found[1] == found[2]  # the command line changes no fit


def test_digests_are_of_content() -> None:
    values: list[Any] = [
        None, True, 1, 1.0, "1", b"1", np.float64(1), np.arange(3), np.arange(3.0), [1], (1,), {1},
        {"a": 1}, {"b": 1}, int, np, np.mean, len, "".join, digest, lambda: 1, lambda: 2,
        Settings(), Settings(rounds=3), gain_to_the(1), gain_to_the(2), np.random.default_rng(0),
    ]  # fmt: skip
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(values)
    for value, found in zip(values, digests, strict=True):
        assert digest(value) == found
        if not callable(value) and value is not np:
            assert digest(pickle.loads(pickle.dumps(value))) == found


def test_what_contains_itself_and_what_nobody_can_look_into() -> None:
    one: list[Any] = [1]
    one.append(one)
    assert digest(one) == digest(one)
    assert digest(threading.Lock()) != digest(threading.Lock())
    typed_in: dict[str, Any] = {"__name__": "typed_in"}
    exec("class Mine: pass", typed_in)  # a class without source is never the one of before
    assert digest(typed_in["Mine"]) != digest(typed_in["Mine"])


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04"])
def test_a_file_among_the_fits_that_is_none_is_named_and_fitted_again(
    tmp_path: pathlib.Path, content: bytes
) -> None:
    names = odd("FirstFeature")
    first = study(tmp_path, names)
    list(first.run())
    victim = first.store.path(first.tasks[1].key)
    victim.write_bytes(content)
    again = study(tmp_path, names)
    with pytest.warns(
        UserWarning, match=f"{victim.name} is damaged or not this fit .* fitted again"
    ):
        list(again.run())
    assert again.errors == {}
    assert again.mean(again.methods[0], again.metrics[0]) == first.mean(
        first.methods[0], first.metrics[0]
    )


def test_the_fit_of_another_is_not_taken_for_this_one(tmp_path: pathlib.Path) -> None:
    store = Store(tmp_path)
    store.save("a" * 20, Fit(np.zeros(2), np.ones(2), 0.5, 3, np.zeros(0)), {})
    store.path("a" * 20).rename(store.path("b" * 20))
    with pytest.raises(ValueError, match=f"{'b' * 20}.npz is damaged or not this fit .*{'a' * 20}"):
        store.load("b" * 20)


@examples(300)
@given(st.data())
def test_a_damaged_fit_is_named_or_whole(tmp_path: pathlib.Path, draw: st.DataObject) -> None:
    """Bytes flipped, cut, doubled."""
    store, key = Store(tmp_path), "c" * 20
    fit = Fit(np.arange(9.0), -np.arange(5.0), 0.5, 3, np.ones(3), ("it warned",))
    store.save(key, fit, {"seed": 0})
    path = store.path(key)
    path.write_bytes(damaged(draw, path.read_bytes()))
    found, said = None, str(path)
    try:
        found = store.load(key)
    except ValueError as error:
        said = str(error)
    assert str(path) in said
    if found is None:
        return
    for one, other in zip(dataclasses.astuple(found), dataclasses.astuple(fit), strict=True):
        assert np.array_equal(one, other)


def test_a_method_that_predicts_the_wrong_number_of_rows_is_not_kept(
    tmp_path: pathlib.Path,
) -> None:
    found = study(tmp_path, odd("TooFew", "Column"))
    list(found.run())
    assert found.errors == {
        "odd_estimators:TooFew": "Fold0: ValueError: it gave scores of shape (59,) for 60 "
        "validation documents",
        "odd_estimators:Column": "Fold0: ValueError: it gave scores of shape (60, 1) for 60 "
        "validation documents",
    }
    assert found.finished == set()
    assert not [*tmp_path.rglob("*.npz")]


def test_a_process_that_ends_without_a_result_has_failed(tmp_path: pathlib.Path) -> None:
    found = study(tmp_path, odd("Leaving"), jobs=2)
    list(found.run())
    [(name, said)] = found.errors.items()  # of the fold that ended first
    assert name == "odd_estimators:Leaving"
    assert re.fullmatch(r"Fold\d: it ended without a result", said)


def test_what_cannot_be_sent_to_another_process_says_so(tmp_path: pathlib.Path) -> None:
    method = Method("test:mine", lambda *_: train_first(), "x", "map")
    found = Study(folds(), [method], [parse_metric("map")], folder=tmp_path, jobs=2)
    assert len([*found.run()]) == 3
    assert "it cannot be sent to another process" in found.errors["test:mine"]


def test_kernels_are_not_compiled_on_a_methods_time(tmp_path: pathlib.Path) -> None:
    """numba takes a second or more for a kernel that is new to it; the fit itself nothing."""
    found = study(tmp_path, odd("Compiles", "Slow"))
    list(found.run())
    assert found.errors == {}
    compiling, slow = (
        [choice.fit.seconds for choice in found.results[method.name]] for method in found.methods
    )
    assert max(compiling) < 0.1
    assert min(slow) > 0.25  # sleep is time, compilation is not


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"folds": []}, "folds is empty"),
        ({"methods": []}, "methods is empty"),
        ({"metrics": []}, "metrics is empty"),
        ({"seeds": ()}, "seeds is empty"),
        ({"seeds": (-1,)}, "seeds: -1 is not a whole number from 0"),
        ({"seeds": (True,)}, "seeds: True is not"),
        ({"seeds": (1, 1)}, "seeds: 1 is given more than once"),
        ({"jobs": 0}, "jobs=0"),
        ({"select": "nonsense"}, "unknown metric 'nonsense'"),
        ({"settings": Settings(patience=-1)}, "patience = -1 should be a whole number, at least 1"),
        ({"settings": Settings(rounds=0)}, "rounds = 0 should be"),
        ({"settings": Settings(leaves=1)}, "leaves = 1 should be"),
        ({"settings": Settings(learning_rate=float("nan"))}, "learning_rate = nan should be"),
        ({"folds": [folds()[0], Fold("Fold0", *(folds()[1].train,) * 3)]}, "Fold0 is given more"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused_before_its_first_fit(
    changes: dict[str, Any], message: str
) -> None:
    whole: dict[str, Any] = {"folds": folds(), "methods": find_methods("feature:best"),
                             "metrics": [parse_metric("map")]}  # fmt: skip
    with pytest.raises(ValueError, match=message):
        Study(**{**whole, **changes})


@pytest.mark.parametrize(
    ("method", "grid", "message"),
    [
        ("lightgbm:map", {"num_leavs": [5]}, r"no parameter 'num_leavs' \(did you mean 'num_leave"),
        ("xgboost:map", {"max_leavs": [5]}, r"no parameter 'max_leavs' \(did you mean 'max_leaves"),
        ("svm:map", {"c": [5]}, "StructuralSVM has no parameter 'c'"),
        ("lightgbm:map", {"num_leaves": "57"}, "num_leaves = '57' should be a list of the values"),
        ("lightgbm:map", {"num_leaves": 57}, "num_leaves = 57 should be a list of the values"),
        ("lightgbm:map", {"num_leaves": []}, r"num_leaves = \[\] should be a list of the values"),
        ("lightgbm:map", {"eta": [0.1]}, "eta is another name of learning_rate"),
        ("xgboost:map", {"eta": [0.1]}, "eta is another name of learning_rate"),
        ("lightgbm:map", {"objective": ["binary"]}, "the study sets it for every method"),
        ("xgboost:map", {"early_stopping_rounds": [-1]}, "the study sets it for every method"),
        ("xgboost:map", {"max_leaves": ["many"]}, "XGBoost rejects its parameters"),
    ],
)
def test_parameters_that_would_do_nothing_are_refused(
    method: str, grid: dict[str, Any], message: str
) -> None:
    [found] = find_methods(method)
    with pytest.raises(ValueError, match=message):
        Study(folds(), [dataclasses.replace(found, grid=grid)], [parse_metric("map")])
