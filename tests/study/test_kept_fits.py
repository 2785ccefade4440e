"""A stored fit is only reused if everything that it depends on is the same."""

import dataclasses
import importlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import damaged
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from test_store import finished, folds, odd, study

from lambdaplus.compute.digests import digest
from lambdaplus.data import Fold
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives import lambda_objective
from lambdaplus.study import Config, Fitted, Method, Study, find_methods
from lambdaplus.study.boosted_trainer import train_lightgbm
from lambdaplus.study.fits import Fit, load_fits, save_fits

RANKER = """
{imports}
class Ranker:
    def fit(self, X, y): return self
    def predict(self, X): return {sign}X[:, 0]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of the user's, ``my_ranker``."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "my_ranker.py"
    sys.modules.pop("my_ranker", None)


def edit(path: Path, text: str, years: float = 1.0) -> None:
    """As if the user had edited the file, years ago, and restarted Python."""
    path.write_text(text)
    os.utime(path, (os.stat(path).st_mtime - years * 3e7,) * 2)
    sys.modules.pop("my_ranker", None)
    importlib.invalidate_caches()


def keys() -> list[str]:
    return [task.key for task in study(None, "my_ranker:Ranker").tasks]


def test_an_edit_of_the_users_module_is_another_fit(module: Path) -> None:
    found = []
    for sign in ("+", "-", "+", "-"):
        edit(module, RANKER.format(imports="", sign=sign))
        found.append(keys())
    assert found[:2] == found[2:]
    assert len({key for each in found for key in each}) == 6


def test_a_module_that_was_edited_after_its_import_has_new_keys(module: Path) -> None:
    edit(module, RANKER.format(imports="", sign="+"))
    before = keys()
    module.write_text(RANKER.format(imports="", sign="-"))  # the loaded code is the former
    assert {*keys(), *before}.isdisjoint(keys())
    edit(module, RANKER.format(imports="", sign="+"))
    assert keys() == before


def train_first(*_: Any) -> Fitted:
    return Fitted(lambda part: part.features[:, 0])


def train_last(*_: Any) -> Fitted:
    return Fitted(lambda part: part.features[:, -1])


def relevant(facts: Any) -> Any:
    return facts.label >= 1


def graded(facts: Any) -> Any:
    return facts.label


def key_of(target: Any, trainer: Any = train_lightgbm, name: str = "lightgbm:mine") -> str:
    return Study(folds()[:1], [Method(name, trainer, target, "map")], ["map"]).tasks[0].key


def test_declarations_and_trainers_of_one_name_differ_by_their_functions() -> None:
    dcg = dataclasses.replace(parse_metric("dcg").declaration, name="mine")
    gains = [relevant, graded, relevant, lambda facts: facts.label, lambda facts: facts.label]
    found = [key_of(lambda_objective(dataclasses.replace(dcg, gain=gain))) for gain in gains]
    assert found[0] == found[2]
    assert len({*found}) == 4  # a lambda is never the same
    assert key_of("x", train_first) != key_of("x", train_last)
    assert key_of("x", train_first) == key_of("x", train_first)


def test_an_edit_of_lambdaplus_is_another_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {digest(0)}
    for number, name in enumerate(("a.py", "metrics/a.py", "metrics/b.py")):
        file = tmp_path / str(number) / name
        file.parent.mkdir(parents=True)
        file.write_text("x = 1")
        monkeypatch.setattr("lambdaplus.compute.package_source.PACKAGE", tmp_path / str(number))
        found.add(digest(0))
    assert len(found) == 4


def test_digests_are_of_content() -> None:
    values: list[Any] = [
        None, True, 1, 1.0, "1", b"1", np.float64(1), np.arange(3), np.arange(3.0), [1], (1,), {1},
        {"a": 1}, {"b": 1}, int, np.mean, len, digest, Config(), Config(rounds=3),
        np.random.default_rng(0), *find_methods("lightgbm,xgboost,svm"),
    ]  # fmt: skip
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(values)
    for value, found in zip(values, digests, strict=True):
        assert digest(value) == digest(pickle.loads(pickle.dumps(value))) == found
    typed_in: dict[str, Any] = {"__name__": "typed_in"}
    exec("class Mine: pass", typed_in)
    for value in (threading.Lock(), lambda: 1, typed_in["Mine"], typed_in["Mine"]()):
        assert digest(value) != digest(value)  # what cannot be inspected is never the same
    code = """from lambdaplus.compute.digests import digest
