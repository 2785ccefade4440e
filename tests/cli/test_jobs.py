"""How many fits `compare` runs at the same time, and on how many threads each."""

from typing import Any

import pytest
from commands import invoke

from lambdaplus.cli import comparison


@pytest.mark.parametrize(
    ("omp", "cores", "asked", "used"),
    [
        ("", 6, "0", (6, 1)),
        ("", 6, "2", (2, 3)),
        ("", 1, "0", (1, 1)),  # by affinity, or the limit of a container
        ("1", 6, "0", (1, 1)),
        ("4", 6, "0", (4, 1)),
        ("4", 6, "1", (1, 4)),
        ("1", 6, "3", (3, 1)),  # as asked
        ("8", 2, "0", (2, 1)),  # more threads than cores
    ],
)
def test_jobs_and_threads_are_those_that_the_process_may_use(
    omp: str, cores: int, asked: str, used: Any, monkeypatch: Any, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", omp)
    monkeypatch.setattr("joblib.cpu_count", lambda: cores)
    seen = []

    def study_of(config: Any, out: Any, jobs: int, threads: int) -> Any:
        seen.append((jobs, threads))
        raise ValueError("seen")

    monkeypatch.setattr(comparison, "study_of", study_of)
    assert "seen" in invoke("compare", "--jobs", asked, ends=2).output
    assert seen == [used]
