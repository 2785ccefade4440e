"""The lines that `make mutations` breaks are in the package, so that it can be run at any time."""

import runpy

from places import ROOT


def test_each_line_is_there_once() -> None:
    table = runpy.run_path(str(ROOT / "tests" / "mutations.py"))
    assert len(table["MUTATIONS"]) > 40
    assert not table["lost_lines"]()
