"""Functions of declarations: discounts by rank, gains by class, and normalizers by query."""

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.metrics.label_counts import LabelCounts
from lambdaplus.metrics.ranking_metric import RankingMetric

MOST_TO_ONE = 1e9  # weights of relevant rows to those of others in a rank sum; errors below 1e-6


def logarithmic(metric: RankingMetric, rank: Floats) -> Floats:
    if metric["discount"] == "letor":  # Järvelin & Kekäläinen 2002 with base 2
        return 1.0 / np.log2(np.maximum(rank, 2.0))
    return 1.0 / np.log2(1.0 + rank)


def reciprocal(metric: RankingMetric, rank: Floats) -> Floats:
    return 1.0 / rank


def falling(metric: RankingMetric, rank: Floats) -> Floats:
    """Minus the rank: its sums count correctly ordered pairs (Wilcoxon's rank sum)."""
    return -rank


def constant(metric: RankingMetric, rank: Floats) -> Floats:
    return np.ones_like(rank)


def geometric(metric: RankingMetric, rank: Floats) -> Floats:
    persistence = metric["persistence"]
    return np.asarray((1.0 - persistence) * np.asarray(persistence ** (rank - 1.0)))


def relevance(counts: LabelCounts) -> Floats:
    return counts.relevant.astype(np.float64)


def label_gain(counts: LabelCounts) -> Floats:
    top = counts.label.max()
    _refuse_negative_labels(counts)
    if isinstance(counts.metric["gain"], tuple):
        return _listed_gain(counts)
    if counts.metric["gain"] == "linear":
        return counts.label
    if top > 900:  # 2^1024 overflows, and sums of smaller gains may, too
        raise ValueError(
            f"{counts.metric}: the gain 2^{top:g} - 1 does not fit a float64; use gain='linear' "
            "or smaller labels"
        )
    return np.exp2(counts.label) - 1.0


def _listed_gain(counts: LabelCounts) -> Floats:
    """The gain of each stratum, of gains that are listed for the labels 0, 1, 2, ..."""
    listed = np.array(counts.metric["gain"])
    missing = counts.label[~np.isin(counts.label, np.arange(listed.size))]
    if missing.size:
        raise ValueError(
            f"{counts.metric}: gain lists a number for each of the labels 0 to {listed.size - 1}, "
            f"but there is a label {missing[0]:g}: add a number for it, or pass integer labels"
        )
    return np.asarray(listed[counts.label.astype(np.int64)])


def _refuse_negative_labels(counts: LabelCounts) -> None:
    if counts.label.min() < 0:
        raise ValueError(
            f"{counts.metric} needs labels >= 0, since a gain must not be negative; "
            f"the lowest label is {counts.label.min():g}"
        )


def label_gain_of_long_queries(counts: LabelCounts) -> Floats:
    """Like `label_gain`, but 0 for queries with fewer than k documents if short=zero."""
    if counts.metric["short"] == "zero" and counts.metric.cutoff is not None:
        return np.where(counts.repeat(counts.size) >= counts.at_most, label_gain(counts), 0.0)
    return label_gain(counts)


def ideal_gain(counts: LabelCounts) -> Floats:
    return counts.ideal(label_gain(counts))


def best_relevance(counts: LabelCounts) -> Floats:
    return counts.ideal(relevance(counts))


def one(counts: LabelCounts) -> Floats:
    return np.ones_like(counts.size)


def cutoff(counts: LabelCounts) -> Floats:
    return np.full_like(counts.size, counts.at_most)


def cutoff_or_documents(counts: LabelCounts) -> Floats:
    if counts.metric["divisor"] == "k":
        return cutoff(counts)
    return np.minimum(counts.size, counts.at_most)


def relevant_of_a_random_order(counts: LabelCounts) -> Floats:
    """The expected number of relevant documents in the first k ranks of a random order."""
    return np.asarray(np.minimum(counts.size, counts.at_most) * counts.n_relevant / counts.size)


def n_relevant(counts: LabelCounts) -> Floats:
    return counts.n_relevant


def chance_of_satisfaction(counts: LabelCounts) -> Floats:
    """R = (2^l - 1) / 2^top of Chapelle et al. 2009, eq. 4."""
    _refuse_negative_labels(counts)
    top = counts.metric["top"]
    if counts.label.max() > top:
        raise ValueError(
            f"{counts.metric}: the label {counts.label.max():g} is above top={top:g}; pass the "
            "highest grade of your labels as top="
        )
    return np.asarray(np.exp2(counts.label - top) - np.exp2(-top))


def ranks_in_share(counts: LabelCounts) -> Floats:
    """The number of documents in the share of each list, rounded up, at least one."""
    exact = np.round(counts.metric["fraction"] * counts.size, 9)  # 0.07 * 100 is above 7
    return np.asarray(np.maximum(np.ceil(exact), 1.0))


def mean_of_cutoff_and_relevant(counts: LabelCounts) -> Floats:
    return np.where(counts.n_relevant > 0, (counts.n_relevant + counts.at_most) / 2, 0.0)


