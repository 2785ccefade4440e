"""Objectives in words, for ``help()``."""

from typing import Any

from lambdaplus.metrics.in_words import metric_in_words
from lambdaplus.objectives.objective import Objective


def objective_in_words(objective: Objective) -> str:
    """What ``help(objective)`` shows."""
    metric, pairs = objective.metric, ""
    weighed_by: Any = getattr(objective, "weighed_by", None)
    if weighed_by is not None:
        of_table, of_queries = weighed_by(table=True), weighed_by(table=False)
        pairs = f"\n\nPairs are weighted by the swap deltas of {of_queries}"
        pairs += "." if of_table == of_queries else f"; without queries, as in {of_table}."
    evaluated = f'eval_metric("{metric}")'
    return f"""\
Objective for LightGBM and XGBoost that optimises {objective.__name__.removeprefix("lambda_")}.

{metric_in_words(metric)}{pairs}

With this object as `objective`:

    lightgbm.train(
        {{"objective": objective, "metric": "None"}}, data, feval={evaluated}
    )
    xgboost.train(
        {{"base_score": 0.0, "disable_default_eval_metric": 1}}, data, obj=objective,
        custom_metric={evaluated},
    )

Its options, which `lambda_objective` describes:

    {objective!r}
"""
