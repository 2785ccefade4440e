"""What a study uses and leaves out of its data, in words."""

from collections.abc import Sequence

import numpy as np

from lambdaplus.data import Fold
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.words import Nouns, count

QUERIES = Nouns()
MOST_NAMES = 60  # of features that are listed


def data_in_words(
    folds: Sequence[Fold], labels: LabelKind, notes: Sequence[str], nouns: Nouns = QUERIES
) -> list[str]:
    """What a study uses: rows, queries, labels, features, and the notes."""
    train = folds[0].train
    names = [
        f"{name} (category)" if name in train.categories else name for name in train.feature_names
    ]
    width = train.n_features
    size = _size_in_words(folds[0], labels, nouns)
    if any(_size_in_words(fold, labels, nouns) != size for fold in folds):
        size = f"{folds[0].name}: {size}"
    listed = f": {', '.join(names)}" if names and width <= MOST_NAMES else ""
    if train.categories and not listed:
        listed = f", of which categories: {', '.join(train.categories)}"
    return [f"{size}; {count(width, 'feature')}{listed}.", *notes]


def _size_in_words(fold: Fold, labels: LabelKind, nouns: Nouns) -> str:
    values = np.concatenate([part.labels for part in fold.parts])
    kind = f"labels: {labels.in_words}"
    if labels.real:
        kind = f"{kind} from {values.min():.3g} to {values.max():.3g}"
    if not labels.grouped:
        relevant = int((values >= 1).sum())
        positives = f", {count(relevant, 'positive')} ({relevant / values.size:.2%})"
        kind = kind if labels.real else f"{kind}{positives}"
        return f"{values.size:,} rows as one ranking; {kind}"
    has = [
        np.logical_or.reduceat(part.labels >= 1, part.queries.boundaries[:-1])
        for part in fold.parts
    ]
    queries = np.concatenate(has)
    without = "" if labels.real else f", {int((~queries).sum()):,} {nouns.without_relevant}"
    return (
        f"{values.size:,} rows; {count(queries.size, nouns.query, nouns.queries)}{without}; {kind}"
    )


def weights_in_words(column: str, grouped: bool, nouns: Nouns = QUERIES) -> str:
    """What is done with row weights, a column or numbers in a file."""
    name = column or "the numbers in .weight files"
    use = f"Weights: {name}, in training and in validation values"
    if not grouped:
        return f"{use}, and in AUC and average precision of test rows."
    return f"{use}. In test means and in tests, each {nouns.query} counts equally."
