"""Textbook definitions of ranking metrics in plain Python: the oracle of their values.

They are written from the definitions, not from the library, and are as slow as they are: an
expectation over tied documents is the mean over all their orders.  The library appears only where a
test needs its names for things.

A *ranked* list holds the labels of one query, best-ranked document first.  A metric that is not
defined on a list (no relevant document, say) is NaN there.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from lambdaplus.metrics import CATALOGUE, Cascade, Declaration, RankingMetric, metric_names

Labels = Sequence[float]
NAN = float("nan")


def share_in_order(ranked: Sequence[bool]) -> float:
    """Share of the pairs (true, false) with the true one ranked above; NaN without such pairs."""
    in_order = trues = 0
    for is_true in ranked:
        if is_true:
            trues += 1
        else:
            in_order += trues
    pairs = trues * (len(ranked) - trues)
    return in_order / pairs if pairs else NAN


def auc(ranked: Labels, relevant: float) -> float:
    """Wilcoxon-Mann-Whitney: share of the (relevant, other) pairs in order."""
    return share_in_order([label >= relevant for label in ranked])


def mauc(ranked: Labels, data: Labels, relevant: float, classes: str, share: str) -> float:
    """Welleck 2016, eq. 5: the mean of each class's AUC against the rest, by class share."""
    total = weights = 0.0
    for c in set(ranked):
        one_class = share_in_order([label == c for label in ranked])
        if math.isnan(one_class) or (classes == "relevant" and c < relevant):
            continue
        weight = list(data if share == "dataset" else ranked).count(c)
        total += weight * one_class
        weights += weight
    return total / weights if weights else NAN


def concordance(ranked: Labels) -> float:
    """Share of the pairs of different labels that are in order."""
    pairs = [(a, b) for a, b in itertools.combinations(ranked, 2) if a != b]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else NAN


def comparable(labels: Labels) -> Iterator[tuple[int, int]]:
    """Harrell's pairs (first, later): an event, and a later time, or censored at the same time.

    A negative label is minus the time of censoring.
    """
    for i, j in itertools.permutations(range(len(labels)), 2):
        event, time, other = labels[i] >= 0, abs(labels[i]), abs(labels[j])
        if event and (other > time or (other == time and labels[j] < 0)):
            yield i, j


def cindex(ranked: Labels, higher: str) -> float:
    """Harrell's C: share of the comparable pairs in order."""
    pairs = list(comparable(ranked))
    in_order = sum(i < j if higher == "risk" else j < i for i, j in pairs)
    return in_order / len(pairs) if pairs else NAN


def rank_correlation(labels: Labels, scores: Labels) -> float:
    """Pearson's correlation of midranks; 0, that of a ranking by chance, of equal scores."""
    if len(set(labels)) == 1:
        return NAN
    if len(set(scores)) == 1:
        return 0.0
    return float(np.corrcoef(stats.rankdata(labels), stats.rankdata(scores))[0, 1])


def spearman(ranked: Labels) -> float:
    return rank_correlation(ranked, [float(-rank) for rank in range(len(ranked))])


def gini(ranked: Labels) -> float:
    """Area between the Lorenz curve, from the highest score, and the diagonal, over the best."""

    def area(order: Labels) -> float:
        claims = total = 0.0
        for i, label in enumerate(order, 1):
            claims += label
            total += claims / sum(order) - i / len(order)
        return total

    shifted = [label + 1.0 for label in ranked]  # so that the sum is not 0
    best = area(sorted(shifted, reverse=True))
    return area(shifted) / best if best > 1e-12 else NAN


def average_precision(ranked: Labels, k: int | None, relevant: float, divisor: str) -> float:
    """Mean of the precision at each relevant document; at k, divided by min(R, k), or by R."""
    k = len(ranked) if k is None else k
    hits, total = 0, 0.0
    for rank, label in enumerate(ranked[:k], 1):
        if label >= relevant:
            hits += 1
            total += hits / rank
    reachable = sum(label >= relevant for label in ranked)
    if divisor == "reachable":
        reachable = min(k, reachable)
    return total / reachable if reachable else NAN


