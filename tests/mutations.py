"""Do the fast tests notice a broken line?  Each is broken in a copy of the project.

    make mutations
    python tests/mutations.py --only estimators --likeliest

Each line runs the tests of its likeliest file, and, if these pass, all fast ones up to the first
that fails.  The table goes to benchmarks/results/mutations.md.

Any change of the package recompiles its kernels, which would take most of the time.  So the tests
of the likeliest files run once in a copy without a broken line, where all must pass, and copies of
this copy keep its kernels, unless the broken line is in a file with kernels.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "mutations.md"
FAST = [
    "-m", "pytest", "-q", "-x", "-m", "not slow", "--hypothesis-profile=unshrunk",
    "--ignore=tests/repository",
]  # fmt: skip
COMPILED = Path("lambdaplus", "compute", "compiled.py")
STAMP = "package_source.source_of_kernels()"  # of the kernels, in this file


@dataclass(frozen=True)
class Mutation:
    """A line of the package, what it becomes, and the file whose tests most likely notice it."""

    what: str
    line: str
    broken: str
    likeliest: str

    def test_file(self, project: Path) -> Path:
        [file] = project.glob(f"tests/*/{self.likeliest}")
        return file

    def source_file(self, project: Path) -> Path:
        """The file that holds the line; a ValueError if it is not there exactly once."""
        held = {path: path.read_text().count(self.line) for path in sources(project)}
        if sum(held.values()) != 1:
            raise ValueError(f"{self.what}: {sum(held.values())} lines are {self.line!r}")
        [path] = [path for path, count in held.items() if count]
        return path


TABLE = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text(encoding="utf-8"))
MUTATIONS = [Mutation(**one) for one in TABLE["mutation"]]


def sources(project: Path) -> list[Path]:
    return [*project.glob("lambdaplus/**/*.py")]


def lost_lines() -> list[str]:
    """What is wrong with the table: lines that the package does not have once."""
    wrong = []
    for mutation in MUTATIONS:
        try:
            mutation.source_file(ROOT)
            mutation.test_file(ROOT)
        except ValueError as error:
            wrong.append(str(error))
    return wrong


@contextmanager
def copy_of(project: Path) -> Iterator[Path]:
    """A copy with the compiled kernels, without environments and what was built."""
    needless = shutil.ignore_patterns(".git", ".venv*", "build", "dist", ".*_cache", ".hypothesis")
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "lambdaplus")
        yield Path(shutil.copytree(project, copied, ignore=needless, symlinks=True))


def keep_kernels(project: Path) -> None:
    """Let kernels of this project and of its copies be compiled for one version of the package."""
    text = (project / COMPILED).read_text()
    assert text.count(STAMP) == 1
    (project / COMPILED).write_text(text.replace(STAMP, '"kept"'))


def compile_anew(project: Path) -> None:
    """Let all kernels be compiled for the package as it is."""
    shutil.copy2(ROOT / COMPILED, project / COMPILED)


def first_failure(project: Path, *arguments: str) -> str:
    """The first of the fast tests of these files that fails, empty if none does."""
    ran = subprocess.run(
        [sys.executable, *FAST, "-p", "no:cacheprovider", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+?::[\w.]+|\S+)", ran.stdout, re.MULTILINE)
    if failed is None:
        sys.exit(ran.stdout[-3000:] + ran.stderr[-3000:])
    return failed[1]


def what_notices(mutation: Mutation, unbroken: Path, only_likeliest: bool) -> str:
    """The first test that fails with the broken line, empty if none does."""
    with copy_of(unbroken) as project:
        path = mutation.source_file(project)
        text = path.read_text()
        path.write_text(text.replace(mutation.line, mutation.broken))
        # A kernel that calls a changed one of another file has to be compiled anew, too.
        if re.search(r"^@(compiled|intrinsic)", text, re.MULTILINE):
            compile_anew(project)
        noticed = first_failure(project, str(mutation.test_file(project)))
        if noticed or only_likeliest:
            return noticed
        compile_anew(project)
        return first_failure(project, "--ignore=tests/lightgbm3")


def try_all(chosen: list[Mutation], only_likeliest: bool) -> list[tuple[Mutation, str]]:
    """What noticed each mutation."""
    rows = []
    with copy_of(ROOT) as unbroken:
        keep_kernels(unbroken)
        files = sorted({str(mutation.test_file(unbroken)) for mutation in chosen})
        start = time.monotonic()
        if failed := first_failure(unbroken, *files):
            sys.exit(f"{failed} fails without a broken line")
        print(f"without a broken line ({time.monotonic() - start:.0f} s)", flush=True)
        for mutation in chosen:
            start = time.monotonic()
            rows.append((mutation, what_notices(mutation, unbroken, only_likeliest)))
            seconds = time.monotonic() - start
            noticed = rows[-1][1] or "not noticed"
            print(f"{mutation.what}: {noticed} ({seconds:.0f} s)", flush=True)
    return rows


def page(rows: list[tuple[Mutation, str]]) -> str:
    noticed = sum(bool(test) for _, test in rows)
    lines = [
        "# Do the fast tests notice a broken line?",
        "",
        "    make mutations",
        "",
        f"{noticed} of {len(rows)} are noticed. Each line is broken in a copy of the package; the "
        "fast tests run up to the first failure, with the likeliest files first.",
        "",
        "| Line | Broken | First test that fails |",
        "| --- | --- | --- |",
    ]
    for mutation, test in rows:
        lines.append(f"| {mutation.what} | `{mutation.broken}` | {f'`{test}`' if test else '-'} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only mutations whose name holds this text")
    parser.add_argument("--in", dest="folder", default="", help="only those of this folder's tests")
    parser.add_argument("--likeliest", action="store_true", help="only tests of the likeliest file")
    given = parser.parse_args()
    if wrong := lost_lines():
        sys.exit("\n".join(wrong))
    chosen = [
        mutation
        for mutation in MUTATIONS
        if given.only in mutation.what and given.folder in str(mutation.test_file(ROOT).parent)
    ]
    rows = try_all(chosen, given.likeliest)
    missed = sum(not test for _, test in rows)
    if chosen == MUTATIONS and not given.likeliest:
        PAGE.write_text(page(rows))
    sys.exit(f"{missed} of {len(rows)} broken lines were not noticed" if missed else 0)


if __name__ == "__main__":
    main()
