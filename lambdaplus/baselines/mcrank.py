"""McRank: boosted trees classify documents by relevance; the expected class ranks them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils import check_random_state

from lambdaplus.baselines.allowed_values import AtLeastOne, Positive
from lambdaplus.baselines.base_ranker import ValidatedRanker, ValidationSet
from lambdaplus.compute.arguments import whole_number
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.extras import installation
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import Metric
from lambdaplus.metrics.progress import Progress


@dataclass(eq=False, repr=False)
class McRank(ValidatedRanker):
    """Ranks by the expected label under boosted classification trees of LightGBM.

    Parameters
    ----------
    variant : {"multiclass", "ordinal"}
        One multiclass model of P(y = c), or for each class except the lowest a binary model of
        P(y >= c).  With two classes, both are the same binary model.
    n_estimators : int
        Maximum number of boosting rounds; with ``eval_set``, the best number there is used.
    learning_rate, num_leaves, min_child_samples
        As in LightGBM.
    metric : str or RankingMetric
        Metric for ``eval_set``.
    patience : int, optional
        Stop after this number of rounds without improvement on ``eval_set``; None: never.
    n_jobs : int, optional
        Number of threads of LightGBM; None uses one per core.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : (k,) float64
        Labels, ascending.
    n_estimators_ : int
    learning_curve_ : (rounds done,) float64
        Validation value after each round; empty without ``eval_set``.

    Notes
    -----
    Li, Burges & Wu, "McRank: learning to rank using multiple classification and gradient
    boosting", NIPS 2007: multiple classification, sec. 3, and ordinal classification, sec. 4.
    `fit` raises an ImportError if LightGBM is not installed.

    Examples
    --------
    >>> from lambdaplus.baselines import McRank
    >>> X, y, qid = [[1, 9], [2, 7], [4, 8], [3, 6]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> McRank(min_child_samples=1).fit(X, y, qid=qid).classes_.tolist()
    [0.0, 1.0]
    """

    variant: Literal["multiclass", "ordinal"] = "multiclass"
    _: KW_ONLY
    n_estimators: AtLeastOne = 200
    learning_rate: Positive = 0.1
    num_leaves: Annotated[int, partial(whole_number, least=2)] = 15
    min_child_samples: Annotated[int, whole_number] = 20
    metric: Metric = "ndcg@10"
    patience: AtLeastOne | None = 30
    n_jobs: Annotated[int, partial(whole_number, least=-(2**31), below=2**31)] | None = None
    random_state: Any = None

    def _fit_validated(self, X: Floats, queries: Queries, validation: ValidationSet | None) -> None:
        try:
            import lightgbm
        except ImportError as e:
            raise ImportError(f"McRank needs LightGBM: {installation('lightgbm')}") from e
        labels = queries.labels
        self.classes_: Floats = np.unique(labels)
        if self.classes_.size < 2:
            raise ValueError(f"all labels are {labels[0]:g}, one class; at least two are needed")
        params: dict[str, Any] = {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "num_threads": self.n_jobs or 0,
            "seed": int(check_random_state(self.random_state).randint(2**31)),
            "deterministic": True,
            "verbose": -1,
        }
        if self._several:
            params |= {"objective": "multiclass", "num_class": self.classes_.size}
            targets = [np.searchsorted(self.classes_, labels)]
        else:
            params |= {"objective": "binary"}
            targets = [labels >= c for c in self.classes_[1:]]
        self._boosters = [
            lightgbm.Booster(params, lightgbm.Dataset(X, label=target.astype(float), params=params))
            for target in targets
        ]
        progress = Progress(self.patience)
        raw: Any = 0.0  # of the validation documents
        for round_number in range(1, self.n_estimators + 1):
            finished = [booster.update() for booster in self._boosters]
            if validation is not None:
                raw = raw + self._raw(validation.X, round_number - 1, 1)
                progress.add(round_number, validation.value(self._expected(raw)))
            if progress.over or all(finished):
                break
        for booster in self._boosters:
            booster.free_dataset()
        self.learning_curve_ = np.array(progress.values)
        self.n_estimators_ = progress.best_round or round_number

    def _scores(self, X: Floats) -> Floats:
        return self._expected(self._raw(X, 0, self.n_estimators_))

    @property
    def _several(self) -> bool:
        return self.variant == "multiclass" and self.classes_.size > 2

    def _raw(self, X: Floats, first_round: int, rounds: int) -> Floats:
        options: dict[str, Any] = {"raw_score": True, "num_threads": self.n_jobs or 0}
        options |= {"start_iteration": first_round, "num_iteration": rounds}
        return np.column_stack([booster.predict(X, **options) for booster in self._boosters])

    def _expected(self, raw: Floats) -> Floats:
        if self._several:
            return np.asarray(softmax(raw, axis=1) @ self.classes_)
        return np.asarray(self.classes_[0] + expit(raw) @ np.diff(self.classes_))  # P(y >= c)