def arhr(ranked: Labels, k: int | None, relevant: float) -> float:
    """Sum of one over the ranks of the relevant documents among the first k, by the largest."""
    k = len(ranked) if k is None else k
    hits = [rank for rank, label in enumerate(ranked, 1) if label >= relevant]
    largest = sum(1 / rank for rank in range(1, min(len(hits), k) + 1))
    return sum(1 / rank for rank in hits if rank <= k) / largest if hits else NAN


def mrr(ranked: Labels, k: int | None, relevant: float) -> float:
    """One over the rank of the first relevant document, 0 if that is beyond k."""
    for rank, label in enumerate(ranked, 1):
        if label >= relevant:
            return 1 / rank if k is None or rank <= k else 0.0
    return NAN


def success(ranked: Labels, k: int | None, relevant: float) -> float:
    """Whether any of the first k is relevant; NaN where nothing is."""
    found = any(label >= relevant for label in ranked[:k])
    return float(found) if any(label >= relevant for label in ranked) else NAN


def gain_of(label: float, gain: Any) -> float:
    if isinstance(gain, tuple):
        return float(gain[int(label)])
    return label if gain == "linear" else 2.0**label - 1.0


def dcg(ranked: Labels, k: int | None, gain: Any, discount: str) -> float:
    gains = [gain_of(label, gain) for label in ranked[:k]]
    shift = 0 if discount == "letor" else 1
    return sum(g / max(1.0, math.log2(shift + rank)) for rank, g in enumerate(gains, 1))


def ndcg(ranked: Labels, k: int | None, gain: Any, discount: str, short: str) -> float:
    """Discounted cumulative gain over that of the best order."""
    ideal = dcg(sorted(ranked, reverse=True), k, gain, discount)
    if ideal and short == "zero" and k is not None and len(ranked) < k:
        return 0.0
    return dcg(ranked, k, gain, discount) / ideal if ideal else NAN


def err(ranked: Labels, k: int | None, top: float) -> float:
    """Chapelle et al. 2009: label l satisfies the reader with probability (2^l - 1) / 2^top."""
    reached, total = 1.0, 0.0
    for rank, label in enumerate(ranked[:k], 1):
        satisfied = (2.0**label - 1) / 2.0**top
        total += reached * satisfied / rank
        reached *= 1 - satisfied
    return total


def rbp(ranked: Labels, k: int | None, relevant: float, persistence: float) -> float:
    """Share of relevant documents among those seen by a reader who continues with a probability."""
    return (1 - persistence) * sum(
        persistence**above for above, label in enumerate(ranked[:k]) if label >= relevant
    )


def precision(ranked: Labels, k: int | None, relevant: float, divisor: str) -> float:
    """Relevant documents among the first k, over k or over as many as there are."""
    assert k is not None
    hits = sum(label >= relevant for label in ranked[:k])
    return hits / (k if divisor == "k" else min(k, len(ranked)))


def top(ranked: Labels, fraction: float) -> int:
    """The fewest documents that are at least the share of the list."""
    return next(m for m in range(1, len(ranked) + 1) if m / len(ranked) >= fraction - 1e-12)


def top_precision(ranked: Labels, relevant: float, fraction: float) -> float:
    return precision(ranked, top(ranked, fraction), relevant, "k")


def lift(ranked: Labels, k: int | None, relevant: float) -> float:
    """Share of hits among the first k (or all, if fewer) by the share among all."""
    hits = [label >= relevant for label in ranked]
    return (sum(hits[:k]) / len(hits[:k])) / (sum(hits) / len(hits)) if any(hits) else NAN


def f1(ranked: Labels, k: int | None, relevant: float) -> float:
    """Harmonic mean of precision and recall at k."""
    p, r = precision(ranked, k, relevant, "k"), recall(ranked, k, relevant)
    if math.isnan(r):
        return NAN
    return 2 / (1 / p + 1 / r) if p else 0.0


