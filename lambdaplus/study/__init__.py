"""Compare methods as the papers do: folds, selection on validation data, significance tests.

A `Study` trains methods on folds and stores the fits.  Its `Results` are tables, from which
reports, files and plots are made.

Examples
--------
>>> from lambdaplus.study import Settings, Study, Summary, find_methods
>>> from lambdaplus.data import digits_queries
>>> study = Study(
...     folds=digits_queries()[:1],
...     methods=find_methods("lightgbm:lambda_map"),
...     metrics=["map"],
...     settings=Settings(rounds=5),
... )
>>> len(list(study.run())), study.errors
(1, {})
>>> study.results.mean("lightgbm:lambda_map", "map") > 0.6
True
>>> Summary(study.results).best("map")
'lightgbm:lambda_map'
"""

from lambdaplus.study.config import Config
from lambdaplus.study.identity import installed_versions, versions_in_words
from lambdaplus.study.methods import Fitted, Job, Method, Settings
from lambdaplus.study.registry import METHODS, find_methods
from lambdaplus.study.report import write_report
from lambdaplus.study.result_files import write_csv, write_parquet
from lambdaplus.study.results import Results
from lambdaplus.study.study import Study
from lambdaplus.study.study_tables import results_table
from lambdaplus.study.summary import Summary

__all__ = [
    "METHODS",
    "Config",
    "Fitted",
    "Job",
    "Method",
    "Results",
    "Settings",
    "Study",
    "Summary",
    "find_methods",
    "installed_versions",
    "results_table",
    "versions_in_words",
    "write_csv",
    "write_parquet",
    "write_report",
]
