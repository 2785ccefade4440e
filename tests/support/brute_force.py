"""Textbook definitions of ranking metrics, swap deltas and lambda-gradients in plain Python.

The oracle of the tests.  It is written from the definitions, not from the library, and is as slow
as they are: a swap delta is the metric before and after, an expectation over tied documents is the
mean over all their orders.  The library appears only where a test needs its names for things.

A *ranked* list holds the labels of one query, best-ranked document first.  A metric that is not
defined on a list (no relevant document, say) is NaN there.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from lambdaplus.metrics import CATALOGUE, Cascade, Declaration, RankingMetric, metric_names

Floats = NDArray[np.float64]
Labels = Sequence[float]
NAN = float("nan")


def examples(count: int) -> settings:
    """Settings of a hypothesis test: so many examples, or the share of them that the profile says.

    Profiles are in conftest.py.
    """
    return settings(max_examples=max(1, count * settings().max_examples // 100))


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


def kinds(declarations: Iterable[Declaration]) -> list[Declaration]:
    """The first declaration of each kind, where a kind is what the kernels tell apart.

    For tests of what a kernel does: whether a metric is declared right is a question of each, which
    the tests against the textbook ask of all of them.
    """

    def kind(declaration: Declaration) -> tuple[Any, ...]:
        form, flags = declaration.form, (declaration.binary, declaration.closed_ties)
        parts = (getattr(form, name, None) for name in ("relation", "limit", "ranks"))
        has = (part is None or part == "any" for part in parts)
        return type(form), *has, *flags, declaration.pooled, declaration.cutoff == "no"

    first: dict[tuple[Any, ...], Declaration] = {}
    for declaration in declarations:
        first.setdefault(kind(declaration), declaration)
    return list(first.values())


def weights_of(name: Any) -> dict[str, Any]:
    """Arguments of `gradients` for a metric, or for equal weights of pairs: ``auc equal``."""
    if isinstance(name, dict):
        return name
    if not isinstance(name, str) or " " not in name:
        return {"metric": name}
    return dict(zip(("metric", "pairs"), name.split(), strict=True))


# What follows from a metric -------------------------------------------------------------------


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


def swap_deltas(
    metric: RankingMetric, ranked: Labels, data: Labels | None = None, neighbours: bool = False
) -> Floats:
    """What the metric changes by when the documents at places p and q change places, (n, n).

    As neighbours, the document at place q is first moved to the place below p.
    """
    measure, data = textbook(metric), ranked if data is None else data
    deltas = np.zeros((len(ranked), len(ranked)))
    before = measure(ranked, data)
    for p, q in itertools.combinations(range(len(ranked)), 2):
        if ranked[p] != ranked[q]:
            places, other = list(ranked), q
            if neighbours:
                places.insert(p + 1, places.pop(q))
                before, other = measure(places, data), p + 1
            places[p], places[other] = places[other], places[p]
            deltas[p, q] = deltas[q, p] = measure(places, data) - before
    return deltas


def pair_weights(
    metric: RankingMetric, ranked: Labels, data: Labels | None = None, pairs: str = "swap"
) -> Floats:
    """What the pairs weigh in training, up to their signs, (n, n)."""
    if metric.declaration.name == "cindex":
        weights = np.zeros((len(ranked), len(ranked)))
        pairs = list(comparable(ranked))
        for i, j in pairs:
            weights[i, j] = weights[j, i] = 1 / len(pairs)
        return weights
    return swap_deltas(metric, ranked, data, neighbours=pairs == "equal")


def classes(metric: RankingMetric, labels: Labels) -> list[float]:
    """Labels as the metric sees them: relevant or not, if it knows no grades."""
    if metric.declaration.name == "cindex":  # by time, events first
        times = [abs(label) + 0.25 * (label < 0) for label in labels]
        return [-time for time in times] if metric["higher"] == "risk" else times
    if not metric.declaration.binary:
        return [float(label) for label in labels]
    return [float(label >= metric["relevant"]) for label in labels]


def ideal_scores(metric: RankingMetric, labels: Labels) -> list[float]:
    """Scores of the best order: the labels, except for a risk."""
    return classes(metric, labels) if metric.declaration.name == "cindex" else list(labels)


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


def lambda_gradients(
    metric: RankingMetric,
    labels: Labels,
    scores: Labels,
    *,
    sigma: float = 1.0,
    data: Labels | None = None,
    pairs: str = "swap",
) -> tuple[Floats, Floats, float]:
    """Gradient and Hessian of one query, pair by pair, and S, the sum of 2 |lambda| over pairs."""
    labels, scores = [float(y) for y in labels], [float(s) for s in scores]
    seen = classes(metric, labels)
    order = order_of(seen, scores)
    place = {i: rank for rank, i in enumerate(order)}
    ranked = [labels[i] for i in order]
    gradient, hessian, total = np.zeros(len(labels)), np.zeros(len(labels)), 0.0
    kinds = list(zip(scores, seen, strict=True))
    alike = [[j for j, pair in enumerate(kinds) if pair == kind] for kind in kinds]
    if not math.isnan(value(metric, ranked, data)):
        deltas = pair_weights(metric, ranked, data, pairs)
        for better, worse in itertools.permutations(range(len(labels)), 2):
            if seen[better] <= seen[worse]:
                continue
            distance = scores[better] - scores[worse]
            size = abs(deltas[place[better], place[worse]])
            if size < 1e-13:  # a rounded zero: on short lists no true change is as small as that
                continue
            rho = 1 / (1 + math.exp(min(sigma * distance, 700)))  # e^710 overflows
            rest = 1 / (1 + math.exp(min(-sigma * distance, 700)))  # 1 - rho, without cancelling
            gradient[better] -= sigma * size * rho
            gradient[worse] += sigma * size * rho
            for i in (better, worse):
                hessian[i] += sigma**2 * size * rho * rest
            total += 2 * sigma * size * rho
    for tied in alike:
        gradient[tied] = gradient[tied].mean()
        hessian[tied] = hessian[tied].mean()
    return gradient, hessian, total


# What to try ----------------------------------------------------------------------------------

GRADES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
TRIED = {  # options' values, where any choice, or 0.5, 1 and 2, will not do
    "over": ("query",),
    "top": (4.0, 5.0),
    "persistence": (0.8, 0.5),
    "fraction": (0.01, 0.3, 0.5),
}
TIED_SCORES = (-1.5, -0.0, 0.0, 0.25, 2.0)


def label_lists(most: int, least: int = 1) -> st.SearchStrategy[list[float]]:
    """Labels of up to five classes."""
    pools = st.sets(st.sampled_from(GRADES), min_size=1, max_size=5).map(sorted)
    return pools.flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=least, max_size=most)
    )


@st.composite
def metrics(draw: st.DrawFn, declaration: Declaration) -> RankingMetric:
    """A declared metric with any of its options, and any small cutoff if it takes one.

    Each query is a ranking of its own: what a metric over the data set is has a test of its own.
    """
    options = {
        known.name: draw(st.sampled_from(TRIED.get(known.name, known.choices or (1.0, 0.5, 2.0))))
        for known in declaration.parameters
    }
    return declaration(draw(cutoffs(declaration, st.integers(1, 14))), **options)


def cutoffs(
    declaration: Declaration, whole_numbers: st.SearchStrategy[int]
) -> st.SearchStrategy[int | None]:
    """Cutoffs that a metric takes, among these and none."""
    kinds = {"no": st.none(), "optional": st.none() | whole_numbers, "required": whole_numbers}
    return kinds[declaration.cutoff]


def plain(declaration: Declaration) -> RankingMetric:
    """The metric with nothing chosen but a cutoff that it needs."""
    return declaration(5 if declaration.cutoff == "required" else None)


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
