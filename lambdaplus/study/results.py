"""The results of a study: what validation data selects, its values on test data, and files."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.evaluation import Convention, Evaluation, evaluate
from lambdaplus.evaluation.aligned_runs import mean_run
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.row_significance import RankedRows
from lambdaplus.metrics import RankingMetric
from lambdaplus.metrics.means import mean_of
from lambdaplus.study.config import Config
from lambdaplus.study.fits import Fit
from lambdaplus.study.methods import Criterion, Method, Task
from lambdaplus.study.trainers import parameters_of, values_of

KEY = {"method": pl.String, "fold": pl.String, "seed": pl.Int64}
SCHEMAS: dict[str, dict[str, Any]] = {
    "values": {**KEY, "metric": pl.String, "query": pl.String, "value": pl.Float64},
    "fits": {
        **KEY, "trial": pl.Int64, "metric": pl.String, "validation": pl.Float64,
        "round": pl.Int64, "seconds": pl.Float64, "chosen": pl.Boolean,
        "parameters": pl.String, "warnings": pl.String,
    },
    "curves": {**KEY, "metric": pl.String, "round": pl.Int64, "value": pl.Float64},
    "validation": {**KEY, "metric": pl.String, "value": pl.Float64},
}  # fmt: skip
"""The columns of the tables of `Results`."""
ALL_QUERIES = "all"
"""The query of a metric that has one value for the whole data set."""


class Tested(NamedTuple):
    """Values of a metric by test query, the rules that gave them, and the rows of a table."""

    values: Floats
    rules: str
    rows: tuple[RankedRows, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed.

    One metric selects the model that all metrics are evaluated on; in a search, each metric is
    evaluated on the model that it selected, unless one metric selects for all.
    """

    tasks: Sequence[Task]
    fits: Sequence[Mapping[str, Fit]]  # of each task
    fold: Fold
    selects: Mapping[RankingMetric, Criterion]  # the selecting metric of each evaluated metric
    convention: Convention

    @property
    def method(self) -> Method:
        return self.tasks[0].method

    @property
    def seed(self) -> int:
        return self.tasks[0].seed

    @cached_property
    def values(self) -> dict[Criterion, Floats]:
        """Values of all fits on validation data, by selecting metric."""

        def value(fits: Mapping[str, Fit], by: Criterion) -> float:
            if str(by) in fits:
                return fits[str(by)].best
            return values_of([by], self.fold.valid, _fit_by(fits, by).validation)[by]

        return {by: np.array([value(fits, by) for fits in self.fits])
                for by in dict.fromkeys(self.selects.values())}  # fmt: skip

    @property
    def by(self) -> Criterion:
        """The metric whose selection represents the method: its criterion if it selects."""
        criterion: Criterion = self.method.criterion
        return criterion if criterion in self.values else next(iter(self.values))

    def place(self, by: Criterion) -> int:
        """The number of the best fit, the first among equals; 0 if none has a value."""
        values = self.values[by]
        return 0 if np.isnan(values).all() else int(np.nanargmax(values))

    def chosen(self, by: Criterion) -> Fit:
        """The fit selected by a metric."""
        return _fit_by(self.fits[self.place(by)], by)

    @cached_property
    def tested(self) -> dict[str, Tested]:
        """Each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        # Test queries count equally, whatever the weights of their rows.
        lists: dict[str, Any] = {"qid": test.qid} if test.grouped else {"weight": test.weights}
        # Metrics that selected the same fit share a ranking of the documents.
        metrics_of: dict[Fit, list[RankingMetric]] = {}
        for metric, by in self.selects.items():
            metrics_of.setdefault(self.chosen(by), []).append(metric)
        tested = {}
        for fit, metrics in metrics_of.items():
            by_rules = [self.convention.metric(metric) for metric in metrics]
            evaluation = evaluate(
                test.labels, fit.test, metrics=[*dict.fromkeys(by_rules)],
                convention=self.convention, **lists,
            )  # fmt: skip
            for metric, name in zip(metrics, map(str, by_rules), strict=True):
                tested[str(metric)] = Tested(
                    evaluation.per_query[name],
                    evaluation.conventions[name],
                    evaluation.rows.get(name, ()),
                )
        return {str(metric): tested[str(metric)] for metric in self.selects}

    def columns(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names of tables, with columns of rows to add to each."""
        test, valid = self.fold.test, self.fold.valid
        qid = [str(qid) for qid in test.qid[test.queries.boundaries[:-1]].tolist()]
        for metric, tested in self.tested.items():
            whole = not test.grouped or len(tested.values) != len(qid)
            query = [ALL_QUERIES] if whole else qid
            yield "values", {"metric": metric, "query": query, "value": tested.values}
        for selected, by in self.selects.items():
            value = values_of([selected], valid, self.chosen(by).validation)[selected]
            yield "validation", {"metric": str(selected), "value": [value]}
        chose_rounds = [by for by in self.values if str(by) in self.fits[0]]
        for by in chose_rounds or [self.method.criterion]:
            fit = self.chosen(by if by in chose_rounds else self.by)
            rounds = np.arange(1, len(fit.curve) + 1) * fit.every
            yield "curves", {"metric": str(by), "round": rounds, "value": fit.curve}
        for by, values in self.values.items():
            fits = [_fit_by(fits, by) for fits in self.fits]
            parameters = [json.dumps(parameters_of(task), default=str) for task in self.tasks]
            of_tasks = {
                "trial": [task.trial for task in self.tasks],
                "metric": str(by),
                "validation": values,
                "round": [fit.rounds for fit in fits],
                "seconds": [fit.seconds for fit in fits],
                "chosen": [task.trial == self.place(by) for task in self.tasks],
                "parameters": parameters,
                "warnings": ["\n".join(fit.warnings) for fit in fits],
            }
            yield "fits", of_tasks


