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
from lambdaplus.engine.lists import Lists

FEW_WITH_FACTORS = (1, 1)


def split_labels(lists: Lists) -> Iterator[Lists]:
    """Yield lists with the same sums over pairs, of few labels each.

    Lists of many labels whose gains rise with the label are split, level by level; others are not.
    """
    few = THRESHOLDS.few_labels, THRESHOLDS.few_elements
    # A sweep has no factors of classes: those of a long list become weights of single labels.
    many = (lists.n_classes > few[0] * (not lists.factors.size)) & (
        lists.stop - lists.start > few[1]
    )
    few = FEW_WITH_FACTORS if lists.factors.size else few
    if not many.any():
        yield lists
        return
    many &= rising(lists.gain_at, lists.n_classes, lists.gain)
    if not many.all():
        yield _some(lists, ~many)
    start, n_classes = lists.start[many], lists.n_classes[many]
    size, query = lists.stop[many] - start, lists.query[many]
    # A node has the elements order[begin:end], in ranked order, and the labels low to high - 1,
    # which are numbered through all lists.
    end, high = np.cumsum(size), np.cumsum(n_classes)
    begin, low = end - size, high - n_classes
    order, label = np.empty(int(size.sum()), np.int64), np.empty(lists.code.size, np.int64)
    upto = np.zeros(int(n_classes.sum()) + 1, np.int64)  # elements of the labels before each label
    _plant(start, begin, end, low, lists.code, order, label, upto)
    gain = lists.gain
    if gain.size:
        gain = gain[np.repeat(lists.gain_at[many] - low, n_classes) + np.arange(upto.size - 1)]
    factors = lists.factors
    if factors.size:
        of_label = np.repeat(lists.gain_at[many] - low, n_classes) + np.arange(upto.size - 1)
        factors = lists.factors[of_label]
    # The gains of two classes with a pair weight of 1 are behind those of the labels.
    gains = np.append(gain, [0.0, 1.0]) if gain.size else gain
    while query.size:
        nodes = query, begin, end, low, high
        found, (entry, code, weight), children = _split(
            nodes, (order, label, upto), (gain, factors, lists.weight), few
        )
        list_query, starts, stops, gain_at, classes = found.T.copy()
        U = lists.U[entry] if lists.U.size else lists.U
        if stops.size:
            bounds = starts, stops, gain_at, gains, classes
            near_top = lists.near_top[entry] if lists.near_top.size else lists.near_top
            elements = lists.score[entry], code, U, U, weight, near_top
            parts: Any = (*bounds, *elements, list_query, entry)
            yield Lists(*parts)
        query, begin, end, low, high = children.T.copy()


def _some(lists: Lists, which: Bools) -> Lists:
    of_each = "start", "stop", "gain_at", "n_classes", "query"
    return lists._replace(**{name: getattr(lists, name)[which] for name in of_each})


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


@compiled
def middle_of(edge: Ints, first: int, last: int) -> int:
    """The label of a node that divides its elements most evenly, so that a frequent one is alone.

    ``edge`` is the number of elements of the labels before each label; the node has those from
    ``first`` to ``last - 1``, and both halves have at least one.
    """
    half = (edge[first] + edge[last]) // 2
    middle, end = first, last
    while middle < end:
        k = (middle + end) // 2
        if edge[k] < half:
            middle = k + 1
        else:
            end = k
    if middle > first and edge[middle] - half > half - edge[middle - 1]:
        middle -= 1
    return int(min(max(middle, first + 1), last - 1))


@compiled
def between(gain: Floats, first: int, middle: int, last: int) -> float:
    """A number m between the gains of both halves: that of a half of one label, if there is one."""
    if middle - first == 1:
        return float(gain[first])
    return float(gain[middle] if last - middle == 1 else 0.5 * (gain[middle - 1] + gain[middle]))


@compiled
def put(rows: Ints, k: int, a: int, b: int, c: int, d: int, e: int) -> int:
    """Write a row of five numbers; return the number of the next one."""
    # Assigned as one tuple, numba would compile the texts of its errors, for seconds.
    rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4] = a, b, c, d, e
    return k + 1


@compiled
def _divide(order: Ints, label: Ints, begin: int, end: int, middle: int, spare: Ints) -> int:
    """Put the elements of lower labels first, in ranked order each; return where others begin."""
    lower, n_upper = begin, 0
    for j in range(begin, end):
        i = order[j]
        if label[i] < middle:
            order[lower] = i
            lower += 1
        else:
            spare[n_upper] = i
            n_upper += 1
    for j in range(n_upper):
        order[lower + j] = spare[j]
    return lower


@compiled
def _split(
    nodes: tuple[Ints, ...], places: tuple[Ints, ...], worth: tuple[Floats, ...],
    few: tuple[int, int],
) -> tuple[Ints, tuple[Ints, Int32s, Floats], Ints]:  # fmt: skip
    """Lists and elements of the nodes of one level, and the nodes of the next one."""
    (query, begin, end, low, high), (order, label, upto) = nodes, places
    (gain, factors, weight), (few_labels, few_elements) = worth, few
    most = 0
    for k in range(query.size):
        most += 2 * (end[k] - begin[k])
    entry, code = np.empty(most, np.int64), np.empty(most, np.int32)
    weights, spare = np.empty(most), np.empty(most // 2, np.int64)
    lists = np.empty((2 * query.size, 5), np.int64)
    children = np.empty((2 * query.size, 5), np.int64)
    n = n_lists = n_children = 0
    for k in range(query.size):
        first, last, size = low[k], high[k], end[k] - begin[k]
        if last - first <= few_labels or size <= few_elements:
            # One list of these labels.
            if last - first > 1:
                n_lists = put(lists, n_lists, query[k], n, n + size, first, last - first)
                for j in range(begin[k], end[k]):
                    i = order[j]
                    entry[n], code[n], weights[n] = i, label[i] - first, weight[i]
                    n += 1
            continue
        middle = middle_of(upto, first, last)
        m = between(gain, first, middle, last) if gain.size else 0.0
        for h in range(2):
            # In the first list, |gain - m| is a factor of the lower half, in the second one of the
            # upper half.  It is 0 if the half is one label.
            if not gain.size:
                if h == 1:
                    continue
            elif (middle - first if h == 0 else last - middle) == 1:
                continue
            n_lists = put(lists, n_lists, query[k], n, n + size, gain.size, 2)
            for j in range(begin[k], end[k]):
                i = order[j]
                half = 1 if label[i] >= middle else 0
                factor = abs(gain[label[i]] - m) if gain.size and half == h else 1.0
                if factors.size:
                    factor *= factors[label[i], half]
                entry[n], code[n], weights[n] = i, half, weight[i] * factor
                n += 1
        lower = _divide(order, label, begin[k], end[k], middle, spare)
        n_children = put(children, n_children, query[k], begin[k], lower, first, middle)
        n_children = put(children, n_children, query[k], lower, end[k], middle, last)
    return lists[:n_lists], (entry[:n], code[:n], weights[:n]), children[:n_children]
