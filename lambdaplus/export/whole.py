"""Whether a model file is all there: LightGBM reads the trees that are left of one that was cut.

Examples
--------
>>> from pathlib import Path
>>> from lambdaplus.export.whole import refuse_incomplete
>>> refuse_incomplete(Path("m.txt"), b"tree\\ntree_sizes=9 9\\n\\nTree=0\\n\\n\\nend of trees\\n")
Traceback (most recent call last):
...
ValueError: m.txt is a broken model file: its header tells of 2 trees of 18 bytes, and they are ...
"""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import Path


def refuse_incomplete(file: Path, content: bytes) -> None:
    """Raise a ValueError unless LightGBM's text has the trees that its header tells of.

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
            f"{file} is a broken model file: its header tells of {len(lengths)} trees of "
            f"{sum(lengths)} bytes, and they are not there as it says; it may have been cut off or "
            "changed: save the model again"
        )