def _fit_by(fits: Mapping[str, Fit], by: Criterion) -> Fit:
    """The fit whose rounds a metric chose, or else the first."""
    return fits.get(str(by)) or next(iter(fits.values()))


def tables_of(choices: Iterable[Choice]) -> dict[str, pl.DataFrame]:
    """The tables of `Results`, by name."""
    tables = {name: [pl.DataFrame(schema=schema)] for name, schema in SCHEMAS.items()}
    for choice in choices:
        key = {"method": choice.method.name, "fold": choice.fold.name, "seed": choice.seed}
        for name, columns in choice.columns():
            nulls = name == "values"
            frame = pl.DataFrame({**key, **columns}, SCHEMAS[name], nan_to_null=nulls)
            tables[name].append(frame)
    return {name: pl.concat(frames) for name, frames in tables.items()}


@dataclass(frozen=True, eq=False)
class Results:
    """Results of a study for each method, fold and seed whose fits are all finished.

    Attributes
    ----------
    config : Config
        What was asked.
    methods : dict of str to Method
        By name, in the order given, whether finished or not.
    folds, metrics : list of str
        Names, in the order given, whether finished or not.
    values : polars.DataFrame
        Values of test queries, with columns method, fold, seed, metric, query and value; null if a
        metric has no value on a query.
    fits : polars.DataFrame
        A row for each fit and each validation metric that selects: method, fold, seed, trial,
        metric, validation (the best value), round (of this value), seconds of training, chosen,
        parameters (JSON) and warnings (a line each).
    curves : polars.DataFrame
        Validation values by round of the chosen fits, up to the end of their training: method,
        fold, seed, metric, round and value.
    validation : polars.DataFrame
        Means on validation data of the models that each metric is evaluated on: method, fold, seed,
        metric and value.
    errors : dict of str to str
        First error of each method that failed.
    rows : dict
        Of a table without queries, the scored test rows of each metric, by method, fold and seed.
    rules : dict of str to str
        The rules of each metric, in words.
    versions : str
        See `versions_in_words`.
    queries, without_relevant : int
        Number of test queries, and of those without a relevant document.
    n_rows : int
        Number of test rows of a table without queries; 0 with queries.
    planned, finished : int
        Numbers of fits.
    notes : tuple of str
        Sentences about rows, queries and columns of the data.

    Examples
    --------
    >>> from lambdaplus.study import Config, study_of
    >>> study = study_of(Config(methods=("lightgbm:lambda_map",), folds="1", rounds=2))
    >>> study.finish()
    >>> [*study.results.methods], study.results.values.columns
    (['lightgbm:lambda_map'], ['method', 'fold', 'seed', 'metric', 'query', 'value'])
    """

    config: Config
    methods: Mapping[str, Method]
    folds: list[str]
    metrics: list[str]
    values: pl.DataFrame
    fits: pl.DataFrame
    curves: pl.DataFrame
    validation: pl.DataFrame
    errors: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[tuple[str, str, int], Mapping[str, tuple[RankedRows, ...]]] = field(
        default_factory=dict
    )
    rules: Mapping[str, str] = field(default_factory=dict)
    versions: str = ""
    queries: int = 0
    without_relevant: int = 0
    n_rows: int = 0
    planned: int = 0
    finished: int = 0
    notes: tuple[str, ...] = ()

    @property
    def criteria(self) -> dict[str, str]:
        """The name of the metric that each method optimises."""
        return {name: str(method.criterion) for name, method in self.methods.items()}

    @property
    def main_metric(self) -> str:
        """The metric that says which method is best: the selecting one, or else the first."""
        return self.config.select if self.config.select in self.metrics else self.metrics[0]

    def chosen_fits(self) -> pl.DataFrame:
        """The parameters and the round chosen on each fold: the rows of ``choices.csv``."""
        return self.fits.filter("chosen").select(
            "method", "fold", "seed", "metric", "trial", pl.col("round").alias("rounds"),
            pl.col("validation").alias("value"), "parameters",
        )  # fmt: skip

    @cached_property
    def _fold_means(self) -> dict[tuple[str, str], dict[str, float]]:
        keys = ["method", "metric", "fold"]
        means: dict[tuple[str, str], dict[str, float]] = {}
        for method, metric, fold, mean in _means(_means(self.values, *keys, "seed"), *keys).rows():
            means.setdefault((method, metric), {})[fold] = math.nan if mean is None else mean
        return means

    def fold_means(self, method: str, metric: str) -> dict[str, float]:
        """Mean over queries, then over seeds, on each fold that the method finished."""
        return self._fold_means.get((method, metric), {})

    def mean(self, method: str, metric: str) -> float:
        """Mean of the fold means; NaN unless the method has a value on every fold."""
        means = list(self.fold_means(method, metric).values())
        return float(np.mean(means)) if len(means) == len(self.folds) else math.nan

    @cached_property
    def validation_means(self) -> dict[tuple[str, str], float]:
        """Mean over folds and seeds on validation data, by method and metric."""
        keys = ["method", "metric"]
        defined = self.validation.with_columns(pl.col("value").fill_nan(None))
        means = _means(_means(defined, *keys, "fold"), *keys).drop_nulls("value")
        return {(method, metric): mean for method, metric, mean in means.iter_rows()}

    @cached_property
    def spreads(self) -> dict[tuple[str, str], float]:
        """Standard deviation over seeds of the means, by method and metric; none for one seed."""
        keys = ["method", "metric", "seed"]
        by_seed = _means(_means(self.values, *keys, "fold"), *keys)
        deviations = by_seed.group_by("method", "metric").agg(pl.col("value").std())
        return {(m, metric): sd for m, metric, sd in deviations.drop_nulls().iter_rows()}

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Training time of each method over all folds, seeds and parameters."""
        fits = self.fits.unique(["method", "fold", "seed", "trial"], maintain_order=True)
        by_method = fits.group_by("method").agg(pl.col("seconds").sum())
        return dict(by_method.iter_rows())

    def evaluation(self, method: str) -> Evaluation | None:
        """Values of all test queries, averaged over seeds; None if unfinished.

        Queries are called ``fold qid``.
        """
        # A seed that lacks a fold would weigh the queries of the others more.
        complete = pl.col("fold").n_unique().over("seed") == len(self.folds)
        values = self.values.filter(pl.col("method") == method).filter(complete)
        by_seed = values.group_by("seed", maintain_order=True)
        runs = [self._run(method, int(seed), rows) for (seed,), rows in by_seed]
        return mean_run(method, runs) if runs else None

    def _run(self, method: str, seed: int, values: pl.DataFrame) -> Evaluation:
        """The values of a method with one seed on all folds."""
        per_query: dict[str, Floats] = {}
        queries: list[str] = []
        for metric in self.metrics:
            rows = values.filter(pl.col("metric") == metric)
            per_query[metric] = rows["value"].fill_null(math.nan).to_numpy()
            if not (rows["query"] == ALL_QUERIES).all():
                queries = [" ".join(key) for key in rows.select("fold", "query").iter_rows()]
        tables = [self.rows.get((method, fold, seed), {}) for fold in self.folds]
        return Evaluation(
            per_query,
            {metric: mean_of(each) for metric, each in per_query.items()},
            len(queries),
            self.without_relevant,
            {metric: int(np.isnan(each).sum()) for metric, each in per_query.items()},
            np.array(queries),
            dict(self.rules),
            find_convention(self.config.convention),
            rows={
                metric: tuple(table for fold in tables for table in fold[metric])
                for metric in self.metrics
                if all(fold.get(metric) for fold in tables)
            },
        )


def _means(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Mean value of each group, in the order of the first rows; null if it has no value."""
    return frame.group_by(keys, maintain_order=True).agg(pl.col("value").mean())


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
    for name, table in tables.items():
        text = table.with_columns(pl.selectors.float().fill_nan(None)).write_csv()
        (folder / name).write_text(text, encoding="utf-8")
