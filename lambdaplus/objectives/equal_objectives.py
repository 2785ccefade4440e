"""Objectives of different metrics that train the same model.

The surrogate weights the pairs, so `ndcg@1` and `ndcg@100` are one objective, and so are `p@5`,
`recall@10` and `map`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lambdaplus.objectives.combined_objective import CombinedObjective
from lambdaplus.objectives.lambda_objective import LambdaObjective


def equal_objectives(objectives: Mapping[str, Any], table: bool = False) -> list[list[str]]:
    """The names of objectives that train the same model, two or more in each list."""
    alike: dict[Any, list[str]] = {}
    for name, objective in objectives.items():
        if isinstance(objective, LambdaObjective | CombinedObjective):
            alike.setdefault(_what_it_trains(objective, table), []).append(name)
    return [names for names in alike.values() if len(names) > 1]


def _what_it_trains(objective: Any, table: bool) -> Any:
    """A value that is equal for objectives with the same gradient."""
    if isinstance(objective, CombinedObjective):
        return frozenset((_what_it_trains(part, table), weight) for part, weight in objective.parts)
    if isinstance(objective, LambdaObjective):
        weights = objective.weighed_by(table)
        metric = weights.metric
        return replace(objective, metric=metric, surrogate=metric, pairs="default"), weights.equal
    return objective
