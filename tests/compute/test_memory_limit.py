"""The memory that a process may use."""

from pathlib import Path

from lambdaplus.compute.memory import memory_limit


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_smallest_limit_around_a_process_counts(tmp_path: Path) -> None:
    groups, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("0::/outer/inner\n")
    machine = memory_limit(groups, own)  # no file of a limit
    assert machine > 1e8
    _write(groups / "outer" / "inner" / "memory.max", "max\n")
    assert memory_limit(groups, own) == machine
    _write(groups / "outer" / "memory.max", "5000000\n")
    assert memory_limit(groups, own) == 5_000_000
    _write(groups / "memory.max", "4000000\n")
    assert memory_limit(groups, own) == 4_000_000


def test_groups_of_the_first_version(tmp_path: Path) -> None:
    groups, own = tmp_path / "cgroup", tmp_path / "own"
    own.write_text("3:cpu,cpuacct:/a\n2:memory:/a\n")
    _write(groups / "memory" / "a" / "memory.limit_in_bytes", "3000000\n")
    _write(groups / "a" / "memory.max", "1\n")  # of another version
    assert memory_limit(groups, own) == 3_000_000


def test_a_system_without_groups(tmp_path: Path) -> None:
    assert memory_limit(tmp_path, tmp_path / "none") > 1e8
