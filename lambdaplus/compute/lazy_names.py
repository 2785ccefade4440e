"""Public names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def modules_of(*rows: tuple[str, str]) -> dict[str, str]:
    """The module of each name, of rows of a module and its names, with spaces between them."""
    return {name: module for module, names in rows for name in names.split()}


def importer(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package with the module of each of its public names."""

    def found(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)  # not imported again
        return value

    return found
