"""Names that went, of metrics, commands and modules, and what to use instead: see the changelog."""

_PAPERS = "its declaration in papers/class_metrics.py of the repository"
REMOVED = {
    **dict.fromkeys(
        ("kendall", "kendalltau", "tau_b"),
        "concordance, the share of pairs in order, or scipy.stats.kendalltau",
    ),
    "hand_till": "mauc or concordance",
    **dict.fromkeys(("micro_precision", "macro_precision", "printed_precision"), _PAPERS),
    "class_auc": _PAPERS,
    "reciprocal_ranks": "mrr",
    "pfound": "err",
    "lift": "top_precision, divided by the share of positives",
    "datasets": "lambdaplus.data",
    "comparison": "lambdaplus.study",
    "export": "the frameworks' own files, or Treelite (the page Tools)",
    "PropensityRatios": "PositionBias",
    "reproduce": "python -m papers, in a clone of the repository",
    "catboost": "benchmarks/equal_search.py of the repository, which compares CatBoost's YetiRank",
    "explain": "lambdaplus.explain in Python",
    "cite": "CITATION.cff of the repository",
    **dict.fromkeys(
        ("leaves", "learning_rate", "documents_in_leaf"),
        "trees, or the framework's parameter in a method's name, as lightgbm:map(num_leaves=8), or "
        "in [grid]",
    ),
}


def removed(name: str) -> str:
    """What to add to an error about this name; empty unless it is one that went."""
    return f": it was removed; use {REMOVED[name]}" if name in REMOVED else ""
