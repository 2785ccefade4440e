"""The configuration of a study, set on the command line or in a TOML file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lambdaplus.evaluation.conventions import CONVENTIONS, in_words
from lambdaplus.study.settings import Settings

MADE_UP = "web-search-like"
SCALINGS = ("none", "query")
SHARES = (0.6, 0.2, 0.2)
ROUNDS_OF_TRIALS = (1000, 100)  # and their patience
METRICS_OF_ROWS = ("auc", "map")  # of a table without queries
METRICS = ("auc", "mauc", "map", "mrr", "ndcg@1", "ndcg@5", "ndcg@10")

_KINDS: dict[str, tuple[str, str, Any]] = {
    "str": ("text", "texts", str),
    "int": ("a whole number", "whole numbers", int),
    "float": ("a number", "numbers", int | float),
}


def _option(default: Any, text: str) -> Any:
    """A field that is an option of ``lambdaplus compare``, too, with this help."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Config:
    """Configuration of a study, from which `study_of` makes it: data, methods, metrics, settings.

    Attributes
    ----------
    data : str
        A folder, read by `~lambdaplus.data.read_folds`; a file, read by
        `~lambdaplus.data.read_data`; or ``web-search-like`` for 500 synthetic queries,
        ``web-search-like:N`` for N of them.  Files and synthetic data are split into five folds by
        `~lambdaplus.data.cross_validation`.  By default, the built-in digits.
    qid, label : str
        Names of the columns of CSV and Parquet files; `qid` is "none" for a single table without
        queries, whose rows are one ranking.
    weight : str
        Name of the column of row weights.
    features, drop : tuple of str
        Columns to use as features, by default all others, and columns to leave out.  Text with few
        values is a category, which LightGBM and XGBoost are trained with; other text is left out.
    splits : int
        Number of `~lambdaplus.data.random_splits` to use instead; of a folder, all queries of the
        first fold are split.
    shares
        Training, validation and test queries of each split, as of `~lambdaplus.data.random_splits`;
        they require `splits`.
    valid : float
        Share of training queries for validation if a folder has no validation part.
    methods : tuple of str
        See `find_methods`; by default, the boosted trees.
    metrics : tuple of str
        Metrics to evaluate on test queries.  MAUC, and methods for it, are among the defaults only
        if labels have three or more grades, since MAUC of two grades is AUC.
    folds : str
        Number of folds (3), or their numbers (1,4); by default, all.
    scaling : "none" or "query"
        Scaling of features: unchanged, or linearly to [0, 1] within each query.
    relative : tuple of str
        Kinds of `~lambdaplus.data.relative_features` to add beside the (scaled) features.
    convention, select, seeds, trials
        See `Study`.
    baseline : str
        Method with which the others are compared.  By default, all pairs are compared.
    rounds, patience : int
        See `Settings`; 0 stands for 200 and 30, with trials for 1,000 and 100.
    leaves, learning_rate, documents_in_leaf
        See `Settings`; with trials they are drawn.
    grid : dict of str to dict of str to list
        Values to try for parameters of a method, in place of its own grid; with trials, they are
        drawn from these values.

    Raises
    ------
    ValueError
        For values of the wrong type, and invalid numbers.

    Examples
    --------
    >>> Config.from_toml('methods = ["svm:map"]').methods
    ('svm:map',)
    """

    data: str = ""
    qid: str = _option(
        "qid",
        "Column of queries in .csv and .parquet files; default: qid. none: the table has no "
        "queries, and all rows are one ranking.",
    )
    label: str = _option("label", "Column of labels in these files; default: label.")
    weight: str = _option("", "Column of row weights in these files; default: no weights.")
    features: tuple[str, ...] = _option(
        (), "Columns of these files to use as features; default: all others that can be."
    )
    drop: tuple[str, ...] = _option((), "Columns of these files to leave out.")
    methods: tuple[str, ...] = _option(
        (),
        "Comma-separated, such as lightgbm,svm:map,xgboost:lambda_map@5,module:Class; or all. "
        "Default: the boosted trees, those for MAUC only if labels have three or more grades.",
    )
    metrics: tuple[str, ...] = _option(METRICS, f"Test metrics; default: {','.join(METRICS)}.")
    convention: str = _option(
        "lambdaplus", f"Rules of the metrics on test queries: {in_words(CONVENTIONS)}."
    )
    folds: str = _option("", "Folds to use: the first N, or a list such as 1,4.")
    splits: int = _option(0, "Number of random splits of the queries to use as folds.")
    shares: tuple[float, ...] = _option(
        SHARES,
        "Training, validation and test queries of each of --splits: shares (default "
        f"{','.join(map(str, SHARES))}) or numbers, such as 10,5,35.",
    )
    valid: float = _option(
        0.0, "Share of training queries for validation if a folder has no such part."
    )
    scaling: str = _option("none", "Scaling of features: none, or query (to [0, 1] in each query).")
    relative: tuple[str, ...] = _option(
        (),
        "Features to add beside each one: rank (its rank in the query), z (its distance from the "
        "query's mean in standard deviations), or rank,z.",
    )
    select: str = _option(
        "", "Validation metric that selects parameters; default: each method's own."
    )
    baseline: str = _option("", "Method to compare the others with; default: all pairs.")
    seeds: tuple[int, ...] = _option(
        (0,), "Seeds to average over: the first N (default 1), or a list such as 0,7."
    )
    trials: int = _option(0, "Trials of a random search for each boosted method, fold and seed.")
    rounds: int = _option(
        0,
        f"Maximum number of rounds; default: {Settings.rounds}, or {ROUNDS_OF_TRIALS[0]} with "
        "--trials.",
    )
    patience: int = 0
    leaves: int = Settings.leaves
    learning_rate: float = Settings.learning_rate
    documents_in_leaf: int = Settings.documents_in_leaf
    grid: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, text: str) -> Config:
        """Read a configuration.

        Raises
        ------
        ValueError
            For text that is not TOML, unknown keys, and values of the wrong type.
        """
        values: dict[str, Any] = tomllib.loads(text)
        names = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"unknown key {name!r}; known: {', '.join(names)}")
            if value == []:
                raise ValueError(f"{name} = [] is empty: leave it out for the default")
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists})

    @classmethod
    def read(cls, path: Path) -> Config:
        """Read a TOML file.

        Raises
        ------
        ValueError
            Like `from_toml`; the message names the file.
        OSError
            If it cannot be read.
        """
        try:
            return cls.from_toml(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:  # brackets that are nested too deeply
            raise ValueError(f"{path}: {error}") from None

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            _check_type(option.name, value, str(option.type))
        for method, grid in self.grid.items():
            if not isinstance(grid, Mapping):
                raise ValueError(
                    f"grid: {method} = {grid!r} should be a table of parameters, each with a list "
                    "of the values to try"
                )
            for name, values in grid.items():
                several = values if isinstance(values, list | tuple) else ()
                if any(isinstance(value, float) and math.isnan(value) for value in several):
                    raise ValueError(f"grid: a value of {method}'s {name} is NaN")
        self._check_columns()
        for name in ("trials", "splits"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} = {getattr(self, name)} should be at least 0")
        if not 0 <= self.valid < 1:
            raise ValueError(f"valid = {self.valid} should be a share from 0 to 1")
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling={self.scaling!r} is not one of {', '.join(SCALINGS)}")
        if self.relative:
            from lambdaplus.data.relative_features import checked_kinds

            checked_kinds(self.relative)

    def _check_columns(self) -> None:
        roles = {name: getattr(self, name) for name in ("qid", "label", "weight")}
        for name, column in roles.items():
            if column and list(roles.values()).count(column) > 1:
                twice = " and ".join(other for other in roles if roles[other] == column)
                raise ValueError(f"{twice} are the same column, {column!r}")
            if not column and name != "weight":
                raise ValueError(f"{name} is empty: leave it out for the default")

    def to_toml(self) -> str:
        """All fields, including defaults; empty lists and tables are left out.

        Raises
        ------
        ValueError
            For values that TOML does not support, such as None.
        """
        import tomli_w

        empty: tuple[Any, ...] = ((), {})
        try:
            text = tomli_w.dumps({k: v for k, v in vars(self).items() if v not in empty})
            text.encode()  # the name of a file may have characters that are not Unicode
        except (TypeError, UnicodeEncodeError) as error:
            raise ValueError(f"a study cannot be written as TOML: {error}") from None
        return text


def _check_type(name: str, value: Any, kind: str) -> None:
    """Raise a ValueError if the value is not of the type that a field is annotated with."""
    listed = kind.startswith("tuple")
    kind = kind.removeprefix("tuple[").partition(",")[0]
    one, many, types = _KINDS.get(kind, ("a table", "", Mapping))
    values = value if listed and isinstance(value, tuple) else [value]
    right = isinstance(value, tuple) == listed and all(
        isinstance(each, types) and not isinstance(each, bool) for each in values
    )
    if not right:
        raise ValueError(f"{name} = {value!r} should be {f'a list of {many}' if listed else one}")