def recall(ranked: Labels, k: int | None, relevant: float, divisor: str = "relevant") -> float:
    """Share of the relevant documents that are among the first k, or of as many as can be."""
    hits = [label >= relevant for label in ranked]
    most = min(sum(hits), k or sum(hits)) if divisor == "reachable" else sum(hits)
    return sum(hits[:k]) / most if most else NAN


def rprec(ranked: Labels, relevant: float) -> float:
    """Precision at the number of relevant documents."""
    hits = [label >= relevant for label in ranked]
    return sum(hits[: sum(hits)]) / sum(hits) if any(hits) else NAN


# A function that has the name of a metric is its definition.
TEXTBOOK: dict[str, Callable[..., float]] = {
    name: value for name, value in globals().items() if name in metric_names()
}
TEXTBOOK |= {"map": average_precision, "p": precision}


# One that the catalogue lacks, declared as a user would ---------------------------------------


def cascade(ranked: Labels, k: int | None) -> float:
    """Like ERR, stopping at label l with probability l/4: label 4 is a certain stop, 0 none."""
    reached, total = 1.0, 0.0
    for rank, label in enumerate(ranked[:k], 1):
        total += reached * label / 4 / rank
        reached *= 1 - label / 4
    return total if any(ranked) else NAN


TEXTBOOK |= {"cascade": cascade}

CASCADE = Declaration(
    name="cascade",
    title="Expected reciprocal rank of the stop",
    source="tests",
    binary=False,
    discount=lambda metric, rank: 1.0 / rank,
    gain=lambda counts: counts.label / 4,
    normalizer=lambda counts: (counts.sum(counts.label) > 0).astype(float),
    form=Cascade(lambda counts: counts.label / 4),
    closed_ties=False,
)

DECLARED = (*CATALOGUE, CASCADE)


# Of a declared metric -------------------------------------------------------------------------


def textbook(metric: RankingMetric) -> Callable[[Labels, Labels], float]:
    """The metric as a function of a ranked list and the labels of all queries."""
    options = {known.name: metric[known.name] for known in metric.declaration.parameters}
    definition = TEXTBOOK[metric.declaration.name]
    read = inspect.signature(definition).parameters

    def measure(ranked: Labels, data: Labels) -> float:
        given = {"k": metric.cutoff, "data": data, **options}
        return definition(ranked, **{name: given[name] for name in given if name in read})

    return measure


def value(metric: RankingMetric, ranked: Labels, data: Labels | None = None) -> float:
    """The metric of one ranked list; data holds the labels of all queries, if there are more."""
    return textbook(metric)(ranked, ranked if data is None else data)


def order_of(labels: Labels, scores: Labels) -> list[int]:
    """Documents by score, descending; tied ones by label, ascending."""
    return sorted(range(len(labels)), key=lambda i: (-scores[i], labels[i]))


def tied_orders(labels: Labels, scores: Labels) -> Iterator[list[float]]:
    """Each different ranked list that the ties allow; all of them are equally likely."""
    blocks = []
    for tied in sorted(set(scores), reverse=True):
        block = [y for y, s in zip(labels, scores, strict=True) if s == tied]
        blocks.append(sorted(set(itertools.permutations(block))))
    for chosen in itertools.product(*blocks):
        yield list(itertools.chain(*chosen))


def expected_value(
    metric: RankingMetric, labels: Labels, scores: Labels, data: Labels | None = None
) -> float:
    """Mean of the metric over all orders of tied documents."""
    return float(np.mean(tied_values(metric, labels, scores, data)))


def tied_values(
    metric: RankingMetric, labels: Labels, scores: Labels, data: Labels | None = None
) -> list[float]:
    """The metric in each order that the ties allow."""
    measure, data = textbook(metric), labels if data is None else data
    return [measure(ranked, data) for ranked in tied_orders(labels, scores)]
