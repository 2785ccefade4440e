"""Ranking metrics, swap deltas and lambda-gradients as the textbooks define them, in plain Python.

The oracle of the tests.  It is written from the definitions, not from the library, and is as slow
as they are: a swap delta is the metric before and after, an expectation over tied documents is the
mean over all their orders.  The library appears only where a test needs its names for things.

A *ranked* list holds the labels of one query, best-ranked document first.  A metric that is not
defined on a list (no relevant document, say) is NaN there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lambdaplus.metrics import CATALOGUE, Declaration, Parameter, RankingMetric

Floats = NDArray[np.float64]
Labels = Sequence[float]
NAN = float("nan")


def examples(count: int) -> settings:
    """Settings of a hypothesis test: as many examples, the same ones each time."""
    return settings(
        max_examples=count,
        deadline=None,  # the first example compiles kernels
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# The metrics ----------------------------------------------------------------------------------


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


def auc(ranked: Labels, data: Labels, k: int | None, relevant: float) -> float:
    """Wilcoxon-Mann-Whitney: share of the (relevant, other) pairs in order."""
    return share_in_order([label >= relevant for label in ranked])


def mauc(
    ranked: Labels, data: Labels, k: int | None, relevant: float, classes: str, share: str
) -> float:
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


def hand_till(ranked: Labels, data: Labels, k: int | None) -> float:
    """Hand & Till 2001: the mean, over pairs of classes, of the AUC of one against the other."""
    of_pairs = [
        share_in_order([label == high for label in ranked if label in (high, low)])
        for low, high in itertools.combinations(sorted(set(ranked)), 2)
    ]
    return sum(of_pairs) / len(of_pairs) if of_pairs else NAN


def average_precision(ranked: Labels, data: Labels, k: int | None, relevant: float) -> float:
    """Mean of the precision at each relevant document; at k, divided by min(R, k)."""
    k = len(ranked) if k is None else k
    hits, total = 0, 0.0
    for rank, label in enumerate(ranked[:k], 1):
        if label >= relevant:
            hits += 1
            total += hits / rank
    reachable = min(k, sum(label >= relevant for label in ranked))
    return total / reachable if reachable else NAN


def reciprocal_rank(ranked: Labels, data: Labels, k: int | None, relevant: float) -> float:
    """One over the rank of the first relevant document, 0 if that is beyond k."""
    for rank, label in enumerate(ranked, 1):
        if label >= relevant:
            return 1 / rank if k is None or rank <= k else 0.0
    return NAN


def dcg(ranked: Labels, k: int | None, gain: str) -> float:
    gains = [label if gain == "linear" else 2.0**label - 1.0 for label in ranked[:k]]
    return sum(g / math.log2(1 + rank) for rank, g in enumerate(gains, 1))


def ndcg(ranked: Labels, data: Labels, k: int | None, gain: str) -> float:
    """Discounted cumulative gain over that of the best order."""
    ideal = dcg(sorted(ranked, reverse=True), k, gain)
    return dcg(ranked, k, gain) / ideal if ideal else NAN


TEXTBOOK: dict[str, Callable[..., float]] = {
    "auc": auc,
    "mauc": mauc,
    "hand_till": hand_till,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
}


# Two that the catalogue lacks, declared as a user would ---------------------------------------


def cascade(ranked: Labels, data: Labels, k: int | None) -> float:
    """As ERR (Chapelle et al. 2009): E[1 / rank of the stop], stopping at label l with chance l/4.

    Label 4 is a sure stop and 0 none; in between is what no metric of the catalogue has.
    """
    reached, total = 1.0, 0.0
    for rank, label in enumerate(ranked[:k], 1):
        total += reached * label / 4 / rank
        reached *= 1 - label / 4
    return total if any(ranked) else NAN


def precision(ranked: Labels, data: Labels, k: int | None, relevant: float) -> float:
    """Share of relevant documents among the first k; without k, among all."""
    k = len(ranked) if k is None else k
    return sum(label >= relevant for label in ranked[:k]) / k


TEXTBOOK |= {"cascade": cascade, "precision": precision}

CASCADE = Declaration(
    name="cascade",
    title="Expected reciprocal rank of the stop",
    source="tests",
    binary=False,
    discount=lambda rank: 1.0 / rank,
    gain=lambda facts: facts.label / 4,
    normalizer=lambda facts: (facts.sum(facts.label) > 0).astype(float),
    stop=lambda facts: facts.label / 4,
)

PRECISION = Declaration(
    name="precision",
    title="Precision",
    source="tests",
    binary=True,
    discount=np.ones_like,
    gain=lambda facts: facts.relevant.astype(float),
    normalizer=lambda facts: np.where(np.isinf(facts.at_most), facts.size, facts.at_most),
    parameters=(Parameter("relevant", 1.0, "label from which a document is relevant"),),
)

DECLARED = (*CATALOGUE, CASCADE, PRECISION)


# What follows from a metric -------------------------------------------------------------------


def textbook(metric: RankingMetric) -> Callable[[Labels, Labels], float]:
    """The metric as a function of a ranked list and the labels of all queries."""
    options = {known.name: metric[known.name] for known in metric.declaration.parameters}
    definition, k = TEXTBOOK[metric.declaration.name], metric.cutoff
    return lambda ranked, data: definition(ranked, data, k, **options)


def value(metric: RankingMetric, ranked: Labels, data: Labels | None = None) -> float:
    """The metric of one ranked list; data holds the labels of all queries, if there are more."""
    return textbook(metric)(ranked, ranked if data is None else data)


def swap_deltas(metric: RankingMetric, ranked: Labels, data: Labels | None = None) -> Floats:
    """What the metric changes by when the documents at places p and q change places, (n, n)."""
    measure, data = textbook(metric), ranked if data is None else data
    before, n = measure(ranked, data), len(ranked)
    deltas = np.zeros((n, n))
    for p, q in itertools.combinations(range(n), 2):
        if ranked[p] != ranked[q]:
            swapped = list(ranked)
            swapped[p], swapped[q] = swapped[q], swapped[p]
            deltas[p, q] = deltas[q, p] = measure(swapped, data) - before
    return deltas


def classes(metric: RankingMetric, labels: Labels) -> list[float]:
    """Labels as the metric sees them: relevant or not, if it knows no grades."""
    if not metric.declaration.binary:
        return [float(label) for label in labels]
    return [float(label >= metric["relevant"]) for label in labels]


def order_of(labels: Labels, scores: Labels) -> list[int]:
    """Documents by score, descending; tied ones by label, ascending."""
    return sorted(range(len(labels)), key=lambda i: (-scores[i], labels[i]))


def tied_orders(labels: Labels, scores: Labels) -> Iterator[list[float]]:
    """Each different ranked list that the ties allow; all of them are equally likely."""
    blocks = [
        sorted(
            set(itertools.permutations(y for y, s in zip(labels, scores, strict=True) if s == t))
        )
        for t in sorted(set(scores), reverse=True)
    ]
    for chosen in itertools.product(*blocks):
        yield list(itertools.chain(*chosen))


def expected_value(
    metric: RankingMetric, labels: Labels, scores: Labels, data: Labels | None = None
) -> float:
    """Mean of the metric over all orders of tied documents."""
    measure, data = textbook(metric), labels if data is None else data
    found = [measure(ranked, data) for ranked in tied_orders(labels, scores)]
    return sum(found) / len(found)


def lambda_gradients(
    metric: RankingMetric,
    labels: Labels,
    scores: Labels,
    *,
    sigma: float = 1.0,
    damping: float = 0.0,
    data: Labels | None = None,
) -> tuple[Floats, Floats, float]:
    """Gradient and Hessian of one query, pair by pair, and S, the sum of 2 |lambda| over pairs."""
    labels, scores = [float(y) for y in labels], [float(s) for s in scores]
    seen = classes(metric, labels)
    order = order_of(seen, scores)
    place = {i: rank for rank, i in enumerate(order)}
    ranked = [labels[i] for i in order]
    gradient, hessian, total = np.zeros(len(labels)), np.zeros(len(labels)), 0.0
    if not math.isnan(value(metric, ranked, data)):
        deltas = swap_deltas(metric, ranked, data)
        for better, worse in itertools.permutations(range(len(labels)), 2):
            if seen[better] <= seen[worse]:
                continue
            distance = scores[better] - scores[worse]
            size = abs(deltas[place[better], place[worse]])
            if size < 1e-13:  # a rounded zero: on short lists no true change is as small as that
                continue
            if damping and len(set(scores)) > 1:
                size /= damping + abs(distance)
            rho = 1 / (1 + math.exp(min(sigma * distance, 700)))  # e^710 overflows
            rest = 1 / (1 + math.exp(min(-sigma * distance, 700)))  # 1 - rho, without cancelling
            gradient[better] -= sigma * size * rho
            gradient[worse] += sigma * size * rho
            for i in (better, worse):
                hessian[i] += sigma**2 * size * rho * rest
            total += 2 * sigma * size * rho
    kinds = list(zip(scores, seen, strict=True))
    for i in range(len(labels)):
        alike = [j for j, pair in enumerate(kinds) if pair == kinds[i]]
        if alike[0] == i:
            gradient[alike] = gradient[alike].mean()
            hessian[alike] = hessian[alike].mean()
    return gradient, hessian, total


# What to try ----------------------------------------------------------------------------------

GRADES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
TIED_SCORES = (-1.5, -0.0, 0.0, 0.25, 2.0)


def label_lists(most: int, least: int = 1) -> st.SearchStrategy[list[float]]:
    """Labels of up to five classes."""
    pools = st.sets(st.sampled_from(GRADES), min_size=1, max_size=5).map(sorted)
    return pools.flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=least, max_size=most)
    )


@st.composite
def metrics(draw: st.DrawFn, declaration: Declaration) -> RankingMetric:
    """A declared metric with any of its options, and any small cutoff if it takes one."""
    options = {
        known.name: draw(st.sampled_from(known.choices or (known.default, 0.5, 2.0)))
        for known in declaration.parameters
    }
    cutoffs = st.none() | st.integers(1, 14)
    return declaration(draw(cutoffs) if declaration.has_cutoff else None, **options)


@st.composite
def queries(
    draw: st.DrawFn, most: int, least: int = 1, ties: bool = True
) -> tuple[list[float], list[float]]:
    """Labels and scores of one query, many scores tied or none at all."""
    labels = draw(label_lists(most, least))
    n = len(labels)
    spread_out = st.lists(
        st.floats(-30, 30, allow_subnormal=False), min_size=n, max_size=n, unique=True
    )
    tied = st.lists(st.sampled_from(TIED_SCORES), min_size=n, max_size=n)
    return labels, draw(spread_out | tied if ties else spread_out)
