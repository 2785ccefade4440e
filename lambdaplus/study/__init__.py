"""Compare methods as the papers do: folds, selection on validation data, significance tests.

A `Study` has a plan of tasks, each of which trains a method on a fold.  Their fits are kept.
`Results` are tables of kept fits, from which reports, files and plots are made.

Examples
--------
>>> from lambdaplus.study import Config, Summary, study_of
>>> study = study_of(
...     Config(methods=("lightgbm:lambda_map",), metrics=("map",), folds="1", rounds=5)
... )
>>> study.finish()
>>> study.results.mean("lightgbm:lambda_map", "map") > 0.6
True
>>> Summary(study.results).best("map")
'lightgbm:lambda_map'
"""

from lambdaplus.compute.digests import installed_versions, versions_in_words
from lambdaplus.study.config import Config
from lambdaplus.study.from_config import study_of
from lambdaplus.study.method_names import find_methods
from lambdaplus.study.methods import Fitted, Method, Task
from lambdaplus.study.registry import METHODS
from lambdaplus.study.report import write_report
from lambdaplus.study.results import Results, write_tables
from lambdaplus.study.study import Study
from lambdaplus.study.summary import Summary
from lambdaplus.study.tables import results_table

__all__ = [
    "METHODS",
    "Config",
    "Fitted",
    "Method",
    "Results",
    "Study",
    "Summary",
    "Task",
    "find_methods",
    "installed_versions",
    "results_table",
    "study_of",
    "versions_in_words",
    "write_report",
    "write_tables",
]
