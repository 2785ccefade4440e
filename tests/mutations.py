"""Do the fast tests notice a broken line?  Each is broken in a copy of the project.

    make mutations

Each line runs the fast tests, those of its likeliest files first, up to the first that fails.  The
table goes to benchmarks/results/mutations.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "mutations.md"
FAST = ["-m", "pytest", "-q", "-x", "-m", "not slow", "--hypothesis-profile=unshrunk"]


@dataclass(frozen=True)
class Mutation:
    """One line of the package, found by its text wherever it is, and what it becomes."""

    what: str
    line: str
    broken: str
    likeliest: str


MUTATIONS = (
    Mutation(
        "sign of the sweep's gradient",
        "gradient[i] += push * (1.0 - 2.0 * relevant)",
        "gradient[i] += push * (2.0 * relevant - 1.0)",
        "test_gradients.py",
    ),
    Mutation(
        "potential: what the other documents gain or lose in a swap",
        "changes[x] -= _coupling(factor, column, higher, X, A)",
        "changes[x] += _coupling(factor, column, higher, X, A)",
        "test_potentials.py",
    ),
    Mutation(
        "rounding: the width of a cell",
        "line[last, 1] = np.divide(1.0, width",
        "line[last, 1] = np.divide(0.5, width",
        "test_rounding.py",
    ),
    Mutation(
        "the sum over pairs of a query is that of its own lists",
        "sums.received[:] += received",
        "sums.received[: out.received.size] += out.received",
        "test_gradients.py",
    ),
    Mutation(
        "ties: lower labels first",
        "keys = [self.labels, np.repeat",
        "keys = [-self.labels, np.repeat",
        "test_values.py",
    ),
    Mutation(
        "folds keep queries whole",
        "return list(splitter.split(ids, groups=ids))",
        "return list(splitter.split(ids, groups=np.arange(ids.size)))",
        "test_cv_folds.py",
    ),
    Mutation(
        "key of a stored fit: the user's own source",
        "content = [joblib.hash(value), *map(_code_of, sorted(modules))]",
        "content = [joblib.hash(value)]",
        "test_kept_fits.py",
    ),
    Mutation(
        "discount of NDCG: log2(1 + rank)",
        "return 1.0 / np.log2(1.0 + rank)",
        "return 1.0 / np.log2(2.0 + rank)",
        "test_values.py",
    ),
    Mutation(
        "normaliser of map@k: min(R, k)",
        "return counts.n_relevant if every else np.minimum(counts.n_relevant, counts.at_most)",
        "return counts.n_relevant",
        "test_values.py",
    ),
    Mutation(
        "best round: the first of equal values",
        "if not value > self.best:",
        "if not value >= self.best:",
        "test_progress.py",
    ),
    Mutation(
        "qid: rows of a query that are not adjacent are refused",
        "if first.size < starts.size:",
        "if first.size + 1 < starts.size:",
        "test_queries.py",
    ),
    Mutation(
        "rank:map gets binary labels",
        "binary = isinstance(objective, str) and objective in BINARY",
        "binary = False",
        "test_tuning.py",
    ),
    Mutation(
        "committee perceptron: a pair is dropped beyond its bound",
        "if misses.size and misses[pair] > bound:",
        "if misses.size and misses[pair] >= bound:",
        "test_committee_perceptron.py",
    ),
    Mutation(
        "committee perceptron: of two hypotheses that survived as long, the first stays",
        "if run <= survival[place]:",
        "if run < survival[place]:",
        "test_committee_perceptron.py",
    ),
    Mutation(
        "LightGBM: a round without a split leaves no tree",
        "trees = lengths[rounds - 1]",
        "trees = rounds",
        "test_tuning.py",
    ),
    Mutation(
        "a difference that is a rounding error is none",
        "known[np.abs(known) <= ROUNDING] = 0.0",
        "known[np.abs(known) <= 0.0] = 0.0",
        "test_compare_runs.py",
    ),
    Mutation(
        "a share of the documents: .07 of 100 is 7",
        'exact = np.round(counts.metric["fraction"] * counts.size, 9)',
        'exact = counts.metric["fraction"] * counts.size',
        "test_values.py",
    ),
    Mutation(
        "of parameters with equal values, the first are chosen",
        "int(np.nanargmax(values))",
        "values.size - 1 - int(np.nanargmax(values[::-1]))",
        "test_tuning.py",
    ),
    Mutation(
        "a mean over workers is weighted by query",
        "query_values[defined] @ weights[defined], weights[defined].sum()",
        "query_values[defined].sum(), defined.sum()",
        "test_collective.py",
    ),
    Mutation(
        "structural SVM: the margin of the AUC loss",
        "below, above, _ = active_pairs(self.queries, ranking, margin,",
        "below, above, _ = active_pairs(self.queries, ranking, 0.0 * margin,",
        "test_oracles.py",
    ),
    Mutation(
        "export: without missing values in training, NaN is 0",
        "missing_left = threshold > 0.0",
        'missing_left = bool(node["default_left"])',
        "test_export.py",
    ),
    Mutation(
        "a classifier is trained for the rarer class",
        "classes[int(counts[0] >= counts[1])]",
        "classes[int(counts[0] <= counts[1])]",
        "test_classifiers.py",
    ),
    Mutation(
        "a command does not overwrite its input",
        "out.samefile(given)",
        "out == given",
        "test_hostile_commands.py",
    ),
    Mutation(
        "run files: documents that were not returned are below all others",
        "below = math.nextafter(min(found.values(), default=0.0), -math.inf)",
        "below = min(found.values(), default=0.0)",
        "test_runs.py",
    ),
    Mutation(
        "queries are read again when the arrays have changed",
        "(a is not None and b is not None and np.array_equal(a, b))",
        "(a is not None and b is not None and a.shape == b.shape)",
        "test_training.py",
    ),
    Mutation(
        "XGBoost's Hessians are doubled",
        "HESSIAN_FACTOR_IN_XGBOOST = 2.0",
        "HESSIAN_FACTOR_IN_XGBOOST = 1.0",
        "test_training.py",
    ),
    Mutation(
        "a file that was changed since it was written is the user's",
        "and _digest(path) in digests",
        "and bool(digests)",
        "test_output_folder.py",
    ),
    Mutation(
        "threads: the last block of queries",
        "[0, *inner.tolist(), boundaries.size - 1]",
        "[0, *inner.tolist()]",
        "test_threads.py",
    ),
    Mutation(
        "xgboost.cv: the weights of the queries of a fold",
        "part.set_weight(weight[chosen])",
        "part.set_weight(weight[: chosen.sum()])",
        "test_drop_ins.py",
    ),
    Mutation(
        "splits: .29 of 100 queries are 29",
        "part * n_queries + 1e-9",
        "part * n_queries",
        "test_datasets_splits.py",
    ),
)


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
    return run(project, f"tests/{likeliest}") or run(project, "--ignore=tests/lightgbm3")


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
