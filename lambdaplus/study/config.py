"""The configuration of a study, set on the command line or in a TOML file."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from lambdaplus.baselines import QueryScaler
from lambdaplus.data import (
    Fold,
    RankingData,
    cross_validation,
    digits_queries,
    random_splits,
    read_data,
    read_folds,
    web_search_like,
)
from lambdaplus.data.ranking_data import join
from lambdaplus.data.relative_features import checked_kinds, relative_to_query
from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import parse_metric
from lambdaplus.study.estimator_trainer import refuse_unknown_parameters, train_estimator
from lambdaplus.study.methods import Method, Settings
from lambdaplus.study.registry import find_methods
from lambdaplus.study.study import Study

MADE_UP = "web-search-like"
SCALINGS = ("none", "query")
DRAWN = ("leaves", "learning_rate", "documents_in_leaf")  # drawn in a random search
LONG = (1000, 100)  # rounds and patience of trials
LOOKS = 200  # evaluations on validation data in a trial of full length

_KINDS: dict[str, tuple[str, str, Any]] = {
    "str": ("text", "texts", str),
    "bool": ("true or false", "", bool),
    "int": ("a whole number", "whole numbers", int),
    "float": ("a number", "numbers", int | float),
}


@dataclass(frozen=True)
class Config:
    """Configuration of a study: data, methods, metrics and settings.

    Attributes
    ----------
    data : str
        A folder, read by `~lambdaplus.data.read_folds`; a file, read by
        `~lambdaplus.data.read_data`; or ``web-search-like`` for 500 synthetic queries,
        ``web-search-like:N`` for N of them.  Files and synthetic data are split into five folds by
        `~lambdaplus.data.cross_validation`.  By default, the built-in digits.
    qid, label : str
        Names of the columns of CSV and Parquet files.
    splits : int
        Number of `~lambdaplus.data.random_splits` to use instead; of a folder, all queries of the
        first fold are split.
    shares, balanced
        Arguments of `~lambdaplus.data.random_splits`: training, validation and test queries of each
        split, and whether queries are used equally often.  They require `splits`.
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
    >>> config = Config(methods=("lightgbm:lambda_map", "svm:map"), folds="1")
    >>> len(config.study())  # one fit, and one for each of four values of C
    5
    """

    data: str = ""
    qid: str = "qid"
    label: str = "label"
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("auc", "mauc", "map", "mrr", "ndcg@1", "ndcg@5", "ndcg@10")
    convention: str = "lambdaplus"
    folds: str = ""
    splits: int = 0
    shares: tuple[float, ...] = (0.6, 0.2, 0.2)
    balanced: bool = False
    valid: float = 0.0
    scaling: str = "none"
    relative: tuple[str, ...] = ()
    select: str = ""
    baseline: str = ""
    seeds: tuple[int, ...] = (0,)
    trials: int = 0
    rounds: int = 0
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
        given: dict[str, Any] = tomllib.loads(text)
        known = [field.name for field in fields(cls)]
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"unknown key {name!r}; known: {', '.join(known)}")
            if value == []:
                raise ValueError(f"{name} = [] is empty: leave it out for the default")
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**{**given, **lists})

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
        for known in fields(self):
            value = getattr(self, known.name)
            _check_type(known.name, value, str(known.type))
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
        for name in ("trials", "splits"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} = {getattr(self, name)} should be at least 0")
        if not 0 <= self.valid < 1:
            raise ValueError(f"valid = {self.valid} should be a share from 0 to 1")
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling={self.scaling!r} is not one of {', '.join(SCALINGS)}")
        if self.relative:
            checked_kinds(self.relative)

    def to_toml(self) -> str:
        """The configuration without default values; `from_toml` reads it.

        Raises
        ------
        ValueError
            For values that TOML does not support, such as None.
        """
        import tomli_w

        default = Config()
        given = {known.name: getattr(self, known.name) for known in fields(self)}
        try:
            text = tomli_w.dumps({k: v for k, v in given.items() if v != getattr(default, k)})
            text.encode()  # the name of a file may have characters that are not Unicode
        except (TypeError, UnicodeEncodeError) as error:
            raise ValueError(f"a study cannot be written as TOML: {error}") from None
        return text

    def study(self, folder: Path | None = None, jobs: int = 1, threads: int = 1) -> Study:
        """Read the data and create the study.

        Raises
        ------
        ValueError
            For unknown methods, metrics, folds or options, and invalid data.
        OSError
            If the data does not exist, or cannot be read.
        """
        methods = self._methods()
        if self.baseline and self.baseline not in [method.name for method in methods]:
            raise ValueError(f"baseline {self.baseline!r} is not one of the methods compared")
        columns = {"qid": self.qid, "label": self.label}
        folds = folds_of(
            self.data, self.splits, self.shares, self.balanced, self.valid, columns=columns
        )
        metrics = self.metrics
        if all(np.unique(fold.train.labels).size <= 2 for fold in folds):  # MAUC would be AUC
            if not self.methods:
                methods = [m for m in methods if m.criterion != "mauc" or m.name in self.grid]
            if metrics == Config.metrics:
                metrics = tuple(metric for metric in metrics if metric != "mauc")
        folds = [folds[i] for i in _chosen(self.folds, len(folds))]
        return Study(
            [self._with_features(fold) for fold in folds],
            methods,
            list(dict.fromkeys(map(str, map(parse_metric, metrics)))),
            self._settings(threads),
            self.seeds,
            str(eval_metric(self.select).metrics[0]) if self.select else None,
            repeated=self.splits > 0,
            folder=folder,
            jobs=jobs,
            trials=self.trials,
            convention=self.convention,
            features=self._features_in_words(),
        )

    def _with_features(self, fold: Fold) -> Fold:
        """The fold with the features that methods are trained on."""
        parts = [fold.train, fold.valid, fold.test]
        if self.scaling == "query":
            parts = [_scaled(part) for part in parts]
        if self.relative:
            parts = [relative_to_query(part, self.relative) for part in parts]
        return Fold(fold.name, *parts)

    def _features_in_words(self) -> str:
        said = []
        if self.scaling == "query":
            said.append("Features are scaled to [0, 1] within each query.")
        if self.relative:
            said.append(
                "Beside each feature, methods have the same relative to its query: "
                f"{', '.join(self.relative)}."
            )
        return " ".join(said)

    def _settings(self, threads: int) -> Settings:
        for name in DRAWN:
            if self.trials and getattr(self, name) != getattr(Settings, name):
                raise ValueError(
                    f"{name} is drawn at random with trials: leave it out, or list values of the "
                    "framework's parameter in the method's grid"
                )
        rounds, patience = LONG if self.trials else (Settings.rounds, Settings.patience)
        rounds, patience = self.rounds or rounds, self.patience or patience
        every = max(1, min(rounds // LOOKS, patience)) if self.trials else 1
        trees = {name: getattr(self, name) for name in DRAWN}
        return Settings(rounds, patience, **trees, every=every, threads=threads)

    def _methods(self) -> list[Method]:
        methods = find_methods(",".join(self.methods) if self.methods else None)
        names = [method.name for method in methods]
        for name in self.grid:
            if name not in names:
                raise ValueError(f"grid of {name!r}, which is not one of {', '.join(names)}")
        found = [
            replace(method, grid=self.grid[method.name]) if method.name in self.grid else method
            for method in methods
        ]
        for method in found:
            if method.name in self.grid and method.trainer is train_estimator:
                refuse_unknown_parameters(method)
        return found


def _check_type(name: str, value: Any, kind: str) -> None:
    """Raise a ValueError if the value is not of the type that a field is annotated with."""
    listed = kind.startswith("tuple")
    kind = kind.removeprefix("tuple[").partition(",")[0]
    one, many, types = _KINDS.get(kind, ("a table", "", Mapping))
    values = value if listed and isinstance(value, tuple) else [value]
    right = isinstance(value, tuple) == listed and all(
        isinstance(each, types) and (types is bool or not isinstance(each, bool)) for each in values
    )
    if not right:
        raise ValueError(f"{name} = {value!r} should be {f'a list of {many}' if listed else one}")


def _chosen(folds: str, n: int) -> list[int]:
    """Indices of the selected folds."""
    if not folds:
        return list(range(n))
    try:
        numbers = [int(part) for part in folds.split(",")]
    except ValueError:
        raise ValueError(f"folds {folds!r} is not a number or a list such as 1,3") from None
    if len(numbers) == 1 and "," not in folds:
        numbers = list(range(1, numbers[0] + 1))
    if not numbers or min(numbers) < 1 or max(numbers) > n:
        raise ValueError(f"folds {folds!r}: the data has folds 1 to {n}")
    return [number - 1 for number in numbers]


def folds_of(
    data: str = "",
    splits: int = 0,
    shares: tuple[float, ...] = (0.6, 0.2, 0.2),
    balanced: bool = False,
    valid: float = 0.0,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> list[Fold]:
    """Read or generate the folds of a data set, by options of `Config`."""
    if len(shares) != 3:
        raise ValueError(f"shares {shares} should be three: training, validation and test queries")
    if not splits and (balanced or shares != Config.shares):
        raise ValueError("shares and balanced are options of random splits: set splits as well")
    path, made_up = Path(data), data.partition(":")[0] == MADE_UP
    if (made_up or not data) and any(name != given for name, given in columns.items()):
        raise ValueError("qid and label are columns of CSV and Parquet files: set data as well")
    if data and not path.is_dir():
        whole = _made_up(data) if made_up else read_data(path, **columns)
        if not splits:
            return cross_validation(whole)
    else:
        folds = digits_queries()
        if data:
            folds = _complete(data, read_folds(path, valid=valid or None, **columns))
        if not splits:
            return folds
        whole = join([folds[0].train, folds[0].valid, folds[0].test], "all queries")
    return random_splits(whole, splits, *shares, balanced=balanced)


def _complete(data: str, folds: list[Fold]) -> list[Fold]:
    """Give each fold a unique name, after checking that no numbered fold is missing."""
    names = [fold.name for fold in folds]
    counted = [int(found[1]) for name in names if (found := re.fullmatch(r"(?i)fold(\d+)", name))]
    missing = sorted(set(range(1, max(counted, default=0))) - set(counted))
    if missing:
        raise ValueError(
            f"{data} has {', '.join(names)}, but no {', '.join(f'Fold{n}' for n in missing)}: the "
            "mean over these folds could be mistaken for that over all folds; add the missing "
            "ones, or pass the folder of a single fold"
        )
    if len(set(names)) == len(names):
        return folds
    # Fold1/set1.train.txt and Fold2/set1.train.txt
    return [replace(fold, name=f"{fold.name} {n}") for n, fold in enumerate(folds, start=1)]


def _made_up(name: str) -> RankingData:
    number = name.partition(":")[2] or "500"
    if not number.isdecimal():
        raise ValueError(f"{name!r} is not {MADE_UP} or {MADE_UP}:N with N queries")
    return web_search_like(int(number))


def _scaled(part: RankingData) -> RankingData:
    """The data with features scaled linearly to [0, 1] within each query."""
    return replace(part, features=QueryScaler().fit_transform(part.features, qid=part.qid))
