"""Weighted sums of metrics: ``ndcg@10+0.5*map``."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lambdaplus.compute.arguments import number, number_of
from lambdaplus.metrics.declaration import Metric
from lambdaplus.metrics.parameters import shortest
from lambdaplus.metrics.ranking_metric import RankingMetric

_PLUS = r"(?<![\d.][eE])\+"  # not in an exponent


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of metrics; its ``str`` is an expression that can be parsed again.

    It contains no spaces, as XGBoost splits its evaluation line at spaces.
    """

    parts: tuple[tuple[RankingMetric, float], ...]

    def __post_init__(self) -> None:
        times = Counter(self.metrics)
        for metric, weight in self.parts:
            number(f"the weight of {metric}", weight, most=1e100)
            if times[metric] > 1:
                raise ValueError(f"{metric} occurs twice in the sum: give it one weight")
        if len({metric.low_labels_first for metric in self.metrics}) > 1:
            raise ValueError(
                f"the parts of {self} want labels in opposite orders: cindex(higher=life) has high "
                "ones first, as other metrics"
            )

    @property
    def metrics(self) -> tuple[RankingMetric, ...]:
        return tuple(metric for metric, _ in self.parts)

    def __str__(self) -> str:
        return "+".join(
            str(metric) if weight == 1 else f"{shortest(weight)}*{metric}"
            for metric, weight in self.parts
        )


def terms_of(name: Metric | WeightedSum) -> list[tuple[Metric, float]]:
    """The names of metrics in an expression, and their weights."""
    if isinstance(name, WeightedSum):
        return list(name.parts)
    if not isinstance(name, str) or not ({"+", "*"} & set(name)):
        return [(name, 1.0)]
    terms: list[tuple[Metric, float]] = []
    for term in split_outside(name, _PLUS):
        factor, times, metric = term.rpartition("*")
        try:
            weight = number_of(factor) if times else 1.0
        except ValueError:
            raise ValueError(
                f"in {name!r}: the weight {factor.strip()!r} is not a number"
            ) from None
        if not metric.strip():
            raise ValueError(f"in {name!r}: a metric is missing next to + or *")
        terms.append((metric.strip(), weight))
    return terms


def split_outside(text: str, separator: str) -> list[str]:
    """Split at a regular expression outside parentheses, in linear time."""
    parts, end, inside = [], len(text), False
    for found in reversed([*re.finditer(f"[()]|{separator}", text)]):
        if found[0] in "()":
            inside = found[0] == ")"
        elif not inside:
            parts.append(text[found.end() : end])
            end = found.start()
    return [*reversed([*parts, text[:end]])]


def sum_of(parts: list[tuple[RankingMetric, float]]) -> RankingMetric | WeightedSum:
    """The sum of these parts, or the metric itself if it is the only one and has weight 1."""
    [(metric, weight), *more] = parts
    return metric if not more and weight == 1 else WeightedSum(tuple(parts))


def parts_of(metric: RankingMetric | WeightedSum) -> tuple[tuple[RankingMetric, float], ...]:
    """The single metrics and their weights."""
    return metric.parts if isinstance(metric, WeightedSum) else ((metric, 1.0),)


def value_of(metric: RankingMetric | WeightedSum, means: Mapping[str, float]) -> float:
    """The value of a metric or sum, from the means of single metrics by name."""
    return sum(weight * means[str(part)] for part, weight in parts_of(metric))
