"""The release: the same version everywhere, a clean wheel, and a core without extras."""

import importlib.metadata
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from places import ROOT, TESTS

import lambdaplus
from papers.every_paper import PAPERS

NAMED = {
    "lightgbm": ("lambdaplus.lightgbm", "LightGBMRanker", "McRank"),
    "xgboost": ("lambdaplus.xgboost", "XGBoostRanker"),
    "dask": ("lambdaplus.dask",),
    "dataframe": ("read_data", "read_table"),
    "cli": ("lambdaplus.cli",),
}


@pytest.mark.slow
def test_the_core_needs_no_extra_and_a_missing_one_is_named() -> None:
    command = [sys.executable, "-W", "ignore", str(TESTS / "without_extras.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    for extra, entries in NAMED.items():
        for entry in entries:
            assert f"pip install 'lambdaplus[{extra}]'" in said.pop(entry)
    assert not said


def test_version_licence_and_papers_are_the_same_everywhere() -> None:
    yaml = pytest.importorskip("yaml")
    version, about = lambdaplus.__version__, importlib.metadata.metadata("lambdaplus")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    found = cited["license"], cited["title"], cited["abstract"]
    assert found == (about["License-Expression"], about["Name"], about["Summary"])
    changes = (ROOT / "CHANGELOG.md").read_text()
    released = re.search(r"^## \[(\d.*)\] - (.*)$", changes, re.M)
    assert released
    assert released.groups() == (cited["version"], str(cited["date-released"]))
    assert version == about["Version"]
    assert version == cited["version"] or ("[Unreleased]" in changes and version.endswith(".dev0"))
    for there, paper in zip(cited["references"], PAPERS, strict=True):
        assert there["title"] in paper.citation
        assert f"{there['year']}." in paper.citation
        assert all(author["family-names"] in paper.citation for author in there["authors"])


def test_a_version_of_every_dependency_is_locked() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = about["project"], about["dependency-groups"]
    needed = sum(project["optional-dependencies"].values(), project["dependencies"])
    lines = re.findall(r"^\w.*", (ROOT / "constraints.txt").read_text(), re.M)
    pins = [pin for pin in map(Requirement, lines) if pin.marker is None or pin.marker.evaluate()]
    locked = {pin.name: str(pin.specifier).removeprefix("==") for pin in pins}
    for requirement in map(Requirement, needed + groups["dev"] + groups["docs"]):
        if requirement.name != "lambdaplus":  # extras of its own
            found = locked[requirement.name]
            assert requirement.specifier.contains(found), f"{requirement}, not {found}: make lock"


def test_the_wheel_holds_the_package_and_the_source_distribution_the_papers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = pytest.importorskip("hatchling.build")
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build.build_wheel(str(tmp_path))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = (ROOT / "lambdaplus").rglob("*")
    ours = {str(path.relative_to(ROOT)) for path in package if path.suffix == ".py"}
    data = {"py.typed", "study/report_template.html"}
    assert names == ours | {f"lambdaplus/{name}" for name in data}
    with tarfile.open(tmp_path / build.build_sdist(str(tmp_path))) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    papers = {str(path.relative_to(ROOT)) for path in (ROOT / "papers").rglob("*.py")}
    assert papers
    assert papers | {"Makefile", "pyproject.toml", "benchmarks/speed.py"} <= names
