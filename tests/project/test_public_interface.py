"""Public names and signatures are those of public_interface.txt: a change of them is a decision."""

import difflib
from typing import Any

import public_interface
import pytest

WRITE = "a change of the public interface: undo it, or decide on it, write the file anew by \
python tests/project/public_interface.py, and name the change in CHANGELOG.md"


def test_the_public_interface_is_the_one_that_was_decided() -> None:
    pytest.importorskip("dask")  # each module needs its framework
    decided = public_interface.FILE.read_text(encoding="utf-8").splitlines()
    found = public_interface.interface().splitlines()
    changed = "\n".join(difflib.unified_diff(decided, found, "decided", "found", lineterm=""))
    assert not changed, f"{WRITE}\n{changed}"


class OfAnother:
    def fit(self, X: Any) -> None: ...


class Mine(OfAnother):
    def __init__(self, *, size: int = 3, call: Any = print, **others: Any) -> None: ...

    def __private(self) -> None: ...

    @classmethod
    def read(cls, path: str) -> None: ...

    @property
    def shown(self) -> int:
        return 0


def test_a_class_has_the_parameters_and_names_of_this_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Mine, "__module__", "lambdaplus.mine")
    assert (
        public_interface.constructor(Mine)
        == "(*, size=3, call=<built-in function print>, **others)"
    )
    assert public_interface.members(Mine) == ["read(path)", "shown"]
    assert public_interface.constructor(OfAnother) == ""


def test_a_signature_is_the_written_one_not_the_one_that_inspect_is_told_of() -> None:
    def fit(X: Any, *args: Any, qid: Any = None) -> None: ...

    vars(fit)["__signature__"] = "that of a parent"
    assert public_interface.signature(fit) == "(X, *args, qid=None)"
    assert public_interface.signature(fit, bound=True) == "(*args, qid=None)"


def test_an_object_as_default_has_a_name_and_no_address() -> None:
    assert repr(public_interface.shown(lambda: 0)) == "lambda"
    assert repr(public_interface.shown(object())) == "object"
    assert public_interface.shown(0.5) == 0.5
