"""Versions of lambdaplus and of what it needs."""

import contextlib
import functools
import importlib.metadata

_DEPENDENCIES = (
    "lambdaplus", "lightgbm", "xgboost", "numpy", "numba", "scipy", "scikit-learn",
)  # fmt: skip


@functools.cache  # called for every training of a study
def installed_versions() -> dict[str, str]:
    """Versions of lambdaplus and of its installed dependencies.

    Examples
    --------
    >>> from lambdaplus.study import installed_versions
    >>> sorted({"lambdaplus", "numpy"} & {*installed_versions()})
    ['lambdaplus', 'numpy']
    """
    versions = {}
    for name in _DEPENDENCIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def versions_in_words() -> str:
    """`installed_versions` as text, such as "lambdaplus 0.2.0, numpy 2.4.0".

    Examples
    --------
    >>> from lambdaplus.study import versions_in_words
    >>> versions_in_words().split()[0]
    'lambdaplus'
    """
    return ", ".join(f"{name} {version}" for name, version in installed_versions().items())
