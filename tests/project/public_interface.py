"""Writes the public interface into public_interface.txt, with which a test compares it.

    python tests/project/public_interface.py

The modules are those of docs/reference/modules.rst, their names those of `__all__` or, without it,
what a module defines.  Types are left out, and so are signatures that come from other packages.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
PACKAGE = "lambdaplus"
LISTED = Path(__file__).parents[2] / "docs" / "reference" / "modules.rst"


def interface() -> str:
    """A block for each module: its names, with signatures where they are defined."""
    blocks = [["lambdaplus", *(f"    {name}" for name in import_module(PACKAGE).__all__)]]
    for name in modules():
        found = import_module(name)
        lines = [line for public in public_names(found) for line in described(found, public)]
        blocks.append([name, *(f"    {line}" for line in lines)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def modules() -> list[str]:
    names = re.findall(r"^   (lambdaplus\.\S+)$", LISTED.read_text(encoding="utf-8"), re.M)
    return [name for name in names if is_module(name)]


def is_module(name: str) -> bool:
    """Whether it is no class of the list."""
    return not name.rpartition(".")[2][0].isupper() and find_spec(name) is not None


def public_names(module: ModuleType) -> list[str]:
    if "__all__" in vars(module):
        return sorted(module.__all__)
    return sorted(
        name
        for name, one in vars(module).items()
        if not name.startswith("_") and getattr(one, "__module__", "") == module.__name__
    )


def described(module: ModuleType, name: str) -> Iterator[str]:
    one = getattr(module, name)
    if inspect.isclass(one):
        yield f"class {name}{constructor(one)}"
        yield from (f"    .{line}" for line in members(one))
    elif isinstance(inspect.unwrap(one), FunctionType):
        yield name + signature(one)
    else:
        yield name  # an object, such as `lambda_map`


def constructor(kind: type) -> str:
    """Its parameters, or nothing if another package defines it."""
    for base in ours(kind):
        for method in ("__init__", "__new__"):
            found = vars(base).get(method)
            found = getattr(found, "__func__", found)
            if isinstance(found, FunctionType):
                return signature(found, bound=True)
    return ""


def members(kind: type) -> list[str]:
    """Public methods and properties that this package defines."""
    found: dict[str, str] = {}
    for base in ours(kind):
        for name, one in vars(base).items():
            if name.startswith("_") or name in found:
                continue
            one = getattr(one, "fn", one)  # behind scikit-learn's available_if
            if isinstance(one, classmethod | staticmethod):
                found[name] = name + signature(one.__func__, isinstance(one, classmethod))
            elif isinstance(one, FunctionType) and "__signature__" not in vars(one):
                found[name] = name + signature(one, bound=True)
            elif inspect.isdatadescriptor(one) or type(one).__name__ == "cached_property":
                found[name] = name
    return [found[name] for name in sorted(found)]


def ours(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__module__.partition(".")[0] == PACKAGE]


def signature(function: Any, bound: bool = False) -> str:
    """The parameters as they are written, not those that `inspect` is told of, without types."""
    function = inspect.unwrap(getattr(function, "py_func", function))  # what numba compiles
    plain = FunctionType(function.__code__, {}, "", function.__defaults__, function.__closure__)
    plain.__kwdefaults__ = function.__kwdefaults__
    parameters = [*inspect.signature(plain).parameters.values()][bound:]
    return str(inspect.Signature([one.replace(default=shown(one.default)) for one in parameters]))


class Named:
    """A default that is no number or text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def shown(default: Any) -> Any:
    if default is inspect.Parameter.empty or " at 0x" not in repr(default):
        return default
    return Named(getattr(default, "__name__", type(default).__name__).strip("<>"))


if __name__ == "__main__":
    FILE.write_text(interface(), encoding="utf-8")
