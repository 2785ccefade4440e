"""Compare methods as the papers do: folds, selection on validation data, significance tests.

From a configuration to a conclusion:

1. A `Config` says what is asked.  `study_of` reads the folds and finds each `Method`.
2. A `Study` plans its tasks.  A `Task` is one training that is to be made: a method with one set of
   parameters on a fold with a seed, and its data.
3. A runner trains the tasks that are not stored.  The trainer of the method takes a task and
   returns a `Fitted`, a model that can predict, for each metric that selects.
4. A `Fit` is the record of a training for one of these metrics: what was asked and what came out,
   without data and model.  The fits of a task are one file of the store.
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

from typing import TYPE_CHECKING

from lambdaplus.compute.lazy_names import importer, modules_of

if TYPE_CHECKING:  # at run time, names are imported when they are first used
    from lambdaplus.compute.versions import installed_versions as installed_versions
    from lambdaplus.compute.versions import versions_in_words as versions_in_words
    from lambdaplus.study.config import Config as Config
    from lambdaplus.study.fits import Fit as Fit
    from lambdaplus.study.from_config import study_of as study_of
    from lambdaplus.study.method_names import find_methods as find_methods
    from lambdaplus.study.methods import Method as Method
    from lambdaplus.study.registry import METHODS as METHODS
    from lambdaplus.study.report import write_report as write_report
    from lambdaplus.study.result_files import write_tables as write_tables
    from lambdaplus.study.results import Results as Results
    from lambdaplus.study.study import Study as Study
    from lambdaplus.study.summary import Summary as Summary
    from lambdaplus.study.summary_tables import results_table as results_table
    from lambdaplus.study.tasks import Fitted as Fitted
    from lambdaplus.study.tasks import Task as Task
else:  # with __getattr__, type checkers would accept misspelt names
    _MODULES = modules_of(
        ("lambdaplus.study.config", "Config"),
        ("lambdaplus.study.fits", "Fit"),
        ("lambdaplus.study.from_config", "study_of"),
        ("lambdaplus.compute.versions", "installed_versions versions_in_words"),
        ("lambdaplus.study.method_names", "find_methods"),
        ("lambdaplus.study.methods", "Method"),
        ("lambdaplus.study.registry", "METHODS"),
        ("lambdaplus.study.report", "write_report"),
        ("lambdaplus.study.result_files", "write_tables"),
        ("lambdaplus.study.results", "Results"),
        ("lambdaplus.study.study", "Study"),
        ("lambdaplus.study.summary", "Summary"),
        ("lambdaplus.study.summary_tables", "results_table"),
        ("lambdaplus.study.tasks", "Fitted Task"),
    )
    __all__ = sorted(_MODULES)
    __getattr__ = importer(__name__, _MODULES)
