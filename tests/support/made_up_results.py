"""Results of studies whose test values are drawn, in rotated folds."""

import itertools
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lambdaplus.objectives import lambda_objective
from lambdaplus.study import Config, Method, Results


def trained(task: Any) -> Any:
    raise AssertionError(f"{task} is not to be trained here")


def results_of(values: NDArray[Any], names: Any = (), **config: Any) -> Results:
    """The results of methods with test values (methods, folds, seeds, queries) in rotated folds.

    The validation value of a fold is that on the test queries of the fold before, of one model.
    Methods called ours are of lambdaplus.
    """
    m, n_folds, n_seeds, n = values.shape
    names = [*names] or [f"method{j}" for j in range(m)]
    folds = [*map(str, range(1, n_folds + 1))]
    axes = itertools.product(names, folds, range(n_seeds))
    keys = pl.DataFrame(
        [*axes], {"method": pl.String, "fold": pl.String, "seed": pl.Int64}, orient="row"
    )
    keys = keys.with_columns(metric=pl.lit("map"))
    queries = pl.DataFrame(
        {"value": values.reshape(-1), "query": [*map(str, range(n))] * len(keys)}
    )
    rows = keys[np.repeat(np.arange(len(keys)), n)].hstack(queries)
    of_part_before = np.roll(values, 1, axis=1).mean(axis=3).reshape(-1)
    validation = keys.with_columns(value=pl.Series(of_part_before))
    whose = {name: lambda_objective("map") if "ours" in name else None for name in names}
    methods = {name: Method(name, trained, whose[name]) for name in names}
    seconds = keys.drop("metric").with_columns(
        trial=0, seconds=2.0, chosen=False, warnings=pl.lit("")
    )
    return Results(
        Config(seeds=tuple(range(n_seeds)), **config), methods, folds, ["map"], rows, seconds,
        seconds, validation, rules={"map": ""}, queries=n_folds * n,
    )  # fmt: skip


def of_two(gap: float, seeds: int = 2, names: Any = ("ours", "theirs"), **config: Any) -> Results:
    """Two methods that differ by about a gap, by query with a standard deviation of .1."""
    random = np.random.default_rng(0)
    values = np.zeros((2, 5, seeds, 20))
    values += 0.5 + random.normal(0, 0.2, (1, 5, 1, 20))
    values[0] += gap + random.normal(0, 0.05, (5, 1, 20))
    values += random.normal(0, 0.05, values.shape)
    return results_of(values, names, **config)
