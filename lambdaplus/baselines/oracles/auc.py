"""The AUC loss with the pair map, binary or graded.

Each pair of different grades is violated or not, independently of the others.  With two classes
these decisions form a ranking; with more they may form a cycle, as in Ranking SVM.

Joachims 2005, sec. 4 (ROC area); Joachims 2006 (ordinal regression); Chakrabarti 2008, eqs. 3, 4.
"""

import numpy as np

from lambdaplus.baselines.active_pairs import active_pairs, pairs_by_query
from lambdaplus.baselines.oracles.constraint import Constraint
from lambdaplus.lists.queries import Queries
from lambdaplus.ranking.sort import Ranking


class AUCOracle:
    """Most violated constraints for the share of misordered pairs: O(n log L) for L grades."""

    def __init__(self, queries: Queries, pair_scale: bool) -> None:
        self.queries = queries
        self.pairs = np.maximum(pairs_by_query(queries), 1.0)
        self.weight = 2.0 / self.pairs if pair_scale else np.full(queries.n_queries, 2.0)

    def __call__(self, ranking: Ranking) -> Constraint:
        margin = 1.0 / (self.weight * self.pairs)
        below, above, _ = active_pairs(self.queries, ranking, margin, np.zeros(ranking.row.size))
        loss = np.add.reduceat(below, self.queries.boundaries[:-1]) / self.pairs
        weight = np.repeat(self.weight, self.queries.sizes)
        return Constraint(loss, weight * (above - below))
