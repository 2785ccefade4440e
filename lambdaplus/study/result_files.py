"""The files of a study's results."""

from pathlib import Path

import polars as pl

from lambdaplus.study.results import Results


def write_tables(results: Results, folder: Path) -> None:
    """Write ``per_query.csv``, ``per_query.parquet``, ``summary.csv`` and ``choices.csv``.

    per_query has the columns method, fold, seed, metric, qid and value, which is empty if a
    metric has no value on a query; summary.csv has method, metric, mean, and the mean of each fold;
    choices.csv has the parameters chosen on validation data.

    Parameters
    ----------
    results : Results
    folder : path
        It is created if it does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.study import Config, study_of, write_tables
    >>> study = study_of(Config(methods=("lightgbm:lambda_map",), folds="1", rounds=2))
    >>> study.finish()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tables(study.results, pathlib.Path(folder))
    ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
    ['choices.csv', 'per_query.csv', 'per_query.parquet', 'summary.csv']
    """
    folder.mkdir(parents=True, exist_ok=True)
    means = [
        {"method": method, "metric": metric, "mean": results.mean(method, metric), **by_fold}
        for method in results.methods
        for metric in results.metrics
        if (by_fold := results.fold_means(method, metric))
    ]
    per_query = results.values.rename({"query": "qid"})
    per_query.write_parquet(folder / "per_query.parquet")
    columns = {"method": pl.String, "metric": pl.String}
    numbers = dict.fromkeys(("mean", *results.folds), pl.Float64)
    tables = {
        "per_query.csv": per_query,
        "summary.csv": pl.DataFrame(means, schema={**columns, **numbers}),
        "choices.csv": results.chosen_fits(),
    }
    for name, frame in tables.items():
        text = frame.with_columns(pl.selectors.float().fill_nan(None)).write_csv()
        (folder / name).write_text(text, encoding="utf-8")
