"""Checks that a model file is complete, since LightGBM reads the rest of a truncated file.

Examples
--------
>>> from pathlib import Path
>>> from lambdaplus.export.whole import refuse_incomplete
>>> refuse_incomplete(Path("m.txt"), b"tree\\ntree_sizes=9 9\\n\\nTree=0\\n\\n\\nend of trees\\n")
Traceback (most recent call last):
...
ValueError: m.txt is a broken model file: its header declares 2 trees of 18 bytes, but the file ...
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any


def refuse_incomplete(file: Path, content: bytes) -> None:
    """Raise a ValueError unless LightGBM's text has the trees that its header declares.

    Parameters
    ----------
    file : path
        For the message.
    content : bytes
    """
    sizes = re.search(rb"^tree_sizes=([0-9 ]*)$", content, re.MULTILINE)
    lengths = [] if sizes is None else [int(size) for size in sizes[1].split()]
    first = content.find(b"\nTree=0\n") + 1 if lengths else content.find(b"\nend of trees") + 1
    *starts, end = accumulate(lengths, initial=first)
    complete = sizes is not None and first > 0 and content.startswith(b"end of trees\n", end)
    if not complete or not all(
        content.startswith(b"Tree=%d\n" % number, start) for number, start in enumerate(starts)
    ):
        raise ValueError(
            f"{file} is a broken model file: its header declares {len(lengths)} trees of "
            f"{sum(lengths)} bytes, but the file has other trees; it may have been truncated or "
            "changed: save the model again"
        )


# Arrays of XGBoost's trees with one entry per node.
BY_NODE = {
    "base_weights", "default_left", "left_children", "loss_changes", "parents", "right_children",
    "split_conditions", "split_indices", "split_type", "sum_hessian",
}  # fmt: skip


def refuse_uneven(file: Path, content: bytes) -> None:
    """Raise a ValueError unless all arrays of a tree in XGBoost's JSON have one entry per node.

    XGBoost does not report missing or repeated numbers in an array.

    Parameters
    ----------
    file : path
        For the message.
    content : bytes
    """
    try:
        booster = json.loads(content, object_pairs_hook=_unique)["learner"]["gradient_booster"]
        booster = booster.get("gbtree", booster)  # as in dart
        trees = booster["model"].get("trees", ())
        even = all(
            len(tree[part]) == int(tree["tree_param"]["num_nodes"])
            for tree in trees
            for part in BY_NODE & tree.keys()
        )
    except (KeyError, TypeError, ValueError):
        even = False
    if not even:
        raise ValueError(
            f"{file} is a broken model file: its trees do not have the declared size; it may have "
            "been truncated or changed: save the model again"
        )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Create a JSON object; a ValueError if a name occurs twice."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)
