"""What training chooses for a metric if the user does not: measured by `benchmarks/defaults.py`.

The numbers behind each choice are on the page of options (docs/results/options.md).
"""

from __future__ import annotations

from typing import Any

from lambdaplus.metrics import RankingMetric, parse_metric

BALANCE = 0.5  # of Hessians, see `lambdaplus.objectives.class_balance`

# Only pairs with the first relevant document change these metrics, so NDCG is trained.
OF_THE_FIRST_RELEVANT = ("mrr", "success")
# Only pairs across one rank change these metrics, as those with a required cutoff.
OF_THE_FIRST_RANKS = ("top_precision", "rprec")
CUT_GAINS = ("ndcg", "dcg")


def default_surrogate(metric: RankingMetric) -> RankingMetric:
    """The metric whose swap deltas weigh the pairs; it is shown by the ``repr`` of an objective.

    Few pairs change a metric of the first documents, too few to learn from.  It is trained by the
    metric without its cutoff, by NDCG if it is one of the first relevant document, or by AUC.
    """
    declared, changed = metric.declaration, dict[str, Any](metric.changed)
    if declared.cutoff == "optional" and declared.name not in OF_THE_FIRST_RELEVANT:
        return metric if metric.cutoff is None else declared(**changed)
    if declared.name in OF_THE_FIRST_RELEVANT and "relevant" not in changed:
        return parse_metric("ndcg")
    cut = declared.cutoff == "required" or declared.name in OF_THE_FIRST_RANKS
    if declared.binary and (cut or declared.name in OF_THE_FIRST_RELEVANT):
        return parse_metric("auc", relevant=metric.relevant)
    return metric


def default_damping(metric: RankingMetric, surrogate: RankingMetric) -> float | None:
    """The damping of an objective for which none is given: pairs with close scores decide a top."""
    cut = metric.cutoff is not None and surrogate.declaration.name in CUT_GAINS
    return 0.01 if cut and metric.declaration.name in CUT_GAINS else None
