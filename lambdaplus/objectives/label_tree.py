"""Lists of many labels, split into lists of two classes.

Halve the labels of a list, and each half again: two documents of different labels are in different
halves of exactly one node of this tree, where all labels of one half are above all of the other.
With a number m between the gains of both halves, the weight of a pair is a sum of two products of
weights of its documents, none of which is negative, so nothing cancels:

    gain_a - gain_b = (gain_a - m) * 1 + 1 * (m - gain_b).

So each node is two lists of two classes, and all pairs of n documents with L labels take
O(n log L).  A node of few labels or documents is not split: a list of many classes is faster.
"""

from collections.abc import Iterator

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.objectives.lists import ListArrays, Lists

# Lists, and nodes, of no more labels or elements are not split.
FEW_LABELS, FEW_ELEMENTS = 16, 32


def split_labels(lists: Lists) -> Iterator[Lists]:
    """Yield lists with the same sums over pairs, of few labels each.

    Lists of many labels whose gains rise with the label are split, level by level; others are not.
    """
    arrays = lists.arrays
    many = (arrays.n_classes > FEW_LABELS) & (arrays.stop - arrays.start > FEW_ELEMENTS)
    many &= _rising(arrays.gain_at, arrays.n_classes, arrays.gain)
    if not many.any():
        yield lists
        return
    if not many.all():
        yield _some(lists, ~many)
    query, start, stop = lists.query[many], arrays.start[many], arrays.stop[many]
    low = arrays.gain_at[many]
    # A node has the elements order[begin:end], in ranked order, of the labels low to high - 1.
    size = stop - start
    end = np.cumsum(size)
    order, label = np.empty(int(end[-1]), np.int64), np.empty(arrays.code.size, np.int64)
    upto = np.zeros(arrays.gain.size + 1, np.int64)  # elements of the labels before each label
    _plant(start, end - size, end, low, arrays.code, order, label, upto)
    begin, high = end - size, low + arrays.n_classes[many]
    # The gains of two classes with a pair weight of 1 are behind those of the labels.
    gain = np.concatenate([arrays.gain, [0.0, 1.0]])
    while query.size:
        nodes = query, begin, end, low, high
        found, elements, children = _split(
            *nodes, order, label, upto, arrays.gain, arrays.score, arrays.U, arrays.weight
        )
        of_lists, (entry, code, score, U, weight) = found.T.copy(), elements
        list_query, start, stop, gain_at, n_classes = of_lists
        if stop.size:
            ranked = score, code, U, U, weight
            yield Lists(
                ListArrays(start, stop, gain_at, gain, n_classes, *ranked), list_query, entry
            )
        query, begin, end, low, high = children.T.copy()


def _some(lists: Lists, which: Ints) -> Lists:
    arrays, (start, stop, gain_at, gain, n_classes) = lists.arrays, lists.arrays[:5]
    bounds = start[which], stop[which], gain_at[which]
    return Lists(
        ListArrays(*bounds, gain, n_classes[which], *arrays[5:]), lists.query[which], lists.entry
    )


@compiled
def _rising(gain_at: Ints, n_classes: Ints, gain: Floats) -> Ints:
    rising = np.ones(gain_at.size, np.bool_)
    for k in range(gain_at.size):
        for x in range(gain_at[k] + 1, gain_at[k] + n_classes[k]):
            rising[k] &= gain[x] >= gain[x - 1]
    return rising


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
def _split(
    query: Ints, begin: Ints, end: Ints, low: Ints, high: Ints, order: Ints, label: Ints,
    upto: Ints, gain: Floats, score: Floats, U: Floats, weight: Floats,
) -> tuple[Ints, tuple[Ints, Int32s, Floats, Floats, Floats], Ints]:  # fmt: skip
    """Lists and elements of the nodes of one level, and the nodes of the next one."""
    most = 0
    for k in range(query.size):
        most += 2 * (end[k] - begin[k])
    entry, code = np.empty(most, np.int64), np.empty(most, np.int32)
    of_score, of_U, of_weight = np.empty(most), np.empty(most), np.empty(most)
    lists, children = np.empty((2 * query.size, 5), np.int64), np.empty((2 * query.size, 5), np.int64)
    spare = np.empty(most // 2, np.int64)
    n = n_lists = n_children = 0
    for k in range(query.size):
        first, last, size = low[k], high[k], end[k] - begin[k]
        if last - first <= FEW_LABELS or size <= FEW_ELEMENTS:
            # One list of these labels.
            if last - first > 1:
                lists[n_lists] = query[k], n, n + size, first, last - first
                n_lists += 1
                for i in order[begin[k] : end[k]]:
                    entry[n], code[n] = i, label[i] - first
                    of_score[n], of_U[n], of_weight[n] = score[i], U[i], weight[i]
                    n += 1
            continue
        # The label that divides the elements most evenly, so that frequent labels are split off.
        half = upto[first] + size // 2
        middle = first + np.searchsorted(upto[first:last], half)
        if middle > first and upto[middle] - half > half - upto[middle - 1]:
            middle -= 1
        middle = min(max(middle, first + 1), last - 1)
        # A half of one label has the distance 0 to m, and then one of the two lists is empty.
        m = 0.5 * (gain[middle - 1] + gain[middle])
        if middle - first == 1:
            m = gain[first]
        elif last - middle == 1:
            m = gain[middle]
        for of_upper in (True, False):
            if (last - middle if of_upper else middle - first) == 1:
                continue
            lists[n_lists] = query[k], n, n + size, gain.size, 2
            n_lists += 1
            for i in order[begin[k] : end[k]]:
                upper = label[i] >= middle
                distance = abs(gain[label[i]] - m) if upper == of_upper else 1.0
                entry[n], code[n] = i, upper
                of_score[n], of_U[n], of_weight[n] = score[i], U[i], weight[i] * distance
                n += 1
        # Lower labels first, in ranked order each.
        lower, upper_size = begin[k], 0
        for j in range(begin[k], end[k]):
            i = order[j]
            if label[i] < middle:
                order[lower] = i
                lower += 1
            else:
                spare[upper_size] = i
                upper_size += 1
        order[lower : end[k]] = spare[:upper_size]
        children[n_children] = query[k], begin[k], lower, first, middle
        children[n_children + 1] = query[k], lower, end[k], middle, last
        n_children += 2
    elements = entry[:n], code[:n], of_score[:n], of_U[:n], of_weight[:n]
    return lists[:n_lists], elements, children[:n_children]
