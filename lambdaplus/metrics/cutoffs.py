"""Cutoffs of metrics that are a share of the documents: ``recall@1%``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from lambdaplus.compute.arguments import number
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.metrics.parameters import shortest


@dataclass(frozen=True)
class Share:
    """A share of the documents of each query, in per cent; a ValueError unless between 0 and 100.

    Examples
    --------
    >>> from lambdaplus import parse_metric
    >>> share = parse_metric("recall@1%").cutoff
    >>> share.ranks([50, 100, 101]).tolist()
    [1, 1, 2]
    """

    percent: float

    def __post_init__(self) -> None:
        number("a share of the documents, in per cent,", self.percent, above=0.0)
        if self.percent >= 100:
            raise ValueError(f"@{self} should be below 100%: leave out the cutoff for all ranks")

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read ``1%``; a ValueError for anything else."""
        if not re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*%\s*", text):
            raise ValueError(f"the cutoff {text!r} is not an integer, nor a share such as 1%")
        return cls(float(text.strip().removesuffix("%")))

    def ranks(self, sizes: Floats | Ints) -> Ints:
        """The number of ranks of lists of these sizes, rounded up."""
        exact = np.round(self.percent * np.asarray(sizes, dtype=np.float64) / 100, 9)
        return np.ceil(exact).clip(min=1).astype(np.int64)

    def __str__(self) -> str:
        return f"{shortest(self.percent)}%"