from lambdaplus.study import find_methods
print(*map(digest, find_methods('lightgbm,xgboost,svm')))"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert other.stdout.splitlines()[-1].split() == digests[21:]


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"PK\x03\x04", pickle.dumps({"a": 1}), None], ids=repr
)
def test_a_damaged_file_or_that_of_another_fit_is_named_and_fitted_again(
    tmp_path: Path, content: bytes | None
) -> None:
    first = finished(tmp_path, odd("FirstFeature"))
    other, victim = (first.file_of(task) for task in first.tasks[:2])
    victim.write_bytes(other.read_bytes() if content is None else content)
    again = study(tmp_path, odd("FirstFeature"))
    with pytest.warns(UserWarning, match=f"{victim.name} is damaged or not this .* fitted again"):
        again.finish()
    assert again.results.values.equals(first.results.values)


def test_a_pipe_with_the_name_of_a_fit_is_replaced(tmp_path: Path) -> None:
    """Reading it would never end."""
    first = finished(tmp_path, odd("FirstFeature"))
    victim = first.file_of(first.tasks[0])
    victim.unlink()
    os.mkfifo(victim)
    again = finished(tmp_path, odd("FirstFeature"))
    assert again.results.values.equals(first.results.values)


def test_fits_that_are_not_there_are_not_called_damaged(tmp_path: Path) -> None:
    found = finished(tmp_path, odd("FirstFeature"))
    gone = found.file_of(found.tasks[0])
    gone.unlink()
    with pytest.raises(FileNotFoundError, match=f"{gone.name} was removed during the run"):
        _ = found.results
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="NotADirectoryError"):  # and without a warning
        finished(tmp_path / "file", odd("FirstFeature"))


@examples(300)
@given(st.data())
def test_a_damaged_fit_is_named_or_whole(tmp_path: Path, draw: st.DataObject) -> None:
    """Bytes flipped, cut, doubled."""
    path = tmp_path / f"{'c' * 20}.npz"
    asked, scores = ("svm:map", "Fold1", 0, 2), (np.arange(9.0), -np.arange(5.0))
    parameters = {"C": 1.0}
    fits = [
        Fit(*asked, "map", parameters, 3, 1, np.ones(3), 1.0, *scores, 0.5, ["it warned"]),
        Fit(*asked, "mrr", parameters, 2, 2, np.zeros(3), 0.0, seconds=0.5, warnings=[]),
    ]
    save_fits(path, fits)
    path.write_bytes(damaged(draw, path.read_bytes()))
    try:
        found = load_fits(path)
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017
        return
    for fit, stored in zip(fits, found, strict=True):
        for field, value in vars(fit).items():
            again = getattr(stored, field)
            assert np.array_equal(value, again) if isinstance(value, np.ndarray) else value == again


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": 0}, "jobs must be a whole number, at least 1, got 0"),
        ({"folds": [folds()[0], Fold("Fold0", *(folds()[1].train,) * 3)]}, "Fold0 is given more"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    whole = {"folds": folds(), "methods": find_methods("feature:best"), "metrics": ["map"]}
    with pytest.raises(ValueError, match=message):
        Study(**{**whole, **changes})


@pytest.mark.parametrize(
    ("method", "grid", "message"),
    [
        ("lightgbm:map", {"num_leavs": [5]}, "no parameter 'num_leavs' (did you mean 'num_leaves'"),
        ("svm:map", {"c": [5]}, "unexpected keyword argument 'c'"),
        ("lightgbm:map", {"eta": [0.1]}, "eta is another name of learning_rate"),
        ("lightgbm:map", {"objective": ["binary"]}, "the study sets it for every method"),
        ("lightgbm:lambdarank", {"sigma": [1.0]}, "not for 'lambdarank'"),
        ("lightgbm:lambda_map", {"sigma": [-1.0]}, "sigma"),
    ],
)
def test_parameters_that_do_nothing_are_errors(
    method: str, grid: dict[str, Any], message: str
) -> None:
    [found] = find_methods(method)
    tried = Study(folds(1), [dataclasses.replace(found, grid=grid)], ["map"], Config(rounds=2))
    list(tried.run())
    assert message in tried.errors[found.name]


def test_a_fit_that_is_damaged_between_two_runs_is_fitted_again(tmp_path: Path) -> None:
    repeated = study(tmp_path, "lightgbm:lambda_map")
    repeated.finish()
    file = repeated.file_of(repeated.tasks[0])
    file.write_bytes(file.read_bytes()[:100])
    with pytest.warns(UserWarning, match="fitted again"):
        repeated.finish()
    assert load_fits(file)
