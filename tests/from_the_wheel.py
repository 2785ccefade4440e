"""The wheel in empty environments, with the oldest and newest versions: pages and examples run.

    python tests/from_the_wheel.py PYTHON [PYTHON ...]

Run by `make release`, with the programs of its environment.  The pages, the examples and their
tests are those of the source distribution, whose package is removed before: only the wheel has it.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

DIST = Path(__file__).parents[1] / "dist"
UV = Path(sys.executable).parent / "uv"
VERSIONS = {"oldest": "lowest-direct", "newest": "highest"}
OLDEST_LIGHTGBM = (
    "lightgbm>=4; python_version < '3.13'",  # LightGBM 3 has tests of its own
    "lightgbm>=4.6; python_version >= '3.13'",  # on which NumPy is 2
)
NEEDED = "hypothesis", "pandas", "pyarrow", "pytest", "pytest-xdist"  # by pages and their tests
PLACE = "import lambdaplus; print(lambdaplus.__version__, lambdaplus.__file__)"
TESTS = "tests/repository/test_docs.py", "tests/repository/test_examples.py"
CHOSEN = "test_the_code_of_a_page_runs or test_an_example_runs"


def sources(folder: Path) -> Path:
    """The source distribution without its package."""
    (packed,) = DIST.glob("*.tar.gz")
    with tarfile.open(packed) as file:
        file.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    (found / "lambdaplus").rename(folder / "not-imported")
    return found


def environment(folder: Path, python: str, resolution: str, pages: Path) -> Path:
    """The Python of a new environment that has the wheel, and what the tests need."""
    (wheel,) = DIST.glob("*.whl")
    own, versions, bounds = folder / "bin" / "python", folder / "versions", folder / "bounds"
    subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=True)
    project = pages / "pyproject.toml"
    of_tests = tomllib.loads(project.read_text())["dependency-groups"]["dev"]
    bounds.write_text("\n".join([*OLDEST_LIGHTGBM, *of_tests]))
    names = folder / "names"
    names.write_text("\n".join(NEEDED))
    # Versions are chosen for the project: for its wheel, what it needs would not be direct.
    choose = ["--resolution", resolution, "--no-build", "--all-extras", "--constraint", bounds]
    subprocess.run(
        [UV, "pip", "compile", "--quiet", "--python", own, *choose,
         "--output-file", versions, project, names],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--no-build", "--python", own, "--constraint", versions,
         f"lambdaplus[all] @ {wheel.resolve().as_uri()}", *NEEDED],
        check=True,
    )  # fmt: skip
    return own


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        pages = sources(folder / "sources")
        for number, python in enumerate(sys.argv[1:]):
            for name, resolution in VERSIONS.items():
                print(f"{python}, {name} versions:", flush=True)
                own = environment(folder / f"{name}-{number}", python, resolution, pages)
                subprocess.run([own, "-c", PLACE], check=True, cwd=folder)
                settings = {**os.environ, "PYTHONPATH": ""}
                tests = [own, "-m", "pytest", "-q", "-n", "2", "-o", "addopts=--strict-markers"]
                subprocess.run([*tests, *TESTS, "-k", CHOSEN], check=True, cwd=pages, env=settings)


if __name__ == "__main__":
    main()
