"""Load a model that LightGBM or XGBoost saved to a file."""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any


def read_model(path: str | os.PathLike[str]) -> Any:
    """Load a Booster that `lightgbm` saved as text, or `xgboost` as JSON or UBJSON.

    Raises
    ------
    ValueError
        If the file is not a model, or was truncated.
    ImportError
        If the framework of the model is not installed.
    """
    file = Path(path)
    content = file.read_bytes()
    if content.startswith(b"tree"):
        framework, whole = "lightgbm", _has_declared_trees(content)
    elif content.startswith(b"{"):
        framework, whole = "xgboost", content.rstrip().endswith(b"}")
    else:
        raise ValueError(
            f"{file} is not a model: LightGBM's save_model writes text that begins with 'tree', "
            "XGBoost's a .json or .ubj file"
        )
    library = import_module(f"lambdaplus.{framework}")
    if whole:
        try:
            return library.Booster(model_file=str(file))
        except Exception:  # of the framework's own kinds
            whole = False
    raise ValueError(
        f"{file} is a broken model file: it may have been truncated or changed; save the model "
        "again"
    )


def _has_declared_trees(content: bytes) -> bool:
    """Whether LightGBM's text has all the trees of its header: it reads the rest of a cut file."""
    sizes = re.search(rb"^tree_sizes=([0-9 ]+)$", content, re.MULTILINE)
    first, end = content.find(b"\nTree=0\n"), content.find(b"\nend of trees\n")
    return sizes is not None and end == first + sum(map(int, sizes[1].split()))
