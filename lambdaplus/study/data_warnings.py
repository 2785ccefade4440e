"""What a user should know of the rows and queries before methods are compared, in a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.data import Fold
from lambdaplus.data.ranking_data import rows_of_data
from lambdaplus.lists.single_precision import merged_labels_in_words
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.words import Nouns, count

LARGE = 1 / 3  # a share of the positives, of at least so many queries
LEAST_QUERIES = 10
LEAST_ROWS = 10  # of each kind, to choose or to test with
MOST_ROWS = 50_000  # that are looked at
ALONG, LEAST_STEPS = 0.98, 20  # share of the steps between rows that are in one direction, of these
MOST_NAMES = 5


def data_warnings(folds: Sequence[Fold], labels: LabelKind, nouns: Nouns) -> Iterator[str]:
    """Sentences about queries and features, each with what to do; none if all is well."""
    if labels.two and labels.mixed:
        yield from _few_rows(folds)
    if words := merged_labels_in_words(folds[-1].train.labels):
        yield f"The labels are {words}."
    if not labels.grouped:
        return
    parts = folds[-1].parts  # of folds in time, those with the most rows
    cuts = [part.queries.boundaries for part in parts]
    if not labels.real:
        positives = [
            np.add.reduceat(part.labels >= 1, at[:-1], dtype=np.int64)
            for part, at in zip(parts, cuts, strict=True)
        ]
        names = [part.qid[at[:-1]] for part, at in zip(parts, cuts, strict=True)]
        yield from _one_large(
            np.concatenate(positives), [name for some in names for name in some.tolist()], nouns
        )
    alike = [_are_alike(part.labels, at) for part, at in zip(parts, cuts, strict=True)]
    yield from _most_alike(np.concatenate(alike), nouns)
    train, train_cuts = parts[0], cuts[0]
    until = int(np.searchsorted(train_cuts, MOST_ROWS, side="right")) - 1
    train_cuts = train_cuts[: max(1, until) + 1]
    features = rows_of_data(train, np.arange(train_cuts[-1])).features
    names_of = [*train.feature_names] or [f"feature {j + 1}" for j in range(train.n_features)]
    columns = dict(zip(names_of, features.T, strict=True))
    found = [
        name
        for name, column in columns.items()
        if name not in train.categories and follows_rows(column, train_cuts)
    ]
    yield from _in_order(found, bool(train.feature_names), nouns)


def _few_rows(folds: Sequence[Fold]) -> Iterator[str]:
    """Parts that choose or test with a few positives, or a few others."""
    found: dict[str, list[str]] = {}
    for fold in folds:
        for what, part in (("validation", fold.valid), ("test", fold.test)):
            positives = int((part.labels >= 1).sum())
            for name, n in (("positives", positives), ("others", part.labels.size - positives)):
                if n < LEAST_ROWS:
                    found.setdefault(f"{name} for {what}", []).append(f"{n} in {fold.name}")
    for name, numbers in found.items():
        yield (
            f"There are few {name} ({', '.join(numbers)}): what is chosen and tested there is "
            "mostly chance. More rows help, other folds (--folds), or a shorter --gap if there is "
            "one."
        )


def _one_large(positives: Ints, names: Sequence[object], nouns: Nouns) -> Iterator[str]:
    total, largest = int(positives.sum()), int(positives.argmax())
    most = int(positives[largest])
    if positives.size < LEAST_QUERIES or not total or most < LARGE * total:
        return
    yield (
        f"One {nouns.query}, {names[largest]}, has {most / total:.0%} of the positives ({most:,} "
        f"of {total:,}): it counts for as much in a log-loss, and once in test means. If it stands "
        f"for rows without a {nouns.query}, take them out of the file; --qid none ranks all rows "
        "as one list."
    )


def _are_alike(labels: Floats, cuts: Ints) -> Ints:
    """Whether all labels of a query are the same, for each query."""
    low, high = (one.reduceat(labels, cuts[:-1]) for one in (np.minimum, np.maximum))
    return np.asarray(low == high)


def _most_alike(alike: Ints, nouns: Nouns) -> Iterator[str]:
    n = int(alike.sum())
    if 2 * n <= alike.size:
        return
    yield (
        f"Most {nouns.queries} ({n:,} of {alike.size:,}) have one label in all of their rows, so "
        "that they teach no order, and ranking objectives learn from the others alone. Log-loss "
        "(--methods lightgbm:binary) learns from all rows; --qid none ranks them as one list, if "
        "scores are compared beyond "
        f"a {nouns.query}."
    )


def follows_rows(values: Floats, cuts: Ints) -> bool:
    """Whether a feature, (n,), as good as always rises, or falls, along the rows of a query."""
    steps = np.diff(values)
    steps[cuts[1:-1] - 1] = 0.0  # from a query to the next one
    up, down = steps > 0, steps < 0
    changes = int(up.sum() + down.sum())
    if changes < LEAST_STEPS or max(int(up.sum()), int(down.sum())) < ALONG * changes:
        return False
    query = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))[1:]
    changing = np.unique(query[up | down]).size
    return bool(2 * changing >= (np.diff(cuts) > 1).sum())


def _in_order(names: Sequence[str], can_be_dropped: bool, nouns: Nouns) -> Iterator[str]:
    if not names:
        return
    shown = ", ".join([*names[:MOST_NAMES], *["..."] * (len(names) > MOST_NAMES)])
    option = f" --drop {','.join(names[:MOST_NAMES])} leaves them out." * can_be_dropped
    one = len(names) == 1
    yield (
        f"{count(len(names), 'feature')} {'rises or falls' if one else 'rise or fall'} along the "
        f"rows of nearly every {nouns.query}: {shown}. If rows are in the order in which they were "
        f"shown, a model learns what was shown, and not what is good.{option}"
    )
