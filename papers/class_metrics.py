"""Metrics of classes as Welleck 2016 has them, declared as a user's own metrics.

In the precisions, the first documents are predicted to be of the highest class, as many as are in
that class, the following ones of the next class, and so on.
"""

from __future__ import annotations

import numpy as np

from lambdaplus.compute.array_types import Floats
from lambdaplus.metrics import OVER, Declaration, LabelCounts
from lambdaplus.metrics import components as c
from lambdaplus.metrics.parameters import RELEVANT, Parameter
from papers.class_windows import ClassWindow


def one_class(counts: LabelCounts) -> Floats:
    return np.where(counts.label == counts.metric["label"], 1.0, 0.0)


CLASS_AUC = Declaration(
    name="auc_of_class",
    title="Class-reference AUC: one class against all others",
    source="Welleck 2016, sec. 3.1.4 and table 3",
    binary=False,
    discount=c.falling,
    gain=one_class,
    normalizer=c.both_classes,
    offset=c.best_rank_sum,
    cutoff="no",
    parameters=(Parameter("label", 1.0, "label of the class"), OVER),
    pooled="middle",
    follows_label_order=False,
)


def counted_classes(counts: LabelCounts) -> Floats:
    every = counts.metric["classes"] == "all"
    return np.ones_like(counts.label) if every else c.relevance(counts)


def predicted_ranks(counts: LabelCounts) -> tuple[Floats, Floats]:
    """First and last rank at which each class is predicted, without the cutoff."""
    return counts.higher + 1.0, counts.higher + counts.count


def predicted_within_cutoff(counts: LabelCounts) -> Floats:
    """Number of documents that are predicted to be of each counted class."""
    return np.clip(counts.at_most - counts.higher, 0.0, counts.count) * counted_classes(counts)


def n_predicted(counts: LabelCounts) -> Floats:
    return counts.sum(predicted_within_cutoff(counts))


def one_over_predicted(counts: LabelCounts) -> Floats:
    predicted = predicted_within_cutoff(counts)
    return np.divide(1.0, predicted, out=np.zeros_like(predicted), where=predicted > 0)


def n_classes_predicted(counts: LabelCounts) -> Floats:
    return counts.sum((predicted_within_cutoff(counts) > 0).astype(np.float64))


def one_over_classes(counts: LabelCounts) -> Floats:
    """One over the number of relevant classes of the data set."""
    classes = np.unique(counts.label[counts.relevant]).size
    return c.relevance(counts) / max(classes, 1)


CLASSES = Parameter("classes", "relevant", "classes that are counted", ("relevant", "all"))
MICRO_PRECISION = Declaration(
    name="micro_precision",
    title="Precision of the classes predicted by rank, pooled over classes",
    source="Welleck 2016, eq. 1; the m_c documents of class c are predicted in label order",
    binary=False,
    discount=c.constant,
    gain=counted_classes,
    normalizer=n_predicted,
    form=ClassWindow(predicted_ranks),
    parameters=(RELEVANT, CLASSES),
)

MACRO_PRECISION = Declaration(
    name="macro_precision",
    title="Precision of the classes predicted by rank, mean over classes",
    source="Welleck 2016, eq. 3, over the classes predicted within the cutoff",
    binary=False,
    discount=c.constant,
    gain=one_over_predicted,
    normalizer=n_classes_predicted,
    form=ClassWindow(predicted_ranks),
    parameters=(RELEVANT, CLASSES),
)

PRINTED_PRECISION = Declaration(
    name="printed_precision",
    title="Relevant documents in the first k over k times the number of relevant classes",
    source="Welleck 2016, eq. 2 as printed, over relevant classes; eq. 4 is its sum over queries",
    binary=False,
    discount=c.constant,
    gain=one_over_classes,
    normalizer=c.cutoff,
    cutoff="required",
    parameters=(RELEVANT,),
)

PRECISIONS = (MICRO_PRECISION, MACRO_PRECISION, PRINTED_PRECISION)