def reachable_or_all_hits(counts: LabelCounts) -> Floats:
    if counts.metric["divisor"] == "relevant":
        return counts.n_relevant
    return np.minimum(counts.n_relevant, counts.at_most)


def any_relevant(counts: LabelCounts) -> Floats:
    return np.minimum(counts.n_relevant, 1.0)


def both_classes(counts: LabelCounts) -> Floats:
    """The number of pairs of a document with the gain 1 and one with the gain 0."""
    gain = counts.metric.declaration.gain(counts)
    members, others = counts.sum(gain * counts.count), counts.sum((1.0 - gain) * counts.count)
    if ((others > 0) & (members > MOST_TO_ONE * others)).any():
        raise ValueError(
            f"{counts.metric}: the weights of relevant rows add up to more than {MOST_TO_ONE:g} "
            "times those of other rows, whose ranks float64 cannot represent: divide the weights "
            "of relevant rows by a constant, which does not change the metric"
        )
    return members * others


def best_rank_sum(counts: LabelCounts) -> Floats:
    """The offset with which minus the rank sum of a class counts its correctly ordered pairs."""
    gain, size = counts.metric.declaration.gain(counts), counts.repeat(counts.size)
    return counts.sum(gain * counts.count * (2 * size - counts.count + 1) / 2)


def class_share(counts: LabelCounts) -> Floats:
    """p(c) of Welleck's eq. (5); 0 for a class that is not counted, or is the only one."""
    counted = counts.relevant if counts.metric["classes"] == "relevant" else counts.relevant | True
    share = np.where(counted, counts.count, 0.0)
    if counts.metric["share"] == "dataset":
        labels, index = np.unique(counts.label, return_inverse=True)
        in_all = np.bincount(index, weights=share, minlength=labels.size)[index]
        share = np.where(counted, in_all, 0.0)
    return np.where(counts.repeat(counts.size) > counts.count, share, 0.0)


def class_reference_gain(counts: LabelCounts) -> Floats:
    pairs = counts.count * (counts.repeat(counts.size) - counts.count)
    # A class without pairs is the only one, or all its rows have weight 0.
    return np.divide(class_share(counts), pairs, out=np.zeros_like(pairs), where=pairs > 0)


def total_share(counts: LabelCounts) -> Floats:
    return counts.sum(class_share(counts))


def centred_label(counts: LabelCounts) -> Floats:
    mean = counts.sum(counts.label * counts.count) / counts.size
    return counts.label - counts.repeat(mean)


def centred_midrank(counts: LabelCounts) -> Floats:
    """The mean rank of the documents of each label, from the lowest label, less that of all."""
    lower = counts.repeat(counts.size) - counts.higher - counts.count
    return np.asarray((lower - counts.higher) / 2)


def deviations_of_ranks(counts: LabelCounts) -> Floats:
    """n times the standard deviations of the midranks of labels and of the ranks of scores."""
    squares = counts.sum(counts.count * centred_midrank(counts) ** 2)
    return np.asarray(np.sqrt(squares * counts.size * (counts.size**2 - 1) / 12), np.float64)


def best_sum_of_ranks(counts: LabelCounts) -> Floats:
    """The sum of gains times minus the rank, in the order by label, highest first."""
    gain = counts.metric.declaration.gain(counts)
    # Of equal labels, not quite 0.
    several = counts.repeat(counts.strata.n_classes.astype(np.float64)) > 1
    ranks = counts.higher + (counts.count + 1) / 2
    return counts.sum(np.where(several, -gain * counts.count * ranks, 0.0))


def time_order(metric: RankingMetric, labels: Floats) -> Floats:
    """Numbers in the order of times, negative ones censored; reversed if a higher score is a risk.

    Those of events are even.  At the same time, events are earlier than censored documents.
    """
    number = np.unique(np.abs(labels), return_inverse=True)[1]
    order = 2.0 * number + (labels < 0)
    return np.asarray(-order if metric["higher"] == "risk" else order, np.float64)


def may_be_lower(counts: LabelCounts) -> Floats:
    """Whether a document of each stratum is the lower one of comparable pairs."""
    return np.where(counts.metric["higher"] == "risk", 1.0, counts.label % 2 == 0)


def may_be_higher(counts: LabelCounts) -> Floats:
    """Whether a document of each stratum is the higher one of comparable pairs."""
    return np.where(counts.metric["higher"] == "risk", counts.label % 2 == 0, 1.0)


def comparable_pairs(counts: LabelCounts) -> Floats:
    """Pairs of an event and a document whose time is later, or censored at the same time."""
    lower, higher = may_be_lower(counts), may_be_higher(counts)
    below = np.cumsum(counts.count * lower)
    below -= counts.repeat((below - counts.count * lower)[counts.strata.edges[:-1]])
    return counts.sum(counts.count * higher * (below - counts.count * lower))


def nothing(counts: LabelCounts) -> Floats:
    return np.zeros_like(counts.label)


def one_per_label(counts: LabelCounts) -> Floats:
    return np.ones_like(counts.label)


def unequal_pairs(counts: LabelCounts) -> Floats:
    return counts.sum(counts.count * counts.higher)
