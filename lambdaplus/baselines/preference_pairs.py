"""All pairs of documents of a query with different labels, as index ranges without storing pairs.

If the documents of a query are sorted by label, those with a lower label than document i are the
first ones of the query.  Pair number p belongs to the document whose range contains p, and its
position in the range is the index of the lower document.
"""

from typing import NamedTuple

import numpy as np

from lambdaplus.baselines.active_pairs import pair_weight
from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.lists.queries import Queries


class PreferencePairs(NamedTuple):
    """Pairs of documents, in the order of `Queries.row_order`, numbered by the higher one.

    The lower one is its partner.
    """

    edges: Ints  # (n + 1,): first pair of each document; last, the number of all pairs
    partner: Ints  # (n,): first partner of each document
    rate: Floats  # (n,): 1/|S_q|, one over the number of pairs of the query
    owner: Ints  # (n_marks,): higher document of every 2^shift-th pair, where a search starts
    shift: int

    @property
    def n_pairs(self) -> int:
        return int(self.edges[-1])


def preference_pairs(queries: Queries) -> PreferencePairs:
    """Compute the pairs of a data set; a ValueError if no query has two different labels."""
    strata, rate = queries.strata(), pair_weight(queries)
    count = strata.count.astype(np.int64)
    # A document of a stratum is above those of all lower strata of its query, which are adjacent.
    begin_query = queries.boundaries[strata.query]
    below = np.repeat(np.cumsum(count) - count - begin_query, count)
    edges = np.append(0, np.cumsum(below))
    # A mark every 2^shift pairs, two to four for each document, so that a search begins near its
    # end.
    shift = max(int(edges[-1]) // (2 * below.size), 1).bit_length() - 1
    marks = np.arange(0, edges[-1] + 2**shift, 2**shift)
    return PreferencePairs(
        edges=edges,
        partner=np.repeat(begin_query, count),
        rate=rate,
        owner=np.searchsorted(edges, np.minimum(marks, edges[-1] - 1), side="right") - 1,
        shift=shift,
    )


@compiled
def documents_of(pairs: PreferencePairs, pair: int) -> tuple[int, int]:
    """The higher and the lower document of a pair."""
    mark = pair >> pairs.shift
    i, beyond = pairs.owner[mark], pairs.owner[mark + 1] + 1
    while beyond - i > 1:
        middle = (i + beyond) // 2
        if pairs.edges[middle] <= pair:
            i = middle
        else:
            beyond = middle
    return i, pairs.partner[i] + pair - pairs.edges[i]
