"""Digests of objects by their content, that is, by code and data and not only by name.

Two objects have the same digest if they cannot be distinguished in a fit.  For functions and
classes of the user, the digest includes the source of their module and of the user's modules that
it imports; for installed packages, the version of the package; the source of lambdaplus is part of
every key.  An object that cannot be inspected (code without a source, a lock) never has the digest
of another object, so that no stored result is reused for it.

Examples
--------
>>> from lambdaplus.study.identity import digest
>>> digest({"a": 1, "b": [2.0, None]}) == digest({"b": [2.0, None], "a": 1})
True
>>> digest(1) == digest(1.0), digest(lambda x: x + 1) == digest(lambda x: x + 2)
(False, False)
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import platform
import sys
import types
import uuid
from collections.abc import Iterator
from pathlib import Path
from site import getsitepackages, getusersitepackages
from typing import Any

import numpy as np

PACKAGE = Path(__file__).parents[1]
NOT_IN_FITS = ("cli", "export")  # subpackages that fits use only through a method


def digest(value: Any) -> str:
    """A digest of the content: 20 hexadecimal digits."""
    try:
        return _hash(_content(value, ()))[:20]
    except RecursionError:  # lists that are nested too deeply
        return _hash(_never_the_same())[:20]


@functools.cache
def source_of_lambdaplus() -> str:
    """A digest of the source on which fits depend."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE)
        if name.parts[0] not in NOT_IN_FITS:
            found.update(f"{name.as_posix()}\n".encode() + path.read_bytes())
    return found.hexdigest()[:20]


def _content(value: Any, within: tuple[int, ...]) -> str:
    """The content as text; ``within`` are the objects that contain it."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return f"{type(value).__name__} {value!r}" + _subclass(value)
    if id(value) in within:
        return f"the {within.index(id(value))}th around it"
    inner = (*within, id(value))

    def text(parts: Any) -> list[str]:
        return [_content(part, inner) for part in parts]

    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        data = np.ascontiguousarray(value)
        return f"array {data.dtype.str} {data.shape} {hashlib.sha256(data.tobytes()).hexdigest()}"
    if isinstance(value, types.CodeType):
        return f"code {value.co_code.hex()} {value.co_names} {text(value.co_consts)}"
    if isinstance(value, types.FunctionType):
        return _function(value, text)
    if isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
        return _named(value)
    if type(value) in (list, tuple):
        return f"{type(value).__name__} [{', '.join(text(value))}]"
    if type(value) is dict:
        return f"dict {sorted(zip(text(value), text(value.values()), strict=True))}"
    if type(value) in (set, frozenset):
        return f"set {sorted(text(value))}"
    if hasattr(value, "py_func"):  # compiled by numba
        return f"compiled {text([value.py_func])}"
    try:
        made = value.__reduce_ex__(4)
    except Exception:  # a lock, an open file, or another object that cannot be pickled
        return _never_the_same()
    if isinstance(made, str):
        return _named(value, made)
    parts = [list(part) if isinstance(part, Iterator) else part for part in made]
    return f"object {text([type(value), *parts])}"


def _subclass(value: Any) -> str:
    """What distinguishes a value of a subclass, such as a member of an Enum or a NumPy number."""
    kind = type(value)
    return "" if kind.__module__ == "builtins" else _named(kind)


def _function(function: types.FunctionType, text: Any) -> str:
    """Its code, its defaults and closure, and the values that it refers to."""
    where = _origin(function.__module__)
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    made_with = text([function.__defaults__, function.__kwdefaults__, cells])
    code = text([function.__code__])
    if where is not None:
        name = f"{function.__module__}.{function.__qualname__}"
        return f"function {name} {where} {code} {made_with}"
    named = {
        name: function.__globals__[name]
        for name in _names_in(function.__code__)
        if name in function.__globals__
    }
    sources = _sources(function.__module__) or ""  # without a source, only its code is used
    return f"function {code} {made_with} {text([named])} {sources}"


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _names_in(code: types.CodeType) -> list[str]:
    """Names that the code, and the functions within it, may look up outside of it."""
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return sorted({*code.co_names, *(name for part in inner for name in _names_in(part))})


def _named(value: Any, name: str = "") -> str:
    """A class, a module, a built-in function or a global, by its name and origin."""
    module = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    text = f"{module}.{name or getattr(value, '__qualname__', '')}"
    if (origin := _origin(module)) is not None:
        return f"{text} {origin}"
    # The code is included, since the loaded code may be older than the source.
    members = vars(value).values() if isinstance(value, type) else ()
    code = [member.__code__ for member in members if isinstance(member, types.FunctionType)]
    return f"{text} {_sources(module) or _never_the_same()} {_content(code, ())}"


def _origin(module: str | None) -> str | None:
    """The package and version of an installed module; None for modules of the user."""
    top, *subpackages = (module or "builtins").split(".")
    if top == "lambdaplus" and subpackages[:1] not in [[name] for name in NOT_IN_FITS]:
        return "lambdaplus"
    if top in (sys.stdlib_module_names | {*sys.builtin_module_names}) - {"__main__"}:
        return f"Python {platform.python_version()}"
    path = _path_of(top)
    if path is None or _installed().isdisjoint(path.parents):
        return None
    return f"{top} {_versions().get(top, '')}"


@functools.cache
def _installed() -> frozenset[Path]:
    """Folders of installed packages."""
    return frozenset(Path(name).resolve() for name in (*getsitepackages(), getusersitepackages()))


@functools.cache
def _versions() -> dict[str, str]:
    """Versions of the installed packages, by import name."""
    found = importlib.metadata.packages_distributions().items()
    return {name: importlib.metadata.version(given[0]) for name, given in found}


def _path_of(module: str) -> Path | None:
    """The file of a module, or the folder of a package without a file."""
    loaded = sys.modules.get(module)
    if loaded is None:
        try:
            found = importlib.util.find_spec(module)
        except Exception:  # it does not exist, or a parent package cannot be imported
            return None
        file = found.origin if found is not None and found.has_location else None
        folders = found.submodule_search_locations if found is not None else None
    else:
        file, folders = getattr(loaded, "__file__", None), getattr(loaded, "__path__", None)
    place = file or next(iter(folders or ()), None)
    return Path(place).resolve() if place else None


def _sources(module: str) -> str | None:
    """A digest of the source of this module and of the user's modules that it imports."""
    todo, found = [module], dict[str, str]()
    while todo:
        name = todo.pop()
        if name in found or _origin(name) is not None:
            continue
        path = _path_of(name)
        if path is not None and path.is_file():
            content = path.read_bytes()
            found[name] = _hash(content)
            todo += _imported(name, path, content)
    return _hash(str(sorted(found.items()))) if found else None


def _imported(name: str, path: Path, content: bytes) -> Iterator[str]:
    """Modules that a module may import, at its top or within a function."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # not Python source, for example an extension module
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(base, package) if node.level else base
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _never_the_same() -> str:
    return f"unknown {uuid.uuid4()}"


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()
