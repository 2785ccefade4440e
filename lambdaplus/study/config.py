"""The configuration of a study, set on the command line, in a TOML file or in Python."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lambdaplus.compute.arguments import check_choice, whole_number
from lambdaplus.compute.removed import removed
from lambdaplus.frameworks.ranking_trees import SIZES
from lambdaplus.study.config_values import check_values

if TYPE_CHECKING:  # the help of `lambdaplus compare` reads the fields, and needs no data
    from lambdaplus.data.column_names import Columns

SCALINGS = ("none", "query")
ROUNDS = (1000, 80)  # and their patience
ROUNDS_OF_TRIALS = (1000, 100)
ROUNDS_OF_TABLES = (2000, 150)
DEFAULT_TREES = {True: ("middle",), False: ("table",)}
"""Sizes for data with queries, and for tables without."""
LOOKS = 200  # evaluations on validation data in a trial of full length


@dataclass(frozen=True)
class Config:
    """What is asked of a study: data, methods, metrics, selection, training.

    `study_of` reads the data and finds the methods by their names.  A `Study` of folds and methods
    that are there already uses the rest.  The options of ``lambdaplus compare`` are these fields,
    with this help.

    Attributes
    ----------
    data : str
        A folder, read by `~lambdaplus.data.read_folds`, or a file, read by
        `~lambdaplus.data.read_data` and split into five folds by
        `~lambdaplus.data.cross_validation`.  By default, the built-in digits.
    qid : str
        Column of queries in CSV and Parquet files; ``none`` for a single file without queries, all
        of whose rows are one ranking.
    label : str
        Column of labels in these files.
    weight : str
        Column of row weights in these files; by default, rows have no weights.
    features : tuple of str
        Columns of these files to use as features; by default, all others that can be.  Names with
        a + before them are taken besides the others.  Text with few values, and text that is named,
        is a category, which LightGBM and XGBoost are trained with; other text is left out.
    categories : tuple of str
        Columns of a single CSV or Parquet file whose values are names, even if they are whole
        numbers, such as numbers of shops.
    drop : tuple of str
        Columns of these files to leave out.
    methods : tuple of str
        Methods to compare, such as ``lightgbm,svm:map,xgboost:map@5,module:Class``; or ``all``.
        Options are in brackets, see `find_methods`: ``xgboost:auc(pairs=equal)``.  By default, the
        boosted trees that fit the labels: 0 and 1, grades, or real values.
    metrics : tuple of str
        Metrics of test queries, the first of which says which method is best.  By default, those
        that fit the labels, such as ``ndcg@10,map`` for grades, ``map,auc`` without queries,
        ``spearman`` for real values.
    convention : str
        Rules of the metrics on test queries, see `~lambdaplus.evaluation.evaluate`.  Selection on
        validation data follows those of lambdaplus.
    order : str
        Column of dates or numbers in a CSV or Parquet file: each fold is tested on later ones than
        it is trained on, see `~lambdaplus.data.cross_validation`.  It is no feature.
    gap : str
        What to leave out before validation and before test rows, because labels look ahead: a
        duration such as ``30d`` or ``12h`` before dates, a number in their unit before numbers.
    folds : str
        Folds to use: the first N, or a list such as ``1,4``; by default, all.
    valid : float
        Share of training queries for validation if a folder has no validation part.
    scaling : str
        Scaling of features: none, or query, which is linearly to [0, 1] within each query.
    select : str
        Validation metric, or sum of metrics, that selects rounds and parameters of all methods for
        all metrics.  By default, the metric of each column selects its own.
    baseline : str
        The method that you use today, which the others are compared with; by default, they are
        compared with the one that validation data chooses.
    margin : float
        Difference of the main metric below which two methods are as good as equal: the conclusion
        says so if two one-sided tests show it.
    seeds : tuple of int
        Methods that use random numbers are fitted with each of these seeds, and their values are
        averaged.  On the command line, a number N without a comma stands for the first N.
    see : float
        Difference of the main metric that the study should find: after a first pass of two seeds,
        as many are added as this needs by the variance of the first pass.
    budget : float
        With see, minutes that the training of all seeds may take, by the time of the first pass.
    trials : int
        Number of trials of a random search for the parameters of each boosted method, on each fold
        with each seed; 0 for no search.
    rounds : int
        Maximum number of boosting rounds; by default 1000, or 2000 in a table without queries.
    patience : int
        Number of rounds without an improvement on validation data after which training stops; by
        default 80, 150 in a table without queries, or 100 with trials.
    rate : float
        Learning rate of all boosted methods; by default that of their trees.  In XGBoost,
        objectives that rank queries have twice the rate, since their Hessians are twice as large.
        With trials, it is drawn.
    every : int
        Number of rounds between evaluations on validation data; by default 1, or a 200th of the
        rounds with trials.
    trees : tuple of str
        Size of the trees of boosted methods,
        see `~lambdaplus.frameworks.ranking_trees.ranking_trees`; by default middle, or table in a
        table without queries.  Of several, validation data chooses for each method and fold.  With
        trials, trees are drawn.
    grid : dict of str to dict of str to list
        Values to try for parameters of a method, in place of its own grid; with trials, they are
        drawn from these values.  Those of trees have the framework's names, such as ``num_leaves``.

    Raises
    ------
    ValueError
        For values of the wrong type, and invalid numbers.

    Examples
    --------
    >>> Config.from_toml('methods = ["svm:map"]').methods
    ('svm:map',)
    >>> Config(rounds=200).with_defaults(grouped=True).patience
    80
    """

    data: str = ""
    qid: str = "qid"
    label: str = "label"
    weight: str = ""
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    convention: str = "lambdaplus"
    order: str = ""
    gap: str = ""
    folds: str = ""
    valid: float = 0.0
    scaling: str = "none"
    select: str = ""
    baseline: str = ""
    margin: float | None = None
    seeds: tuple[int, ...] = (0,)
    see: float | None = None
    budget: float | None = None
    trials: int = 0
    rounds: int | None = None
    patience: int | None = None
    rate: float | None = None
    every: int | None = None
    trees: tuple[str, ...] = ()
    grid: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, text: str, **options: Any) -> Self:
        """Read a configuration; options replace its values.

        Raises
        ------
        ValueError
            For text that is not TOML, unknown keys, and values of the wrong type.
        """
        try:
            values: dict[str, Any] = tomllib.loads(text)
        except RecursionError:
            raise ValueError("brackets or keys are nested too deeply") from None
        names = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"unknown key {name!r}{removed(name)}; known: {', '.join(names)}")
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**{**values, **options})

    @classmethod
    def read(cls, path: Path, **options: Any) -> Self:
        """Read a TOML file; options replace its values.

        Raises
        ------
        ValueError
            Like `from_toml`; the message names the file.
        OSError
            If it cannot be read.
        """
        try:
            return cls.from_toml(path.read_text(encoding="utf-8-sig"), **options)
        except (ValueError, RecursionError) as error:  # brackets that are nested too deeply
            raise ValueError(f"{path}: {error}") from None

    def __post_init__(self) -> None:
        from lambdaplus.data.time_gap import is_gap

        gap: Any = self.gap
        if isinstance(gap, int | float) and not isinstance(gap, bool):  # as TOML has numbers
            object.__setattr__(self, "gap", str(gap or ""))
        check_values(self)
        if self.budget is not None and self.see is None:
            raise ValueError("budget is the time in which seeds are added: set see as well")
        for size in self.trees:
            check_choice("trees", size, tuple(SIZES))
        if len({*self.trees}) < len(self.trees):
            raise ValueError(f"trees={self.trees!r} should list different sizes")
        for seed in self.seeds:
            whole_number("a seed", seed, below=2**31)
        if not 0 <= self.valid < 1:
            raise ValueError(f"valid = {self.valid} should be a share from 0 to 1")
        check_choice("scaling", self.scaling, SCALINGS)
        columns = self.columns  # which are checked
        if self.gap and is_gap(self.gap) and not columns.order:
            raise ValueError("gap is a time before that of order: set order as well")
        for method, grid in self.grid.items():
            if not isinstance(grid, Mapping):
                raise ValueError(
                    f"grid: {method} = {grid!r} should be a table of parameters, each with a list "
                    "of the values to try"
                )

    def with_defaults(self, *, grouped: bool) -> Self:
        """The configuration with the defaults for data with queries, or for a table without.

        Raises
        ------
        ValueError
            If ``every`` is more than the rounds or the patience.
        """
        rounds, patience = ROUNDS if grouped else ROUNDS_OF_TABLES
        if self.trials:
            rounds, patience = ROUNDS_OF_TRIALS
        rounds, patience = self.rounds or rounds, self.patience or patience
        looks = min(rounds // LOOKS, patience) if self.trials else 1
        every = self.every or max(1, looks)
        if every > min(rounds, patience):
            raise ValueError(f"every must be at most rounds and patience, got {every}")
        trees = self.trees or DEFAULT_TREES[grouped]
        return replace(self, rounds=rounds, patience=patience, every=every, trees=trees)

    @property
    def columns(self) -> "Columns":
        """The names of the columns of a table."""
        from lambdaplus.data.column_names import Columns

        return Columns(**{column.name: getattr(self, column.name) for column in fields(Columns)})

    @property
    def of_training(self) -> dict[str, Any]:
        """What every training of the study depends on."""
        return {
            name: getattr(self, name) for name in ("rounds", "patience", "every", "rate", "trees")
        }

    def to_toml(self) -> str:
        """All fields, including defaults; empty lists and tables are left out.

        Raises
        ------
        ValueError
            For values that TOML does not support, such as None.
        """
        import tomli_w

        empty: tuple[Any, ...] = ((), {}, None)
        try:
            text = tomli_w.dumps({k: v for k, v in vars(self).items() if v not in empty})
            text.encode()  # the name of a file may have characters that are not Unicode
        except (TypeError, UnicodeEncodeError) as error:
            raise ValueError(f"a study cannot be written as TOML: {error}") from None
        return text
