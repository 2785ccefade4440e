"""Compare objectives as the papers did: folds, early stopping on validation data, test means.

Examples
--------
>>> from lambdaplus.comparison import Settings, Study, find_methods
>>> from lambdaplus.datasets import digits_queries
>>> from lambdaplus.metrics import parse_metric
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:lambda_map"),
...     metrics=[parse_metric("map")],
...     settings=Settings(rounds=5),
... )
>>> [result.error for result in study.run()]
['']
>>> study.mean(study.methods[0], study.metrics[0]) > 0.6
True
"""

from lambdaplus.comparison.methods import METHODS, Fitted, Method, Settings, find_methods
from lambdaplus.comparison.study import Result, Study
from lambdaplus.comparison.tables import footnotes, installed_versions, results_table, write_csv

__all__ = [
    "METHODS",
    "Fitted",
    "Method",
    "Result",
    "Settings",
    "Study",
    "find_methods",
    "footnotes",
    "installed_versions",
    "results_table",
    "write_csv",
]
