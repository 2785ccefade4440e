"""Parameters that read or write files, or open connections, which a study's file may not set.

A TOML file may be somebody else's, and everything else in it is data to read or numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

from lambdaplus.frameworks.internals import lightgbm_aliases
from lambdaplus.study.methods import Method

_OF_LIGHTGBM = (
    "config", "task", "data", "valid", "input_model", "output_model", "output_result",
    "save_binary", "snapshot_freq", "convert_model", "forcedsplits_filename",
    "forcedbins_filename", "parser_config_file", "machines", "machine_list_filename",
    "num_machines", "local_listen_port", "time_out",
)  # fmt: skip
# Of any estimator, such as scikit-learn's caches of fits and CatBoost's folders.
_LIKE_THESE = re.compile(r"(.*_)?(file|filename|filepath|dir|folder|path|uri|url|port|memory)s?")


def refuse_files_and_machines(method: Method, given: Mapping[str, Any]) -> None:
    """Raise a ValueError for such a parameter of a method, also within the text of another.

    LightGBM reads its parameters from one text, with blanks between them.
    """
    texts = [f"{name}={_text(value)}" for name, value in given.items()]
    for name in (name for text in texts for name in re.findall(r"(\w+)\s*=", text)):
        if _LIKE_THESE.fullmatch(name) or name in _of_lightgbm():
            raise ValueError(
                f"method {method.name!r} with {name}: it may read or write files, or connect to "
                "other machines, which a comparison does not: leave it out"
            )


def _text(value: Any) -> str:
    return " ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _of_lightgbm() -> set[str]:
    try:
        return {alias for name in _OF_LIGHTGBM for alias in lightgbm_aliases(name)}
    except ImportError:
        return {*_OF_LIGHTGBM}
