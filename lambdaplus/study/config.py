"""The configuration of a study, which is set on the command line or in a TOML file.

Examples
--------
>>> from lambdaplus.study.config import Config
>>> config = Config.from_toml('methods = ["svm:map"]\\n[grid."svm:map"]\\nC = [1]')
>>> config.methods, config.grid
(('svm:map',), {'svm:map': {'C': [1]}})
>>> print(config.to_toml())
methods = ["svm:map"]
<BLANKLINE>
[grid."svm:map"]
C = [1]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from lambdaplus.baselines import QueryScaler
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import eval_metric
from lambdaplus.metrics import parse_metric
from lambdaplus.study.methods import Method, Settings
from lambdaplus.study.registry import find_methods
from lambdaplus.study.study import Study
from lambdaplus.study.study_data import folds_of
from lambdaplus.study.toml_text import is_a, to_toml, words_for

SCALINGS = ("none", "query")
DRAWN = ("leaves", "learning_rate", "documents_in_leaf")  # drawn in a random search
LONG = (1000, 100)  # rounds and patience of trials


@dataclass(frozen=True)
class Config:
    """Configuration of a study: data, methods, metrics and settings.

    Attributes
    ----------
    data, splits, shares, balanced, valid
        Source of the folds; see ``lambdaplus.study.study_data.folds_of``.
    methods : tuple of str
        See `find_methods`; by default, the boosted trees, those for MAUC only if labels have three
        or more grades, since MAUC of two grades is AUC.
    metrics : tuple of str
        Metrics to evaluate on test queries.
    folds : str
        Number of folds (3), or their numbers (1,4); by default, all.
    scaling : "none" or "query"
        Scaling of features: unchanged, or linearly to [0, 1] within each query.
    select : str
        Validation metric, or sum of metrics, for parameter selection.  By default, the criterion of
        each method; with trials, each metric selects separately.
    baseline : str
        Method with which the others are compared.  By default, all pairs are compared.
    seeds : tuple of int
    trials : int
        Number of trials of a random search for each boosted method, on every fold with every seed;
        0 for no search.
    rounds, patience : int
        See `Settings`; 0 stands for 200 and 30, with trials for 1,000 and 100.
    leaves, learning_rate, documents_in_leaf
        See `Settings`; with trials they are drawn.
    grid : dict of str to dict of str to list
        Values to try for parameters of a method, replacing its own grid; with trials, they are
        drawn from these values.

    Raises
    ------
    ValueError
        For values of the wrong type, and invalid numbers.
    """

    data: str = ""
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("auc", "mauc", "map", "mrr", "ndcg@1", "ndcg@5", "ndcg@10")
    folds: str = ""
    splits: int = 0
    shares: tuple[float, ...] = (0.6, 0.2, 0.2)
    balanced: bool = False
    valid: float = 0.0
    scaling: str = "none"
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
        found = tomllib.loads(text)
        known = [known.name for known in fields(cls)]
        for name, value in found.items():
            if name not in known:
                raise ValueError(f"unknown key {name!r}; known: {', '.join(known)}")
            if value == []:
                raise ValueError(f"{name} = [] is empty: leave it out for the default")
            found[name] = tuple(value) if isinstance(value, list) else value
        return cls(**found)

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
        for name, kind in get_type_hints(type(self)).items():
            value = getattr(self, name)
            if not is_a(kind, value):
                raise ValueError(f"{name} = {value!r} should be {words_for(kind)}")
        for method, grid in self.grid.items():
            if not isinstance(grid, Mapping):
                raise ValueError(
                    f"grid: {method} = {grid!r} should be a table of parameters, each with a list "
                    "of the values to try"
                )
        if not self.seeds:
            raise ValueError("seeds = [] would fit nothing: give at least one, such as [0]")
        if self.trials < 0:
            raise ValueError(
                f"trials = {self.trials}: a search needs at least 1, or 0 for no search"
            )
        if self.splits < 0:
            raise ValueError(f"splits = {self.splits} should be at least 0")
        if not 0 <= self.valid < 1:
            raise ValueError(f"valid = {self.valid} should be a share from 0 to 1")

    def to_toml(self) -> str:
        """The configuration without default values; `from_toml` reads it."""
        default = Config()
        return to_toml(
            {
                known.name: getattr(self, known.name)
                for known in fields(self)
                if getattr(self, known.name) != getattr(default, known.name)
            }
        )

    def study(self, folder: Path | None = None, jobs: int = 1, threads: int = 1) -> Study:
        """Read the data and create the study.

        Raises
        ------
        ValueError
            For unknown methods, metrics, folds or options.
        FileNotFoundError
            If the data does not exist.
        """
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling={self.scaling!r} is not one of {', '.join(SCALINGS)}")
        if not self.metrics:
            raise ValueError("no metric was given")
        methods = self._methods()
        if self.baseline and self.baseline not in [method.name for method in methods]:
            raise ValueError(f"baseline {self.baseline!r} is not one of the methods compared")
        metrics = list(dict.fromkeys(parse_metric(name) for name in self.metrics))
        select = str(eval_metric(self.select).metrics[0]) if self.select else None
        found = folds_of(self.data, self.splits, self.shares, self.balanced, self.valid)
        if not self.methods and all(np.unique(fold.train.labels).size <= 2 for fold in found):
            methods = [m for m in methods if m.criterion != "mauc" or m.name in self.grid]
        chosen = [found[i] for i in _chosen(self.folds, len(found))]
        if self.scaling == "query":
            chosen = [scaled_fold(fold) for fold in chosen]
        return Study(
            chosen,
            methods,
            metrics,
            self._settings(threads),
            self.seeds,
            select,
            repeated=self.splits > 0,
            folder=folder,
            jobs=jobs,
            trials=self.trials,
        )

    def _settings(self, threads: int) -> Settings:
        for name in DRAWN:
            if self.trials and getattr(self, name) != getattr(Settings, name):
                raise ValueError(
                    f"{name} is drawn at random with trials: leave it out, or list values of the "
                    "framework's parameter in the method's grid"
                )
        rounds, patience = LONG if self.trials else (Settings.rounds, Settings.patience)
        drawn = {name: getattr(self, name) for name in DRAWN}
        return Settings(self.rounds or rounds, self.patience or patience, **drawn, threads=threads)

    def _methods(self) -> list[Method]:
        methods = find_methods(",".join(self.methods) if self.methods else None)
        names = [method.name for method in methods]
        for name in self.grid:
            if name not in names:
                raise ValueError(f"grid of {name!r}, which is not one of {', '.join(names)}")
        return [
            replace(method, grid=self.grid[method.name]) if method.name in self.grid else method
            for method in methods
        ]


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


def scaled_fold(fold: Fold) -> Fold:
    """The fold with features scaled linearly to [0, 1] within each query."""
    return Fold(fold.name, *(_scaled(part) for part in (fold.train, fold.valid, fold.test)))


def _scaled(data: RankingData) -> RankingData:
    features = QueryScaler().fit_transform(data.features, qid=data.qid)
    return RankingData(features, data.labels, data.qid, data.name)
