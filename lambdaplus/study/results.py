"""The results of a study as tables, from which reports, files and plots are made."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Convention, Evaluation
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.result import Rows, mean_of
from lambdaplus.study.methods import Criterion, Method
from lambdaplus.study.settings import Settings

KEY = {"method": pl.String, "fold": pl.String, "seed": pl.Int64}
VALUES = pl.Schema({**KEY, "metric": pl.String, "query": pl.String, "value": pl.Float64})
FITS = pl.Schema(
    {
        **KEY, "trial": pl.Int64, "metric": pl.String, "validation": pl.Float64,
        "round": pl.Int64, "seconds": pl.Float64, "chosen": pl.Boolean,
        "parameters": pl.String, "warnings": pl.String,
    }
)  # fmt: skip
VALIDATION = pl.Schema({**KEY, "metric": pl.String, "value": pl.Float64})
CURVES = pl.Schema({**KEY, "metric": pl.String, "round": pl.Int64, "value": pl.Float64})
ALL_QUERIES = "all"
"""The query of a metric that has one value for the whole data set."""


@dataclass(frozen=True, eq=False)
class About:
    """How a study was made.

    Attributes
    ----------
    methods : dict of str to Method
        By name.
    settings, seeds, trials, repeated, select, convention, features, data
        Those of the `Study`; the metric that selects is None if each method has its own.
    rules : dict of str to str
        The rules of each metric, in words.
    versions : str
        See `versions_in_words`.
    queries, tested : int
        Number of distinct test queries, and of test queries over all folds.
    without_relevant : int
        Number of distinct test queries without a relevant document.
    planned, finished : int
        Numbers of fits.
    rows : int
        Number of test rows of a table without queries; 0 with queries.
    left_out : tuple of str
        Categories, which methods other than those of LightGBM and XGBoost are fitted without.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Settings, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Settings(rounds=2))
    >>> study.finish()
    >>> study.results.about.seeds, study.results.about.finished
    ((0,), 1)
    """

    methods: Mapping[str, Method]
    settings: Settings = field(default_factory=Settings)
    seeds: tuple[int, ...] = (0,)
    trials: int = 0
    repeated: bool = False
    select: Criterion | None = None
    convention: Convention = field(default_factory=lambda: find_convention("lambdaplus"))
    features: str = ""
    rules: dict[str, str] = field(default_factory=dict)
    versions: str = ""
    queries: int = 0
    tested: int = 0
    without_relevant: int = 0
    planned: int = 0
    finished: int = 0
    rows: int = 0
    data: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def each_metric_selects(self) -> bool:
        """Whether each metric is evaluated on models that it selected itself."""
        return not self.select and bool(self.trials or self.rows)

    @property
    def without_categories(self) -> list[str]:
        """The methods that are fitted without the categories of the data."""
        families = ("lightgbm", "xgboost")
        return [m for m, of in self.methods.items() if self.left_out and of.family not in families]

    @property
    def criteria(self) -> dict[str, str]:
        """The name of the metric that each method optimises."""
        return {name: str(method.criterion) for name, method in self.methods.items()}

    @property
    def searched(self) -> list[str]:
        """The methods whose parameters are drawn at random."""
        return [name for name, method in self.methods.items() if self.trials and method.space]


@dataclass(frozen=True, eq=False)
class Results:
    """Results of a study for each method, fold and seed whose fits are all finished.

    Attributes
    ----------
    methods, folds, metrics : list of str
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
    errors : dict of str to str
        First error of each method that failed.
    about : About
        How the study was made.
    validation : polars.DataFrame
        Means on validation data of the models that each metric is evaluated on: method, fold, seed,
        metric and value.
    rows : dict
        Of a table without queries, the scored test rows of each metric, by method, fold and seed.

    Examples
    --------
    >>> from lambdaplus.data import digits_queries
    >>> from lambdaplus.study import Settings, Study, find_methods
    >>> folds, methods = digits_queries()[:1], find_methods("lightgbm:lambda_map")
    >>> study = Study(folds, methods, ["map"], Settings(rounds=2))
    >>> study.finish()
    >>> study.results.methods, study.results.values.columns
    (['lightgbm:lambda_map'], ['method', 'fold', 'seed', 'metric', 'query', 'value'])
    """

    methods: list[str]
    folds: list[str]
    metrics: list[str]
    values: pl.DataFrame
    fits: pl.DataFrame
    curves: pl.DataFrame
    errors: dict[str, str]
    about: About
    validation: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=VALIDATION))
    rows: Mapping[tuple[str, str, int], Mapping[str, tuple[Rows, ...]]] = field(
        default_factory=dict
    )

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
            repeated = self.about.repeated and not pooled
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
            self.about.without_relevant,
            {metric: int(np.isnan(values).sum()) for metric, values in per_query.items()},
            np.array(queries),
            self.about.rules,
            self.about.convention,
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
