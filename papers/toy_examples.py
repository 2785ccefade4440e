"""The toy examples of the papers.

Yue et al. 2007, tables 1 and 2: ROC area prefers the second ranking, MAP the first.

>>> def values(ranked, *metrics):
...     scores = -np.arange(len(ranked))
...     return evaluate(ranked, scores, group=[len(ranked)], metrics=metrics).mean.values()
>>> p = [1, 0, 0, 0, 0, 1, 1, 0]  # relevance in the order of h1; that of h2 is the reverse
>>> for ranked in (p, p[::-1]):
...     print(*(f"{value:.2f}" for value in values(ranked, "map", "auc")))
0.59 0.47
0.51 0.53

Tables 3 and 4: accuracy prefers the second.  The MAP that is printed, .70 and .64, is not that of
these ranks.

>>> p = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0]
>>> for ranked in (p, p[::-1]):
...     [ap] = values(ranked, "map")
...     print(f"{ap:.3f} {best_accuracy(ranked):.2f}")
0.563 0.64
0.511 0.73

Elsas et al. 2008, section 3: as many inversions, but other NDCG (.783 in print), RR and AP.

>>> for ranked in ([1, 0, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 1]):
...     print(*(f"{v:.3f}" for v in values(ranked, "ndcg(discount=letor)", "mrr", "map")))
0.784 1.000 0.756
0.810 0.500 0.639
0.907 1.000 0.833
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lambdaplus import evaluate as evaluate


def best_accuracy(ranked: Sequence[int]) -> float:
    """Share of documents that are right, at the best threshold between relevant and others."""
    labels = np.array(ranked)
    right = [labels[:k].sum() + (1 - labels[k:]).sum() for k in range(labels.size + 1)]
    return float(max(right) / labels.size)
