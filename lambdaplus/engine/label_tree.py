"""Lists of many labels, split into lists of two classes.

Halve the labels of a list, and each half again: two documents of different labels are in different
halves of exactly one node of this tree, where all labels of one half are above all of the other.
With a number m between the gains of both halves, the weight of a pair is a sum of two products of
weights of its documents, none of which is negative, so nothing cancels:

    gain_a - gain_b = (gain_a - m) * 1 + 1 * (m - gain_b).

So each node is two lists of two classes, or one if all pairs have one weight, and all pairs of n
documents with L labels take O(n log L).  A node of few labels or documents is not split: a list of
many classes is faster.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.engine.ranked_lists import Lists

UNSPLIT, OF_LOWER = 0, 1  # kinds of lists of a node; the third one is of the upper half


def split_labels(lists: Lists) -> Iterator[Lists]:
    """Yield lists with the same sums over pairs, of few labels each.

    Lists of many labels whose gains rise with the label are split, level by level; others are not.
    """
    # Nodes of so few labels or elements are not split.  A sweep has no factors of classes: those of
    # a long list become weights of single labels.
    leaf_labels, leaf_size = THRESHOLDS.few_labels, THRESHOLDS.few_elements
    size = lists.stop - lists.start
    to_split = (lists.n_classes > leaf_labels * (not lists.factors.size)) & (size > leaf_size)
    if lists.factors.size:
        leaf_labels = leaf_size = 1
    if not to_split.any():
        yield lists
        return
    to_split &= rising(lists.gain_at, lists.n_classes, lists.gain)
    if not to_split.all():
        yield _some(lists, ~to_split)
    start, n_classes = lists.start[to_split], lists.n_classes[to_split]
    size, query = size[to_split], lists.query[to_split]
    # A node has the elements order[begin:end], in ranked order, and the labels low to high - 1,
    # which are numbered through all lists.
    end, high = np.cumsum(size), np.cumsum(n_classes)
    begin, low = end - size, high - n_classes
    order, label = np.empty(int(size.sum()), np.int64), np.empty(lists.code.size, np.int64)
    upto = np.zeros(int(n_classes.sum()) + 1, np.int64)  # elements of the labels before each label
    _plant(start, begin, end, low, lists.code, order, label, upto)
    gain, factors = lists.gain, lists.factors
    of_label = np.repeat(lists.gain_at[to_split] - low, n_classes) + np.arange(upto.size - 1)
    gain, factors = (values[of_label] if values.size else values for values in (gain, factors))
    # The gains of two classes with a pair weight of 1 are behind those of the labels.
    gains = np.append(gain, [0.0, 1.0]) if gain.size else gain
    while query.size:
        middle, size = middles(upto, low, high), end - begin
        m = between(gain, low, middle, high)
        unsplit = (high - low <= leaf_labels) | (size <= leaf_size)
        # A node is one list of its labels, or a list for each half, in which |gain - m| is a factor
        # of that half: it is 0 if the half is one label. Without gains, the first one is enough.
        of_lower = (middle - low > 1) | (not gain.size)
        of_upper = (high - middle > 1) & (gain.size > 0)
        kinds = unsplit & (high - low > 1), ~unsplit & of_lower, ~unsplit & of_upper
        node, kind = np.nonzero(np.stack(kinds, axis=1))
        stop, n = np.cumsum(size[node]), int(size[node].sum())
        entry, code, weight = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n)
        nodes, worth = (begin, end, low, middle, m), (gain, factors, lists.weight)
        _write_lists(node, kind, nodes, order, label, worth, (entry, code, weight))
        if stop.size:
            gain_at = np.where(kind == UNSPLIT, low[node], gain.size)
            classes = np.where(kind == UNSPLIT, (high - low)[node], 2)
            bounds = stop - size[node], stop, gain_at, gains, classes
            U = lists.U[entry] if lists.U.size else lists.U
            elements = lists.score[entry], code, U, U, weight
            parts: Any = (*bounds, *elements, query[node], entry)
            yield Lists(*parts)
        _divide(begin[~unsplit], end[~unsplit], middle[~unsplit], order, label)
        edge = begin + upto[middle] - upto[low]
        lowers, uppers = (query, begin, edge, low, middle), (query, edge, end, middle, high)
        query, begin, end, low, high = (
            in_turn(lower[~unsplit], upper[~unsplit])
            for lower, upper in zip(lowers, uppers, strict=True)
        )


def in_turn(lower: Ints, upper: Ints) -> Ints:
    """Of each node what is of its lower half, then what is of its upper half."""
    return np.stack([lower, upper], axis=1).ravel()


def _some(lists: Lists, which: Bools) -> Lists:
    by_list = "start", "stop", "gain_at", "n_classes", "query"
    return lists._replace(**{name: getattr(lists, name)[which] for name in by_list})


@compiled
def rising(gain_at: Ints, n_classes: Ints, gain: Floats) -> Bools:
    """Whether the gains of each list do not fall with the label; true without gains."""
    all_rise = np.ones(gain_at.size, np.bool_)
    if gain.size:
        for k in range(gain_at.size):
            for x in range(gain_at[k] + 1, gain_at[k] + n_classes[k]):
                all_rise[k] &= gain[x] >= gain[x - 1]
    return all_rise


@compiled
def _plant(
    start: Ints, begin: Ints, end: Ints, low: Ints, code: Int32s, order: Ints, label: Ints,
    upto: Ints,
) -> None:  # fmt: skip
    """Write the elements of each list, their labels, and the number of elements by label."""
    for k in range(start.size):
        for i in range(begin[k], end[k]):
            order[i] = start[k] + i - begin[k]
            label[order[i]] = low[k] + code[order[i]]
            upto[label[order[i]] + 1] += 1
    for x in range(1, upto.size):
        upto[x] += upto[x - 1]


def middles(edge: Ints, first: Ints, last: Ints) -> Ints:
    """The label of each node that divides its elements most evenly: a frequent one is alone.

    ``edge`` is the number of elements of the labels before each label; a node has those from
    ``first`` to ``last - 1``, and, if these are two or more, both halves have at least one.
    """
    half = (edge[first] + edge[last]) // 2
    middle = np.searchsorted(edge, half)
    middle -= edge[middle] - half > half - edge[np.maximum(middle - 1, 0)]
    return np.asarray(np.clip(middle, first + 1, last - 1))


def between(gain: Floats, first: Ints, middle: Ints, last: Ints) -> Floats:
    """A number m between the gains of both halves of each node; 0 without gains.

    That of a half of one label, if there is one, so that its differences from m are 0.
    """
    if not gain.size:
        return np.zeros(first.size)
    half = 0.5 * (gain[middle - 1] + gain[middle])
    of_upper = np.where(last - middle == 1, gain[middle], half)
    return np.where(middle - first == 1, gain[first], of_upper)


@compiled
def _write_lists(
    node: Ints, kind: Ints, nodes: tuple[Ints, Ints, Ints, Ints, Floats], order: Ints, label: Ints,
    worth: tuple[Floats, ...], elements: tuple[Ints, Int32s, Floats],
) -> None:  # fmt: skip
    """Write the elements of the lists of some nodes: entry, class and weight."""
    (begin, end, low, middle, m), (gain, factors, weight) = nodes, worth
    (entry, code, weights), n = elements, 0
    for which in range(node.size):
        k = node[which]
        for j in range(begin[k], end[k]):
            i = order[j]
            x, half, factor = label[i], 1 if label[i] >= middle[k] else 0, 1.0
            if gain.size and kind[which] == OF_LOWER + half:
                factor = abs(gain[x] - m[k])
            if factors.size:
                factor *= factors[x, half]
            entry[n], weights[n] = i, weight[i] * factor
            code[n] = x - low[k] if kind[which] == UNSPLIT else half
            n += 1


@compiled
def _divide(begin: Ints, end: Ints, middle: Ints, order: Ints, label: Ints) -> None:
    """Put the elements of lower labels of each node first, in ranked order each."""
    longest = 0
    for k in range(begin.size):
        longest = max(longest, end[k] - begin[k])
    spare = np.empty(longest, np.int64)
    for k in range(begin.size):
        lower, n_upper = begin[k], 0
        for j in range(begin[k], end[k]):
            i = order[j]
            if label[i] < middle[k]:
                order[lower] = i
                lower += 1
            else:
                spare[n_upper] = i
                n_upper += 1
        for j in range(n_upper):
            order[lower + j] = spare[j]
