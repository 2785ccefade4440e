"""What declarations are made of: discounts by rank, gains by class, normalizers by query.

A discount takes the metric and ranks; the others take `Facts` and return one number per stratum or
per query.
"""

from __future__ import annotations

import numpy as np

from lambdaplus.metrics.declaration import Facts, RankingMetric
from lambdaplus.queries import Floats

# Discounts ----------------------------------------------------------------------------------------


def logarithmic(metric: RankingMetric, rank: Floats) -> Floats:
    if metric["discount"] == "letor":  # Jarvelin & Kekalainen 2002 with base 2
        return 1.0 / np.log2(np.maximum(rank, 2.0))
    return 1.0 / np.log2(1.0 + rank)


def reciprocal(metric: RankingMetric, rank: Floats) -> Floats:
    return 1.0 / rank


def falling(metric: RankingMetric, rank: Floats) -> Floats:
    """Minus the rank: sums of it count pairs in order (Wilcoxon's rank sum)."""
    return -rank


def constant(metric: RankingMetric, rank: Floats) -> Floats:
    return np.ones_like(rank)


def geometric(metric: RankingMetric, rank: Floats) -> Floats:
    p = metric["persistence"]
    return np.asarray((1.0 - p) * p ** (rank - 1.0))


# Gains, normalizers, offsets ----------------------------------------------------------------------


def relevance(facts: Facts) -> Floats:
    return facts.relevant.astype(np.float64)


def label_gain(facts: Facts) -> Floats:
    top = facts.label.max()
    _refuse_negative_labels(facts)
    if facts.metric["gain"] == "linear":
        return facts.label
    if top > 900:  # 2^1024 overflows, and sums of gains need some room
        raise ValueError(
            f"{facts.metric}: the gain 2^{top:g} - 1 does not fit a float64; use gain='linear' "
            "or smaller labels"
        )
    return np.exp2(facts.label) - 1.0


def _refuse_negative_labels(facts: Facts) -> None:
    if facts.label.min() < 0:
        raise ValueError(
            f"{facts.metric} needs labels >= 0, since a gain must not be negative; "
            f"the lowest label is {facts.label.min():g}"
        )


def label_gain_of_long_queries(facts: Facts) -> Floats:
    """As `label_gain`, but nothing where a query has fewer than k documents if so chosen."""
    if facts.metric["short"] == "zero" and facts.metric.cutoff is not None:
        return np.where(facts.spread(facts.size) >= facts.at_most, label_gain(facts), 0.0)
    return label_gain(facts)


def ideal_gain(facts: Facts) -> Floats:
    return facts.ideal(label_gain(facts))


def one(facts: Facts) -> Floats:
    return np.ones_like(facts.size)


def cutoff(facts: Facts) -> Floats:
    return np.full_like(facts.size, facts.at_most)


def cutoff_or_documents(facts: Facts) -> Floats:
    every = facts.metric["divisor"] == "k"
    return cutoff(facts) if every else np.minimum(facts.size, facts.at_most)


def n_relevant(facts: Facts) -> Floats:
    return facts.n_relevant


def chance_of_satisfaction(facts: Facts) -> Floats:
    """R = (2^l - 1) / 2^top of Chapelle et al. 2009, eq. 4."""
    _refuse_negative_labels(facts)
    top = facts.metric["top"]
    if facts.label.max() > top:
        raise ValueError(
            f"{facts.metric}: the label {facts.label.max():g} is above top={top:g}; pass the "
            "highest grade of your labels as top="
        )
    return np.asarray(np.exp2(facts.label - top) - np.exp2(-top))


def irrelevance(facts: Facts) -> Floats:
    return 1.0 - relevance(facts)


def smaller_class(facts: Facts) -> Floats:
    return np.maximum(np.minimum(facts.n_relevant, facts.size - facts.n_relevant), 1.0)


def first_r_ranks(facts: Facts) -> tuple[Floats, Floats]:
    return np.ones_like(facts.label), facts.spread(facts.n_relevant)


def reachable_hits(facts: Facts) -> Floats:
    return np.minimum(facts.n_relevant, facts.at_most)


def reachable_or_all_hits(facts: Facts) -> Floats:
    return facts.n_relevant if facts.metric["divisor"] == "relevant" else reachable_hits(facts)


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


def one_class(facts: Facts) -> Floats:
    return np.where(facts.label == facts.metric["label"], 1.0, 0.0)


def class_and_rest(facts: Facts) -> Floats:
    members = facts.sum(one_class(facts) * facts.count)
    return members * (facts.size - members)


def class_rank_sum_offset(facts: Facts) -> Floats:
    members = facts.sum(one_class(facts) * facts.count)
    return members * (2 * facts.size - members + 1) / 2


def nothing(facts: Facts) -> Floats:
    return np.zeros_like(facts.label)


def one_over_count(facts: Facts) -> Floats:
    return 1.0 / facts.count


def class_pairs(facts: Facts) -> Floats:
    classes = np.diff(facts.strata.first).astype(np.float64)
    return classes * (classes - 1) / 2


def each_one(facts: Facts) -> Floats:
    return np.ones_like(facts.label)


def unequal_pairs(facts: Facts) -> Floats:
    return facts.sum(facts.count * facts.higher)


# Precision over classes: a query's ranking predicts its highest class for as many documents as are
# in that class, the next one for the next documents, and so on.


def counted_classes(facts: Facts) -> Floats:
    every = facts.metric["classes"] == "all"
    return np.ones_like(facts.label) if every else relevance(facts)


def predicted_ranks(facts: Facts) -> tuple[Floats, Floats]:
    """First and last rank at which each class is predicted, whatever the cutoff."""
    return facts.higher + 1.0, facts.higher + facts.count


def predicted_within_cutoff(facts: Facts) -> Floats:
    """Documents that are predicted to be of each counted class, true positives or false."""
    return np.clip(facts.at_most - facts.higher, 0.0, facts.count) * counted_classes(facts)


def n_predicted(facts: Facts) -> Floats:
    return facts.sum(predicted_within_cutoff(facts))


def one_over_predicted(facts: Facts) -> Floats:
    predicted = predicted_within_cutoff(facts)
    return np.divide(1.0, predicted, out=np.zeros_like(predicted), where=predicted > 0)


def n_classes_predicted(facts: Facts) -> Floats:
    return facts.sum((predicted_within_cutoff(facts) > 0).astype(np.float64))


def one_over_classes(facts: Facts) -> Floats:
    """Shares of the relevant classes of the data set."""
    classes = np.unique(facts.label[facts.relevant]).size
    return relevance(facts) / max(classes, 1)
