"""Which differences between the methods of a study are significant.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.differences import comparison, significantly_below
>>> from lambdaplus.data import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:auc,feature:best"),
...     metrics=[parse_metric("auc")],
...     settings=Settings(rounds=60),
... )
>>> _ = list(study.run())
>>> significantly_below(comparison(study), "auc", "lightgbm:lambda_auc")
['feature:best']
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lambdaplus.evaluation import Evaluation, RunComparison, compare_runs
from lambdaplus.study.shown_metrics import shown_metrics
from lambdaplus.study.study import Study


def comparison(study: Study, baseline: str | None = None) -> RunComparison | None:
    """Significance over the test queries of all folds; None for fewer than two finished methods.

    Metrics are those that are shown, in their order.  A baseline that has not finished is not used.
    """
    found = {method.name: study.evaluation(method) for method in study.methods}
    names = [str(metric) for metric in shown_metrics(study)]
    runs = {name: _only(names, each) for name, each in found.items() if each is not None}
    chosen = baseline if baseline in runs else None
    return compare_runs(runs, baseline=chosen) if len(runs) > 1 else None


def _only(names: list[str], evaluation: Evaluation) -> Evaluation:
    """The evaluation by these metrics alone."""
    kinds = ("per_query", "mean", "undefined", "conventions")
    by_kind: dict[str, Any] = {kind: getattr(evaluation, kind) for kind in kinds}
    kept: Any = {kind: {name: all_[name] for name in names} for kind, all_ in by_kind.items()}
    return replace(evaluation, **kept)


def significantly_below(found: RunComparison, metric: str, best: str) -> list[str]:
    """The methods that are significantly worse than one by a metric."""
    return [
        pair.second if pair.first == best else pair.first
        for pair in found.of(metric)
        if best in (pair.first, pair.second)
        and pair.p_corrected < found.alpha
        and (pair.difference > 0) == (pair.first == best)
    ]
