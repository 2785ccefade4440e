"""Compare objectives like the papers: folds, early stopping on validation data, test means.

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
>>> len(list(study.run())), study.errors
(1, {})
>>> study.mean(study.methods[0], study.metrics[0]) > 0.6
True
"""

from lambdaplus.comparison.choice import Choice, Search
from lambdaplus.comparison.config import Config
from lambdaplus.comparison.methods import Fitted, Method, Settings
from lambdaplus.comparison.registry import METHODS, find_methods
from lambdaplus.comparison.report import write_report
from lambdaplus.comparison.significance import comparison
from lambdaplus.comparison.store import Store, installed_versions, versions_in_words
from lambdaplus.comparison.study import Study
from lambdaplus.comparison.tables import footnotes, results_table, write_csv, write_parquet

__all__ = [
    "METHODS",
    "Choice",
    "Config",
    "Fitted",
    "Method",
    "Search",
    "Settings",
    "Store",
    "Study",
    "comparison",
    "find_methods",
    "footnotes",
    "installed_versions",
    "results_table",
    "versions_in_words",
    "write_csv",
    "write_parquet",
    "write_report",
]
