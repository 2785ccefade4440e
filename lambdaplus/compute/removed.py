"""Names that lambdaplus 0.2 had, and what to use instead: see the changelog."""

REMOVED = {
    "bpref": "ir-measures or pytrec_eval, which also leave out documents that are not judged",
    "judged": "judged_only=True of ir-measures",
    "catboost": "CatBoost itself, and compare_runs for the values of its scores",
    **dict.fromkeys(
        ("leaves", "learning_rate", "documents_in_leaf"),
        "trees, or the framework's parameter in a method's name, as lightgbm:map(num_leaves=8), or "
        "in [grid]",
    ),
    "truncation": "all pairs, which no measurement found less accurate",
    "damping": "a larger learning rate, if training takes too long: it costs less accuracy",
    "pointwise": "log-loss as a part of a sum, as in lambda_objective('auc + logloss')",
}


def removed(name: str) -> str:
    """What to add to an error about this name; empty unless it is one that went."""
    return f": it was removed after lambdaplus 0.2; use {REMOVED[name]}" if name in REMOVED else ""
