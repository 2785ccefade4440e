"""The results of a study: tables of its fits, and their means."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.conventions import find_convention
from lambdaplus.evaluation.effects import ROUNDING
from lambdaplus.evaluation.significance import RankedRows
from lambdaplus.metrics.means import mean_of
from lambdaplus.study.config import Config
from lambdaplus.study.methods import Method
from lambdaplus.study.tasks import Group
from lambdaplus.study.words import Nouns

ALL_QUERIES = "all"
"""The query of a metric that has one value for the whole data set."""


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
        Validation values by round, up to the end of the training, of the fits chosen by the first
        metric that selects: method, fold, seed, metric, round and value.
    validation : polars.DataFrame
        Means on validation data of the models that each metric is evaluated on: method, fold, seed,
        metric and value.
    errors : dict of str to str
        First error of each method that failed.
    rows : dict
        Of a table without queries, the scored test rows of each metric, by method, fold and seed.
    validated_apart : dict of str to sequence of str
        For each fold, the other folds whose validation data has none of its test queries; by
        default, those of rotated folds, of which each is validated on the test part of the one
        before.
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
    rows: Mapping[Group, Mapping[str, RankedRows | None]] = field(default_factory=dict)
    validated_apart: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    versions: str = ""
    queries: int = 0
    without_relevant: int = 0
    n_rows: int = 0
    planned: int = 0
    finished: int = 0
    notes: tuple[str, ...] = ()

    @property
    def nouns(self) -> Nouns:
        """What queries and their rows are called."""
        return Nouns.of(self.config.qid)

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
    def validation_by_fold(self) -> dict[tuple[str, str], dict[str, float]]:
        """Mean over seeds on the validation data of each fold, by method and metric."""
        defined = self.validation.with_columns(pl.col("value").fill_nan(None))
        means = _means(defined, "method", "metric", "fold").drop_nulls("value")
        found: dict[tuple[str, str], dict[str, float]] = {}
        for method, metric, fold, mean in means.iter_rows():
            found.setdefault((method, metric), {})[fold] = mean
        return found

    @cached_property
    def validation_means(self) -> dict[tuple[str, str], float]:
        """Mean over folds and seeds on validation data, by method and metric."""
        by_fold = self.validation_by_fold.items()
        return {key: float(np.mean([*of_folds.values()])) for key, of_folds in by_fold}

    @cached_property
    def apart(self) -> dict[str, list[str]]:
        """For each fold, those whose validation values say nothing of its test queries and models.

        None for folds by time, whose test data is later training data.
        """
        if self.config.order:
            return {fold: [] for fold in self.folds}
        n, found = len(self.folds), {}
        for place, fold in enumerate(self.folds):
            rotated = (other for other in self.folds if other != self.folds[(place + 1) % n])
            others = self.validated_apart.get(fold, rotated)
            found[fold] = [other for other in others if other != fold]
        return found

    @cached_property
    def spreads(self) -> dict[tuple[str, str], float]:
        """Standard deviation over seeds of the means, by method and metric; none for one seed."""
        keys = ["method", "metric", "seed"]
        by_seed = _means(_means(self.values, *keys, "fold"), *keys)
        deviations = by_seed.group_by("method", "metric").agg(pl.col("value").std())
        return {(m, metric): sd for m, metric, sd in deviations.drop_nulls().iter_rows()}

    def changed_by_seeds(self, metric: str, *methods: str) -> bool:
        """Whether seeds change one of these methods; with one seed, whether they may."""
        if self.n_seeds(*methods) > 1:
            return any(self.spreads.get((name, metric), 0.0) > ROUNDING for name in methods)
        return any(self.methods[name].random for name in methods)

    def n_seeds(self, *methods: str) -> int:
        """The number of seeds with which the methods are finished on all folds."""
        counts = (len(runs) for name in methods for runs in self.runs_by_fold(name).values())
        return max(counts, default=0)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Training time of each method over all folds, seeds and parameters."""
        fits = self.fits.unique(["method", "fold", "seed", "trial"], maintain_order=True)
        by_method = fits.group_by("method").agg(pl.col("seconds").sum())
        return dict(by_method.iter_rows())

    @property
    def seconds_of_a_seed(self) -> float:
        """Training time of all methods that seeds change, for one seed."""
        random = [name for name, method in self.methods.items() if method.random]
        return sum(self.seconds.get(name, 0.0) for name in random) / len(self.config.seeds)

    def finished_of(self, names: Iterable[str]) -> list[str]:
        """Those of these methods with values of a seed on every fold."""
        return [name for name in names if self.runs_by_fold(name)]

    def runs_by_fold(self, method: str) -> dict[str, list[Evaluation]]:
        """The values of each training, a fold with a seed; none if unfinished.

        Queries are called ``fold qid``.
        """
        return self._runs.get(method, {})

    @cached_property
    def _runs(self) -> dict[str, dict[str, list[Evaluation]]]:
        # A seed that lacks a fold would weigh the queries of the others more.
        of_seed = pl.col("fold").n_unique().over("method", "seed")
        complete = self.values.filter(of_seed == len(self.folds))
        found: dict[str, dict[str, list[Evaluation]]] = {}
        for key, rows in complete.group_by("method", "fold", "seed", maintain_order=True):
            method, fold, seed = str(key[0]), str(key[1]), int(str(key[2]))
            of_fold = found.setdefault(method, {}).setdefault(fold, [])
            of_fold.append(self._run(method, fold, seed, rows))
        return found

    def runs(self, method: str) -> list[Evaluation]:
        """The values of all trainings of a method; none if unfinished."""
        return [run for of_fold in self.runs_by_fold(method).values() for run in of_fold]

    def by_query(self, method: str, metric: str) -> Floats:
        """Test values of all folds, means over seeds, (n,); NaN where a query has none."""
        values = self.values.filter(method=method, metric=metric)
        return _means(values, "fold", "query")["value"].fill_null(math.nan).to_numpy()

    def without_value(self, metric: str) -> int:
        """Number of test queries on which a metric has no value."""
        values = self.values.filter(metric=metric).unique(["fold", "query"])
        return values["value"].null_count()

    def _run(self, method: str, fold: str, seed: int, values: pl.DataFrame) -> Evaluation:
        by_metric = {metric: values.filter(metric=metric) for metric in self.metrics}
        per_query = {
            m: rows["value"].fill_null(math.nan).to_numpy() for m, rows in by_metric.items()
        }
        named = (rows["query"].to_list() for rows in by_metric.values())
        queries = next((names for names in named if names != [ALL_QUERIES]), [])
        ranked = self.rows.get((method, fold, seed), {})
        return Evaluation(
            per_query,
            {metric: mean_of(values) for metric, values in per_query.items()},
            max(1, len(queries)),
            self.without_relevant,
            {metric: int(np.isnan(values).sum()) for metric, values in per_query.items()},
            np.array([f"{fold} {query}" for query in queries] or [fold]),
            dict(self.rules),
            find_convention(self.config.convention),
            rows={metric: rows for metric, rows in ranked.items() if rows is not None},
        )


def _means(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Mean value of each group, in the order of the first rows; null if it has no value."""
    return frame.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
