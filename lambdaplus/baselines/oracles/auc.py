"""The AUC loss with the pair map, binary or graded.

Pairs of different grades are independent: a pair is violated if the score of the lower document is
within the margin of the higher one or above it.  With two classes these decisions always form a
ranking; with more they may form a cycle, and the hinge is that of Ranking SVM: the mean over pairs.

References
----------
Joachims 2005, sec. 4 (ROC area); Joachims 2006 (ordinal regression); Chakrabarti 2008, eqs. 3, 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.baselines.oracles.ranked import Constraint, Ranked, blank
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries


class AUCOracle:
    """Most violated constraints for the share of misordered pairs: O(n log L) for L grades."""

    def __init__(self, pair_scale: bool) -> None:
        self.pair_scale = pair_scale

    def __call__(self, documents: Ranked) -> Constraint:
        worst = blank(documents)
        over_queries(_auc, documents.boundaries, documents, self.pair_scale, *worst)
        return worst


@compiled
def _auc(
    first: int, last: int, documents: Any, pair_scale: bool, loss: Any, coefficient: Any
) -> None:
    for q in range(first, last):
        classes = documents.classes[q]
        if classes < 2:
            continue
        low, high = documents.boundaries[q], documents.boundaries[q + 1]
        score, code = documents.score[low:high], documents.code[low:high]
        count = np.zeros(classes)
        for i in range(score.size):
            count[code[i]] += 1.0
        pairs = (score.size**2 - (count**2).sum()) / 2
        weight = 2.0 / pairs if pair_scale else 2.0
        margin = 1.0 / (weight * pairs)
        ahead = np.zeros(score.size)  # lower documents ahead minus higher ones behind
        violated = 0.0
        bit = 0
        # Two grades first differ in one binary digit: the digits divide the pairs into log2(L)
        # sets, and for each of these a sweep of a binary problem counts all pairs.
        while (classes - 1) >> bit:
            violated += _count_pairs(score, code, bit, margin, count, ahead)
            bit += 1
        for i in range(score.size):
            coefficient[documents.row[low + i]] = -weight * ahead[i]
        loss[q] = violated / pairs


@compiled
def _count_pairs(score: Any, code: Any, bit: int, margin: float, seen: Any, ahead: Any) -> float:
    n = score.size
    violated = 0.0
    seen[:] = 0.0
    reach = 0
    for i in range(n):
        if code[i] >> bit & 1:
            while reach < n and score[reach] > score[i] - margin:
                if not code[reach] >> bit & 1:
                    seen[code[reach] >> (bit + 1)] += 1.0
                reach += 1
            ahead[i] += seen[code[i] >> (bit + 1)]
            violated += seen[code[i] >> (bit + 1)]
    seen[:] = 0.0
    reach = n - 1
    for i in range(n - 1, -1, -1):
        if not code[i] >> bit & 1:
            while reach >= 0 and score[i] > score[reach] - margin:
                if code[reach] >> bit & 1:
                    seen[code[reach] >> (bit + 1)] += 1.0
                reach -= 1
            ahead[i] -= seen[code[i] >> (bit + 1)]
    return violated
