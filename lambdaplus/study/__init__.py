"""Compare methods as the papers do: folds, selection on validation data, significance tests.

From a configuration to a conclusion:

1. A `Config` says what is asked.  `study_of` reads the folds and finds each `Method`.
2. A `Study` plans its trainings.  A `Task` is one: a method with one set of parameters on a fold
   with a seed, and its data.
3. The trainer of the method takes a task and returns a `Fitted`, which can predict, for each metric
   that selects.
4. A record `Fit` has what was asked and what came out for one of these metrics, without data and
   model.  The records of a training are one file.
5. `Results` are tables of these records: selection by validation values, and test values.
6. A `Summary` tests differences and says which method is best.  Tables, plots, the report and the
   saved model follow from it.

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

from lambdaplus.compute.versions import installed_versions, versions_in_words
from lambdaplus.study.config import Config
from lambdaplus.study.fits import Fit
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
    "Fit",
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
