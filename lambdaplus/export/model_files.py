"""Load a model that LightGBM or XGBoost saved to a file.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.export.model_files import read_model
>>> file = pathlib.Path(tempfile.mkdtemp(), "model.txt")
>>> _ = file.write_text("not a model")
>>> read_model(file)
Traceback (most recent call last):
...
ValueError: ...model.txt is not a model: LightGBM's save_model writes text that begins with ...
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from lambdaplus.export.whole import refuse_incomplete, refuse_uneven

# Optional imports of both frameworks, which take longer than reading a model.
_NOT_NEEDED = ("dask", "matplotlib", "pandas", "polars", "sklearn")
SECONDS_TO_READ = 300
_READ = {
    "lightgbm": "lightgbm.Booster(model_file=sys.argv[1]).dump_model()",
    "xgboost": "xgboost.Booster(model_file=sys.argv[1]).save_raw('json')",
}


def read_model(path: str | os.PathLike[str]) -> Any:
    """Load a Booster that `lightgbm` saved as text, or `xgboost` as JSON or UBJSON.

    Both frameworks abort the process without a message for some truncated or changed files.
    Therefore the file is first read in a separate process.

    Raises
    ------
    ValueError
        If the file is not a model, or is damaged.
    ImportError
        If the framework of the model is not installed.
    """
    file = Path(path)
    content = file.read_bytes()
    start = content[:4]
    if start == b"tree":
        framework = "lightgbm"
    elif start[:1] == b"{":
        framework = "xgboost"
    else:
        raise ValueError(
            f"{file} is not a model: LightGBM's save_model writes text that begins with 'tree', "
            "XGBoost's a .json or .ubj file"
        )
    library = import_module(f"lambdaplus.{framework}")
    if framework == "lightgbm":
        refuse_incomplete(file, content)
    elif file.suffix == ".json":
        refuse_uneven(file, content)
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({_NOT_NEEDED})); "
        f"import {framework}; {_READ[framework]}"
    )
    command = [sys.executable, "-c", code, str(file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:  # with some damaged files, a framework never stops reading
        tried = subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=SECONDS_TO_READ
        )
        broken = tried.returncode != 0
    except subprocess.TimeoutExpired:
        broken = True
    if broken:
        raise ValueError(
            f"{file} is a broken model file: {framework} cannot read it. It may have been "
            "truncated or changed: save the model again"
        )
    return library.Booster(model_file=str(file))
