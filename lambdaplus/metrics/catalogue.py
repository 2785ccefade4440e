"""The metrics, each declared once.

A new metric is one `Declaration` here (or in your own code): its value, its objective, its feval,
its row in the tables and its place in the tests follow.
"""

from __future__ import annotations

import numpy as np

from lambdaplus.metrics.declaration import Above, Declaration, Facts, Parameter
from lambdaplus.queries import Floats

RELEVANT = Parameter("relevant", 1.0, "label from which a document counts as relevant")
GAIN = Parameter(
    "gain", "exp2", "gain of label l: exp2 is 2^l - 1, linear is l", ("exp2", "linear")
)

# Discounts -------------------------------------------------------------------------------------


def logarithmic(rank: Floats) -> Floats:
    return 1.0 / np.log2(1.0 + rank)


def reciprocal(rank: Floats) -> Floats:
    return 1.0 / rank


def falling(rank: Floats) -> Floats:
    """Minus the rank: sums of it count pairs in order (Wilcoxon's rank sum)."""
    return -rank


def constant(rank: Floats) -> Floats:
    return np.ones_like(rank)


# Gains, normalizers, offsets -------------------------------------------------------------------


def relevance(facts: Facts) -> Floats:
    return facts.relevant.astype(np.float64)


def label_gain(facts: Facts) -> Floats:
    top = facts.label.max()
    if facts.label.min() < 0:
        raise ValueError(
            f"{facts.metric} needs labels >= 0, since a gain must not be negative; "
            f"the lowest label is {facts.label.min():g}"
        )
    if facts.metric["gain"] == "linear":
        return facts.label
    if top > 900:  # 2^1024 overflows, and sums of gains need some room
        raise ValueError(
            f"{facts.metric}: the gain 2^{top:g} - 1 does not fit a float64; use gain='linear' "
            "or smaller labels"
        )
    return np.exp2(facts.label) - 1.0


def ideal_gain(facts: Facts) -> Floats:
    return facts.ideal(label_gain(facts))


def reachable_hits(facts: Facts) -> Floats:
    return np.minimum(facts.n_relevant, facts.at_most)


def any_relevant(facts: Facts) -> Floats:
    return np.minimum(facts.n_relevant, 1.0)


def both_classes(facts: Facts) -> Floats:
    return facts.n_relevant * (facts.size - facts.n_relevant)


def rank_sum_offset(facts: Facts) -> Floats:
    """What P relevant documents' ranks are short of when nothing is out of order."""
    return facts.n_relevant * (2 * facts.size - facts.n_relevant + 1) / 2


def class_share(facts: Facts) -> Floats:
    """p(c) of Welleck's eq. (5), 0 for classes that are not counted or have no counterpart."""
    counted = facts.relevant if facts.metric["classes"] == "relevant" else facts.relevant | True
    share = np.where(counted, facts.count, 0.0)
    if facts.metric["share"] == "dataset":
        labels, index = np.unique(facts.label, return_inverse=True)
        in_all = np.bincount(index, weights=share, minlength=labels.size)[index]
        share = np.where(counted, in_all, 0.0)
    return np.where(facts.spread(facts.size) > facts.count, share, 0.0)


def class_reference_gain(facts: Facts) -> Floats:
    others = np.maximum(facts.spread(facts.size) - facts.count, 1.0)  # 0 only where the share is
    return class_share(facts) / (facts.count * others)


def total_share(facts: Facts) -> Floats:
    return facts.sum(class_share(facts))


def class_reference_offset(facts: Facts) -> Floats:
    size = facts.spread(facts.size)
    return facts.sum(class_reference_gain(facts) * facts.count * (2 * size - facts.count + 1) / 2)


def nothing(facts: Facts) -> Floats:
    return np.zeros_like(facts.label)


def one_over_count(facts: Facts) -> Floats:
    return 1.0 / facts.count


def class_pairs(facts: Facts) -> Floats:
    classes = np.diff(facts.strata.first).astype(np.float64)
    return classes * (classes - 1) / 2


# Declarations ----------------------------------------------------------------------------------

AUC = Declaration(
    name="auc",
    title="Area under the ROC curve",
    source="Welleck 2016, eqs. 9-10; swap delta: theorem 4.1",
    binary=True,
    discount=falling,
    gain=relevance,
    normalizer=both_classes,
    offset=rank_sum_offset,
    has_cutoff=False,
    parameters=(RELEVANT,),
    pooled="middle",
)

MAUC = Declaration(
    name="mauc",
    title="Multi-class AUC: class-reference AUCs weighted by class share",
    source="Welleck 2016, eq. 5 (our reading: relevant classes, the query's own shares)",
    binary=False,
    discount=falling,
    gain=class_reference_gain,
    normalizer=total_share,
    offset=class_reference_offset,
    has_cutoff=False,
    parameters=(
        RELEVANT,
        Parameter("classes", "relevant", "classes that are averaged", ("relevant", "all")),
        Parameter("share", "query", "where class shares are counted", ("query", "dataset")),
    ),
    follows_label_order=False,  # putting the rarer of two grades above can lower it
)

HAND_TILL = Declaration(
    name="hand_till",
    title="Multi-class AUC: mean over the pairs of classes",
    source="Hand & Till 2001, with one score for all classes",
    binary=False,
    discount=constant,
    gain=nothing,
    normalizer=class_pairs,
    above=Above("lower", row=one_over_count, column=one_over_count),
    has_cutoff=False,
    signed_deltas=True,  # a swap also moves both documents past the other classes between them
)

MAP = Declaration(
    name="map",
    aliases=("ap",),
    title="Mean average precision",
    source="Yue et al. 2007, sec. 2.1; map@k divides by min(R, k)",
    binary=True,
    discount=reciprocal,
    gain=relevance,
    normalizer=reachable_hits,
    above=Above("any", row=relevance, column=relevance),
    parameters=(RELEVANT,),
    pooled="last",
)

MRR = Declaration(
    name="mrr",
    aliases=("rr",),
    title="Mean reciprocal rank of the first relevant document",
    source="Chakrabarti et al. 2008, sec. 2.2",
    binary=True,
    discount=reciprocal,
    gain=relevance,
    normalizer=any_relevant,
    stop=relevance,
    parameters=(RELEVANT,),
)

NDCG = Declaration(
    name="ndcg",
    title="Normalised discounted cumulative gain",
    source="Jarvelin & Kekalainen 2002; gain 2^l - 1 and discount log2(1 + rank): Burges 2005",
    binary=False,
    discount=logarithmic,
    gain=label_gain,
    normalizer=ideal_gain,
    parameters=(GAIN,),
    damping=0.01,
)

CATALOGUE: tuple[Declaration, ...] = (AUC, MAUC, HAND_TILL, MAP, MRR, NDCG)
