"""``predict.pyz``: the modules of a saved model as a program, which needs no lambdaplus."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile, ZipInfo

from lambdaplus import saved_model

PROGRAM = "predict.pyz"
_MAIN = """import sys

from saved_model.command import main

sys.exit(main(sys.argv[0], sys.argv[1:]))
"""
LAUNCHER = "predict.py"
_LAUNCH = f'''"""Runs {PROGRAM}, which lies beside it, for commands with its earlier name."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # nothing that lies beside it is imported

import runpy

sys.argv[0] = __file__.removesuffix("{LAUNCHER}") + "{PROGRAM}"
runpy.run_path(sys.argv[0], run_name="__main__")
'''


def write_program(file: Path) -> None:
    """Write a zip file, the same bytes on each machine, not compressed: an editor shows its text.

    Python imports what such a file holds or an environment has, and nothing that lies beside it.
    """
    folder = Path(str(saved_model.__file__)).parent
    modules = {f"{folder.name}/{path.name}": path for path in sorted(folder.glob("*.py"))}
    with ZipFile(file, "w") as archive:
        for name in ("__main__.py", *modules):
            entry = ZipInfo(name)  # of 1980, whatever the clock and the zone
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # as on Unix
            archive.writestr(entry, modules[name].read_bytes() if name in modules else _MAIN)


def write_launcher(file: Path) -> None:
    """Write a few lines that run the program beside them."""
    file.write_text(_LAUNCH, encoding="utf-8")
