"""Shared by all tests: number of hypothesis examples, caches, and the location of real data."""

import os
import pathlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# A thread of LightGBM or XGBoost that has nothing to do sleeps, where it would spin: the workers of
# pytest-xdist share the cores.  Set before either is loaded, and for the processes of tests, too.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

DATA = pathlib.Path(__file__).parents[2] / "shared" / "data"

# The same examples each time: those of a property, in per cent of what its test asks for.
ALL_PROFILES: dict[str, Any] = {
    "derandomize": True,
    "database": None,
    "deadline": None,  # the first example compiles kernels
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
}
settings.register_profile("full", max_examples=40, **ALL_PROFILES)
settings.register_profile("fast", max_examples=20, **ALL_PROFILES)
settings.register_profile(  # for mutations.py, which asks whether a test fails and not where
    "unshrunk", settings.get_profile("fast"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("full")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order in which workers take files: none compiles what another does, or ends long after.

    First those that compile most kernels, each its own; then files with slow tests; then the
    others, by their number of tests.
    """
    compile_most = ("test_gradients.py", "test_values.py")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    tests = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (
            item.path.name not in compile_most,
            item.path not in slow,
            -tests[item.path],
        )
    )


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets that tests read are not left in the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMBDAPLUS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def data_folder() -> pathlib.Path:
    """The folder of real data sets next to the project."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA}")
    return DATA


@pytest.fixture
def empty_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots of a report are empty files, for tests of all else in it: drawing takes most time."""

    def save_plot(_: Any, folder: pathlib.Path, name: str) -> str:
        for ending in ("png", "svg"):
            (folder / f"{name}.{ending}").touch()
        return "<svg></svg>"

    monkeypatch.setattr("lambdaplus.study.report.save_plot", save_plot)
