"""Warnings that are given once for a training, or once for a search with its many trainings."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[str | None] = ContextVar("training", default=None)
_given: set[tuple[str, str]] = set()


@contextmanager
def one_training(key: str) -> Iterator[None]:
    """Within it, and in others of the same key in this process, `warn` gives a warning once."""
    token = _current.set(key)
    try:
        yield
    finally:
        _current.reset(token)


def warn(message: str, stacklevel: int) -> None:
    """Give a UserWarning, unless it was given in this training."""
    key = _current.get()
    if key is not None:
        if (key, message) in _given:
            return
        _given.add((key, message))
    warnings.warn(message, stacklevel=stacklevel + 1)
