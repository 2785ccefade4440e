"""Declarations in words, for ``help()`` and the command line."""

import textwrap

from lambdaplus.metrics.declaration import Declaration, RankingMetric
from lambdaplus.metrics.parameters import as_text
from lambdaplus.metrics.weighted_sum import WeightedSum, parts_of


def options_in_words(declaration: Declaration) -> list[tuple[str, str]]:
    """Each option of a metric with its default, and what it does."""
    return [
        (
            f"{option.name}={option.default}",
            option.help + (f" ({' or '.join(map(str, option.choices))})" if option.choices else ""),
        )
        for option in declaration.parameters
    ]


def metric_in_words(metric: RankingMetric | WeightedSum) -> str:
    """What a metric is, its source and its options; of a sum, of each part."""
    lines = []
    for part, weight in parts_of(metric):
        declared = part.declaration
        times = "" if weight == 1 else f"{as_text(weight)} * "
        below = [("Source", declared.source), *options_in_words(declared)]
        lines.append(f"{times}{part}: {declared.title}.")
        lines += [_indented(f"{name}: {what}.") for name, what in below]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return textwrap.fill(text, 78, initial_indent=" " * 4, subsequent_indent=" " * 8)
