"""The metrics that tables and plots of a study show: first those that methods were trained for.

Metrics that are the same thing on the data are shown once, such as AUC and MAUC with two grades.

Examples
--------
>>> from lambdaplus.study import Settings, Study, find_methods
>>> from lambdaplus.study.shown_metrics import main_metrics, same_metrics, shown_metrics
>>> from lambdaplus.data import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],  # of relevant documents and others
...     methods=find_methods("lightgbm:map"),
...     metrics=[parse_metric(name) for name in ("auc", "mauc", "map")],
...     settings=Settings(rounds=5),
... )
>>> _ = list(study.run())
>>> same_metrics(study)
{'mauc': 'auc'}
>>> [str(metric) for metric in shown_metrics(study)], [str(m) for m in main_metrics(study)]
(['map', 'auc'], ['map'])
"""

from __future__ import annotations

import numpy as np

from lambdaplus.data.queries import Floats
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.methods import Method
from lambdaplus.study.study import Study

ROUNDING = 1e-12  # sums in another order


def same_metrics(study: Study) -> dict[str, str]:
    """Metrics that have the values of an earlier one on every test query, with that one's name."""
    found: dict[str, str] = {}
    every = [choice.evaluation for mine in study.chosen.values() for choice in mine]
    values = {
        str(metric): [evaluation.per_query[str(metric)] for evaluation in every]
        for metric in study.metrics
    }
    for name in values if every else ():
        kept = (other for other in values if other not in found)
        for other in kept:
            if other == name:
                break
            if all(map(_equal, values[name], values[other])):
                found[name] = other
                break
    return found


def _equal(one: Floats, other: Floats) -> bool:
    return one.shape == other.shape and np.allclose(one, other, 0.0, ROUNDING, equal_nan=True)


def criterion_of(study: Study, method: Method) -> str:
    """The metric that a method optimises, by the name under which it is shown."""
    return same_metrics(study).get(method.criterion, method.criterion)


def shown_metrics(study: Study) -> list[RankingMetric]:
    """Each metric once, those that some method optimises first."""
    main = main_metrics(study)
    same = same_metrics(study)
    return [*main, *(m for m in study.metrics if m not in main and str(m) not in same)]


def main_metrics(study: Study) -> list[RankingMetric]:
    """Metrics that some method optimises, if any is; all otherwise; each once."""
    same = same_metrics(study)
    criteria = {same.get(method.criterion, method.criterion) for method in study.methods}
    single = [metric for metric in study.metrics if str(metric) not in same]
    return [metric for metric in single if str(metric) in criteria] or single


def same_in_words(study: Study) -> list[str]:
    """What is left out, a sentence for each metric."""
    return [
        f"{name} has the values of {other} on every query, and is not shown."
        for name, other in same_metrics(study).items()
    ]
