"""The results of a study: what validation data selects, and its values as tables and files."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold
from lambdaplus.data.table_files import safe_csv
from lambdaplus.evaluation import Convention, Evaluation, evaluate
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.result import Rows, mean_of
from lambdaplus.metrics import RankingMetric
from lambdaplus.study.config import Config
from lambdaplus.study.fits import Fit, Fits
from lambdaplus.study.methods import Criterion, Method, Task
from lambdaplus.study.trainers import values_of

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


@dataclass(frozen=True, eq=False)
class Choice:
    """The parameters selected on validation data for a method on a fold with a seed.

    One metric selects the model that all metrics are evaluated on; in a search, each metric is
    evaluated on the model that it selected, unless one metric selects for all.
    """

    tasks: Sequence[Task]
    fits: Sequence[Fits]  # of each task
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

        def value(fits: Fits, by: Criterion) -> float:
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
    def evaluation(self) -> Evaluation:
        """Evaluation of each metric on the test queries of the fold, by the study's convention."""
        test = self.fold.test
        # Test queries count equally, whatever the weights of their rows.
        lists: dict[str, Any] = {"qid": test.qid} if test.grouped else {"weight": test.weights}
        # Metrics that selected the same fit share a ranking of the documents.
        metrics_of: dict[Fit, list[RankingMetric]] = {}
        for metric, by in self.selects.items():
            metrics_of.setdefault(self.chosen(by), []).append(metric)
        found: dict[RankingMetric, tuple[Evaluation, str]] = {}  # with the convention's name of it
        for fit, metrics in metrics_of.items():
            by_rules = [self.convention.metric(metric) for metric in metrics]
            evaluation = evaluate(
                test.labels, fit.test, metrics=[*dict.fromkeys(by_rules)],
                convention=self.convention, **lists,
            )  # fmt: skip
            found |= {m: (evaluation, str(r)) for m, r in zip(metrics, by_rules, strict=True)}
        each = {str(metric): found[metric] for metric in self.selects}
        return replace(
            next(iter(each.values()))[0],
            per_query={name: evaluation.per_query[key] for name, (evaluation, key) in each.items()},
            mean={name: evaluation.mean[key] for name, (evaluation, key) in each.items()},
            undefined={name: evaluation.undefined[key] for name, (evaluation, key) in each.items()},
            conventions={
                name: evaluation.conventions[key] for name, (evaluation, key) in each.items()
            },
            rows={name: evaluation.rows.get(key, ()) for name, (evaluation, key) in each.items()},
            metrics={},
        )

    def fit_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of ``Results.fits``."""
        for by, values in self.values.items():
            for task, fits, value in zip(self.tasks, self.fits, values.tolist(), strict=True):
                fit = _fit_by(fits, by)
                yield {
                    "trial": task.trial,
                    "metric": str(by),
                    "validation": value,
                    "round": fit.rounds,
                    "seconds": fit.seconds,
                    "chosen": task.trial == self.place(by),
                    "parameters": json.dumps(task.parameters, default=str),
                    "warnings": "\n".join(fit.warnings),
                }

    def validation(self) -> dict[RankingMetric, float]:
        """Validation value of each evaluated metric, of the model that it is evaluated on."""
        return {
            metric: values_of([metric], self.fold.valid, self.chosen(by).validation)[metric]
            for metric, by in self.selects.items()
        }

    def curves(self) -> dict[Criterion, Fit]:
        """The fits selected by each metric that chose rounds, or by `by` alone."""
        chose_rounds = [by for by in self.values if str(by) in self.fits[0]]
        return {by: self.chosen(by) for by in chose_rounds} or {
            self.method.criterion: self.chosen(self.by)
        }


def _fit_by(fits: Fits, by: Criterion) -> Fit:
    """The fit whose rounds a metric chose, or else the first."""
    return fits.get(str(by)) or next(iter(fits.values()))


def tables_of(choices: Iterable[Choice]) -> dict[str, pl.DataFrame]:
    """The tables of `Results`, by name."""
    tables = {name: [pl.DataFrame(schema=schema)] for name, schema in SCHEMAS.items()}
    for choice in choices:
        key = {"method": choice.method.name, "fold": choice.fold.name, "seed": choice.seed}

        def add(table: str, key: Mapping[str, Any] = key, **columns: Any) -> None:
            nulls = table == "values"
            frame = pl.DataFrame({**key, **columns}, SCHEMAS[table], nan_to_null=nulls)
            tables[table].append(frame)

        qid = [str(qid) for qid in choice.evaluation.qid.tolist()]
        for metric, by_query in choice.evaluation.per_query.items():
            whole = not choice.fold.test.grouped or len(by_query) != len(qid)
            add("values", metric=metric, query=[ALL_QUERIES] if whole else qid, value=by_query)
        means = choice.validation()
        add("validation", metric=[*map(str, means)], value=[*means.values()])
        for by, fit in choice.curves().items():
            rounds = np.arange(1, len(fit.curve) + 1) * fit.every
            add("curves", metric=str(by), round=rounds, value=fit.curve)
        fits = [{**key, **row} for row in choice.fit_rows()]
        tables["fits"].append(pl.DataFrame(fits, SCHEMAS["fits"]))
    return {name: pl.concat(frames) for name, frames in tables.items()}


@dataclass(frozen=True, eq=False)
class Found:
    """What a study found out about its data and fits, beside their values.

    Attributes
    ----------
    rules : dict of str to str
        The rules of each metric, in words.
    versions : str
        See `versions_in_words`.
    queries, tested : int
        Number of distinct test queries, and of test queries over all folds.
    without_relevant : int
        Number of distinct test queries without a relevant document.
    rows : int
        Number of test rows of a table without queries; 0 with queries.
    planned, finished : int
        Numbers of fits.
    categories : tuple of str
        Which methods other than those of LightGBM and XGBoost are fitted without.
    notes : tuple of str
        Sentences about rows, queries and columns of the data.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Config, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Config(rounds=2))
    >>> study.finish()
    >>> study.results.found.finished
    1
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    versions: str = ""
    queries: int = 0
    tested: int = 0
    without_relevant: int = 0
    rows: int = 0
    planned: int = 0
    finished: int = 0
    categories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


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
    found : Found

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Config, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Config(rounds=2))
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
    rows: Mapping[tuple[str, str, int], Mapping[str, tuple[Rows, ...]]] = field(
        default_factory=dict
    )
    found: Found = field(default_factory=Found)

    @property
    def criteria(self) -> dict[str, str]:
        """The name of the metric that each method optimises."""
        return {name: str(method.criterion) for name, method in self.methods.items()}

    @property
    def each_metric_selects(self) -> bool:
        """Whether each metric is evaluated on models that it selected itself."""
        return not self.config.select and bool(self.config.trials or self.found.rows)

    @property
    def searched(self) -> list[str]:
        """The methods whose parameters are drawn at random."""
        return [name for name, m in self.methods.items() if self.config.trials and m.space]

    @property
    def without_categories(self) -> list[str]:
        """The methods that are fitted without the categories of the data."""
        trees = ("lightgbm", "xgboost")
        lacking = self.methods.items() if self.found.categories else ()
        return [name for name, method in lacking if method.family not in trees]

    def chosen_fits(self) -> pl.DataFrame:
        """The parameters and the round chosen on each fold: the rows of ``choices.csv``."""
        return self.fits.filter("chosen").select(
            "method", "fold", "seed", "metric", "trial", pl.col("round").alias("rounds"),
            pl.col("validation").alias("value"), "parameters",
        )  # fmt: skip

    @cached_property
    def _fold_means(self) -> dict[tuple[str, str], dict[str, float]]:
        keys, mean = ["method", "metric", "fold"], pl.col("value").mean()
        by_seed = self.values.group_by(*keys, "seed", maintain_order=True).agg(mean)
        by_fold = by_seed.group_by(keys, maintain_order=True).agg(mean.fill_null(math.nan))
        means: dict[tuple[str, str], dict[str, float]] = {}
        for method, metric, fold, value in by_fold.iter_rows():
            means.setdefault((method, metric), {})[fold] = value
        return means

    def fold_means(self, method: str, metric: str) -> dict[str, float]:
        """Mean over queries, then over seeds, on each fold that the method finished."""
        return self._fold_means.get((method, metric), {})

    def mean(self, method: str, metric: str) -> float:
        """Mean of the fold means that are defined; NaN unless the method finished every fold."""
        means = np.array(list(self.fold_means(method, metric).values()))
        if len(means) < len(self.folds) or np.isnan(means).all():
            return math.nan
        return float(np.nanmean(means))

    def undefined(self, metric: str) -> list[str]:
        """The folds on which the metric has no value, as no test query has a relevant document."""
        means = [self.fold_means(method, metric) for method in self.methods]
        return [
            fold
            for fold in self.folds
            if (of_fold := [of[fold] for of in means if fold in of]) and np.isnan(of_fold).all()
        ]

    @cached_property
    def validation_means(self) -> dict[tuple[str, str], float]:
        """Mean over folds and seeds on validation data, by method and metric."""
        keys = ["method", "metric"]
        value = pl.col("value").fill_nan(None).mean()
        means = self.validation.group_by(*keys, "fold", maintain_order=True).agg(value)
        means = means.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
        rows = means.drop_nulls("value").iter_rows()
        return {(method, metric): mean for method, metric, mean in rows}

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Training time of each method over all folds, seeds and parameters."""
        fits = self.fits.unique(["method", "fold", "seed", "trial"], maintain_order=True)
        by_method = fits.group_by("method").agg(pl.col("seconds").sum())
        return dict(by_method.iter_rows())

    def evaluation(self, method: str) -> Evaluation | None:
        """Values of all test queries, averaged over seeds and repeated splits; None if unfinished.

        Queries are called ``fold qid``, or ``qid`` with repeated splits.
        """
        mine = self.values.filter(pl.col("method") == method)
        # A seed that lacks a fold would weigh the queries of the others more.
        folds = mine.group_by("seed").agg(pl.col("fold").n_unique())
        whole = folds.filter(pl.col("fold") == len(self.folds))["seed"]
        tables = [
            [self.rows.get((method, fold, seed), {}) for seed in whole.sort().to_list()]
            for fold in self.folds
        ]
        mine = mine.filter(pl.col("seed").is_in(whole.implode()))
        if mine.is_empty():
            return None
        per_query: dict[str, Floats] = {}
        queries: list[str] = []
        for metric in self.metrics:
            rows = mine.filter(pl.col("metric") == metric)
            pooled = bool((rows["query"] == ALL_QUERIES).all())
            repeated = self.config.repeated and not pooled
            keys = ["query"] if repeated else ["fold", "query"]
            means = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
            means = means.sort("query") if repeated else means
            per_query[metric] = means["value"].fill_null(math.nan).to_numpy()
            if not pooled:
                queries = [" ".join(key) for key in means.select(keys).iter_rows()]
        return Evaluation(
            per_query,
            {metric: mean_of(values) for metric, values in per_query.items()},
            len(queries),
            self.found.without_relevant,
            {metric: int(np.isnan(values).sum()) for metric, values in per_query.items()},
            np.array(queries),
            dict(self.found.rules),
            find_convention(self.config.convention),
            rows={
                metric: tuple(_of_seeds([seed[metric] for seed in fold]) for fold in tables)
                for metric in self.metrics
                if all(seed.get(metric) for fold in tables for seed in fold)
            },
        )


def _of_seeds(tables: Sequence[tuple[Rows, ...]]) -> Rows:
    """The rows of a fold with the scores of all seeds."""
    scores = tuple(scores for [table] in tables for scores in table.scores)
    return tables[0][0]._replace(scores=scores)


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
    >>> from lambdaplus.study import Config, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Config(rounds=2))
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
    >>> from lambdaplus.study import Config, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Config(rounds=2))
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
        "choices.csv": results.chosen_fits(),
    }
    for name, table in tables.items():
        (folder / name).write_text(safe_csv(table), encoding="utf-8")
