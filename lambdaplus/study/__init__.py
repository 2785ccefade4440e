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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time, names are imported when they are first used
    from lambdaplus.study.assembly import study_of as study_of
    from lambdaplus.study.config import Config as Config
    from lambdaplus.study.identity import installed_versions as installed_versions
    from lambdaplus.study.identity import versions_in_words as versions_in_words
    from lambdaplus.study.methods import Fitted as Fitted
    from lambdaplus.study.methods import Method as Method
    from lambdaplus.study.methods import Task as Task
    from lambdaplus.study.registry import METHODS as METHODS
    from lambdaplus.study.registry import find_methods as find_methods
    from lambdaplus.study.report import write_report as write_report
    from lambdaplus.study.result_files import write_csv as write_csv
    from lambdaplus.study.result_files import write_parquet as write_parquet
    from lambdaplus.study.results import About as About
    from lambdaplus.study.results import Results as Results
    from lambdaplus.study.settings import Settings as Settings
    from lambdaplus.study.study import Study as Study
    from lambdaplus.study.study_tables import results_table as results_table
    from lambdaplus.study.summary import Summary as Summary
else:
    _MODULES = {  # public name: the module that it is imported from
        name: module
        for module, names in (
            ("assembly", "study_of"),
            ("config", "Config"),
            ("identity", "installed_versions versions_in_words"),
            ("methods", "Fitted Method Task"),
            ("registry", "METHODS find_methods"),
            ("report", "write_report"),
            ("result_files", "write_csv write_parquet"),
            ("results", "About Results"),
            ("settings", "Settings"),
            ("study", "Study"),
            ("study_tables", "results_table"),
            ("summary", "Summary"),
        )
        for name in names.split()
    }
    __all__ = sorted(_MODULES)

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})
