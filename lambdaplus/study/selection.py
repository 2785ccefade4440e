"""From records of fits to tables: selection on validation data, values on test data."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from lambdaplus.compute.versions import versions_in_words
from lambdaplus.data import Fold
from lambdaplus.evaluation import evaluate
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.significance import RankedRows
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.config import Config
from lambdaplus.study.crossed_choice import validated_apart
from lambdaplus.study.fits import Fit
from lambdaplus.study.methods import Method, criterion_of
from lambdaplus.study.results import ALL_QUERIES, Results
from lambdaplus.study.tasks import Group
from lambdaplus.study.validation import values_of

KEY = {"method": pl.String, "fold": pl.String, "seed": pl.Int64}
SCHEMAS: dict[str, dict[str, Any]] = {
    "values": {**KEY, "metric": pl.String, "query": pl.String, "value": pl.Float64},
    "fits": {
        **KEY, "trial": pl.Int64, "metric": pl.String, "validation": pl.Float64,
        "round": pl.Int64, "seconds": pl.Float64, "chosen": pl.Boolean,
        "parameters": pl.String, "warnings": pl.String,
    },
    "curves": {**KEY, "metric": pl.String, "round": pl.Int64, "value": pl.Float64},
    "validation": {**KEY, "metric": pl.String, "value": pl.Float64},
}  # fmt: skip
"""The columns of the tables of `Results`."""


def by_metric(fits: Iterable[Fit]) -> dict[str, list[Fit]]:
    """The fits by the metric that selects among them."""
    found: dict[str, list[Fit]] = {}
    for fit in fits:
        found.setdefault(fit.metric, []).append(fit)
    return found


def best_of(fits: Iterable[Fit]) -> Fit:
    """The fit with the best validation value, the first among equals."""
    return max(fits, key=lambda fit: -math.inf if math.isnan(fit.value) else fit.value)


def results_of(
    groups: Iterable[Sequence[Fit]], folds: Sequence[Fold], methods: Sequence[Method],
    metrics: Sequence[RankingMetric], config: Config, **about: Any,
) -> Results:  # fmt: skip
    """The tables of a study.

    A group has the fits of a method on a fold with a seed.  Each metric is evaluated on the model
    that its criterion selects.  What else a result has is in ``about``.
    """
    by_name = {method.name: method for method in methods}
    fold_of, convention = {fold.name: fold for fold in folds}, find_convention(config.convention)
    records: dict[str, list[tuple[Any, ...]]] = {"fits": [], "curves": [], "validation": []}
    values = [pl.DataFrame(schema=SCHEMAS["values"])]
    rows: dict[Group, dict[str, RankedRows | None]] = {}
    rules: dict[str, str] = {}
    for fits in groups:
        group = fits[0].group
        valid, test = fold_of[group[1]].valid, fold_of[group[1]].test
        # Test queries count equally, whatever the weights of their rows.
        lists: dict[str, Any] = {"qid": test.qid} if test.grouped else {"weight": test.weights}
        tried = by_metric(fits)
        best = {name: best_of(members) for name, members in tried.items()}
        for metric in metrics:
            name, fit = str(metric), best[str(criterion_of(by_name[group[0]], metric, config))]
            value = values_of([metric], valid, fit.validation)[metric]
            records["validation"].append((*group, name, value))
            rule = convention.metric(metric)
            found = evaluate(test.labels, fit.test, metrics=rule, convention=convention, **lists)
            [tested], [rules[name]] = found.per_query.values(), found.conventions.values()
            of_queries = test.grouped and len(tested) == found.n_queries
            query = list(map(str, found.qid.tolist())) if of_queries else [ALL_QUERIES]
            columns = [*group, name, query, tested]
            values.append(pl.DataFrame(dict(zip(SCHEMAS["values"], columns, strict=True)),
                                       SCHEMAS["values"], nan_to_null=True))  # fmt: skip
            rows.setdefault(group, {})[name] = next(iter(found.rows.values()), None)
        first = next(iter(best.values()))
        records["curves"] += [
            (*group, first.metric, place * first.every, value)
            for place, value in enumerate(first.curve.tolist(), start=1)
        ]
        records["fits"] += [
            (*group, fit.trial, name, fit.value, fit.rounds, fit.seconds, fit is best[name],
             json.dumps(fit.parameters), "\n".join(fit.warnings))
            for name, members in tried.items() for fit in members
        ]  # fmt: skip
    frames: dict[str, Any] = {
        name: pl.DataFrame(found, SCHEMAS[name], orient="row") for name, found in records.items()
    }
    tests = [fold.test.queries for fold in folds]
    highest = [np.maximum.reduceat(test.labels, test.boundaries[:-1]) for test in tests]
    relevant = np.concatenate(highest) >= 1
    return Results(
        config, by_name, [fold.name for fold in folds], [*map(str, metrics)], pl.concat(values),
        **frames, rows=rows, validated_apart=validated_apart(folds), rules=rules,
        versions=versions_in_words(), queries=relevant.size,
        without_relevant=int((~relevant).sum()),
        n_rows=sum(test.n_documents for test in tests if not test.grouped), **about,
    )  # fmt: skip
