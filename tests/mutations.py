"""Do the fast tests notice a broken line?  Each is broken in a copy of the project.

    make mutations

Each line runs the fast tests, those of its likeliest files first, up to the first that fails.  The
table goes to benchmarks/results/mutations.md.
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "mutations.md"
FAST = ["-m", "pytest", "-q", "-x", "-m", "not slow", "--hypothesis-profile=unshrunk"]


@dataclass(frozen=True)
class Mutation:
    """A line of the package, what it becomes, and the file whose tests most likely notice it."""

    what: str
    line: str
    broken: str
    likeliest: str


TABLE = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text(encoding="utf-8"))
MUTATIONS = [Mutation(**one) for one in TABLE["mutation"]]


def copy_of_project(folder: Path) -> Path:
    """The project with its compiled kernels, without environments and what was built."""
    needless = shutil.ignore_patterns(".git", ".venv*", "build", "dist", ".*_cache", ".hypothesis")
    return Path(shutil.copytree(ROOT, folder / "lambdaplus", ignore=needless, symlinks=True))


def break_line(project: Path, mutation: Mutation) -> None:
    sources = {path: path.read_text() for path in project.glob("lambdaplus/**/*.py")}
    held = {path: text.count(mutation.line) for path, text in sources.items()}
    if sum(held.values()) != 1:
        sys.exit(f"{mutation.what}: there is no single line {mutation.line!r} in lambdaplus/")
    [path] = [path for path, count in held.items() if count]
    path.write_text(sources[path].replace(mutation.line, mutation.broken))


def first_failure(project: Path, likeliest: str) -> str:
    """The first of the fast tests that fails in the copy, empty if none does."""
    [file] = project.glob(f"tests/*/{likeliest}")
    return run(project, str(file)) or run(project, "--ignore=tests/lightgbm3")


def run(project: Path, argument: str) -> str:
    ran = subprocess.run(
        [sys.executable, *FAST, "-p", "no:cacheprovider", argument],
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


def try_all(chosen: list[Mutation]) -> list[tuple[Mutation, str]]:
    """What noticed each mutation."""
    rows = []
    for mutation in chosen:
        with tempfile.TemporaryDirectory() as folder:
            project = copy_of_project(Path(folder))
            break_line(project, mutation)
            start = time.monotonic()
            rows.append((mutation, first_failure(project, mutation.likeliest)))
        seconds = time.monotonic() - start
        print(f"{mutation.what}: {rows[-1][1] or 'not noticed'} ({seconds:.0f} s)", flush=True)
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
    only = parser.parse_args().only
    rows = try_all([mutation for mutation in MUTATIONS if only in mutation.what])
    if only:
        return
    PAGE.write_text(page(rows))
    missed = sum(not test for _, test in rows)
    sys.exit(f"{missed} of {len(rows)} broken lines were not noticed" if missed else 0)


if __name__ == "__main__":
    main()
