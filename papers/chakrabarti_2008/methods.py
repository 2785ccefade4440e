"""What is compared: the structured rankers of the paper, their variants, and McRank."""

from __future__ import annotations

from dataclasses import replace

from lambdaplus.study import Method, find_methods

C_GRID = tuple(10.0**power for power in range(-2, 5))
SVMS = "svm:auc,svm:map,svm:ndcg@10,svm:ndcg-nc,svm:mrr,svm:mrr-po,svm:dorm"
COMBOS = ("svm:combo-shared", "svm:combo-separate")
PAIR_COMBOS = tuple(f"{name}-po" for name in COMBOS)
DORM, ASSIGNED = "svm:dorm-30", {"cutoff": 10, "decay": 30}
UNSCALED = ("svm:auc", "svm:map", "svm:ndcg@10")
MCRANK = "mcrank:multiclass"


def rankers() -> list[Method]:
    """One SVM for each loss and feature map.

    DORM stands there twice: by the loss and the smooth decay of its own paper, and as this paper
    ran it, with NDCG@10 and a decay that is 0 after rank 30.
    """
    found = find_methods(SVMS)
    [smooth] = [method for method in found if method.name == "svm:dorm"]
    return [*found, _changed(smooth, DORM, **ASSIGNED)]


def combos() -> list[Method]:
    """MAP, MRR and NDCG at once, with the map of MRR's own, and with that of pairs for all."""
    found = find_methods(",".join(COMBOS))
    pairs = {"feature_maps": ("po", "po", "po")}
    return [*found, *(_changed(method, f"{method.name}-po", **pairs) for method in found)]


def unscaled() -> list[Method]:
    """SVMs whose feature map sums the pairs of a query instead of averaging them."""
    return [
        _changed(method, method.name, pair_scale=False)
        for method in rankers()
        if method.name in UNSCALED
    ]


def mcrank(rounds: int) -> Method:
    """McRank with at most so many rounds, the best of them by validation."""
    [method] = find_methods(MCRANK)
    return _changed(method, method.name, n_estimators=rounds)


def _changed(method: Method, name: str, **fixed: object) -> Method:
    return replace(method, name=name, fixed={**method.fixed, **fixed})
