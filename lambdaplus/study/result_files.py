"""The results of a study as CSV and Parquet files."""

from pathlib import Path

import polars as pl

from lambdaplus.data.table_files import safe_csv
from lambdaplus.study.results import Results
from lambdaplus.study.study_tables import chosen_fits


def write_parquet(results: Results, folder: Path) -> None:
    """Write the rows of per_query.csv (see `write_csv`) to ``per_query.parquet``.

    Parameters
    ----------
    results : Results
    folder : path
        It is created if it does not exist.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Settings, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Settings(rounds=2))
    >>> study.finish()
    >>> import pathlib, tempfile
    >>> from lambdaplus.study import write_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(study.results, pathlib.Path(folder))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['per_query.parquet']
    """
    folder.mkdir(parents=True, exist_ok=True)
    results.values.rename({"query": "qid"}).write_parquet(folder / "per_query.parquet")


def write_csv(results: Results, folder: Path) -> None:
    """Write ``per_query.csv``, ``summary.csv`` and ``choices.csv``.

    per_query.csv has the columns method, fold, seed, metric, qid and value, which is empty if a
    metric has no value on a query; summary.csv has method, metric, mean, and the mean of each fold;
    choices.csv has the parameters chosen on validation data.

    Parameters
    ----------
    results : Results
    folder : path
        It is created if it does not exist.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Settings, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Settings(rounds=2))
    >>> study.finish()
    >>> import pathlib, tempfile
    >>> from lambdaplus.study import write_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(study.results, pathlib.Path(folder))
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['choices.csv', 'per_query.csv', 'summary.csv']
    """
    folder.mkdir(parents=True, exist_ok=True)
    means = [
        {"method": method, "metric": metric, "mean": results.mean(method, metric), **by_fold}
        for method in results.methods
        for metric in results.metrics
        if (by_fold := results.fold_means(method, metric))
    ]
    columns = {"method": pl.String, "metric": pl.String}
    numbers = dict.fromkeys(("mean", *results.folds), pl.Float64)
    tables = {
        "per_query.csv": results.values.rename({"query": "qid"}),
        "summary.csv": pl.DataFrame(means, schema={**columns, **numbers}),
        "choices.csv": chosen_fits(results),
    }
    for name, table in tables.items():
        (folder / name).write_text(safe_csv(table), encoding="utf-8")
