"""An experiment on one data set: its folds, its folder, and the number of fits at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from lambdaplus.baselines import QueryScaler
from lambdaplus.data import Fold, RankingData, digits_queries, read_folds
from lambdaplus.evaluation.significance import rounded, wilcoxon
from lambdaplus.metrics import Metric, parse_metric
from lambdaplus.study import Config, Method, Results, Study

LEVEL = 0.05


@dataclass(eq=False)
class Session:
    """An experiment at work on one data set.

    Attributes
    ----------
    data : Path or None
        Folder in the published layout; None for the built-in digits.
    folder : Path
        Where finished fits and figures are kept: what is there is not computed again.
    jobs : int
        Fits at a time.
    """

    data: Path | None
    folder: Path
    jobs: int = 1

    @property
    def name(self) -> str:
        return self.data.resolve().name if self.data else "digits"

    @cached_property
    def folds(self) -> list[Fold]:
        return read_folds(self.data) if self.data else digits_queries()

    @cached_property
    def whole(self) -> RankingData:
        """All queries: the three parts of the first fold."""
        parts = self.folds[0].parts
        features, labels, qid = (
            np.concatenate([getattr(part, field) for part in parts])
            for field in ("features", "labels", "qid")
        )
        return RankingData(features, labels, qid, self.name, parts[0].feature_names)

    def study(
        self, folds: Sequence[Fold], methods: Sequence[Method], metrics: Sequence[Metric],
        config: Config | None = None,
    ) -> Results:  # fmt: skip
        """Run a study to its end, or go on where it stopped.

        Raises
        ------
        RuntimeError
            If a method failed; the finished fits are kept.
        """
        study = Study(
            list(folds), list(methods), metrics, config or Config(), folder=self.folder,
            jobs=self.jobs,
        )  # fmt: skip
        with Progress(transient=True) as progress:
            bar = progress.add_task(f"{self.name}, fits", total=len(study))
            study.finish(lambda done: progress.update(bar, completed=done))
        return study.results

    def collect(
        self, work: Callable[..., Any], items: Mapping[str, tuple[Any, ...]], jobs: int = 0
    ) -> dict[str, Any]:
        """Call ``work(*arguments)`` for each item, or read what it gave before.

        ``jobs`` is 1 for measured times, which other work would disturb.
        """
        kept = joblib.Memory(self.folder / "kept", verbose=0).cache(work)
        pool = joblib.Parallel(jobs or self.jobs, return_as="generator")
        calls = (joblib.delayed(kept)(*arguments) for arguments in items.values())
        words = f"{self.name}, {work.__name__.replace('_', ' ')}"
        with Progress(transient=True) as progress:
            each = list(progress.track(pool(calls), total=len(items), description=words))
        return dict(zip(items, each, strict=True))


def scaled(part: RankingData) -> RankingData:
    """Features scaled linearly to [0, 1] within each query."""
    return replace(part, features=QueryScaler().fit_transform(part.features, qid=part.qid))


def of_parts(fold: Fold, change: Callable[[RankingData], RankingData]) -> Fold:
    return Fold(fold.name, *map(change, fold.parts))


def by_query(results: Results, method: str, metric: str) -> NDArray[np.float64]:
    """Test values of all folds, means over seeds; NaN where a query has none."""
    if not results.runs(method):
        raise ValueError(f"{method} has not finished every fold")
    return results.by_query(method, metric)


class Versus(NamedTuple):
    """One method against another by one metric, over the test queries of all folds.

    Attributes
    ----------
    first, second : float
        Means.
    p : float
        Two-tailed Wilcoxon signed-rank test.
    wins, losses : int
        Queries on which the first is better, and worse.
    favours : int
        The sign of the signed ranks: 1 if the test favours the first, -1 if the second.
    """

    first: float
    second: float
    p: float
    wins: int
    losses: int
    favours: int

    @classmethod
    def of(cls, first: Any, second: Any) -> Versus:
        """Compare values by query, NaN where there are none."""
        gain = rounded((first - second)[~np.isnan(first - second)])
        p, favours = wilcoxon(gain)
        means = float(np.nanmean(first)), float(np.nanmean(second))
        wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
        return cls(*means, p, wins, losses, int(np.sign(favours)))

    @property
    def better(self) -> bool:
        """Whether the first is better by mean and test, and not by chance."""
        return self.first > self.second and self.favours > 0 and self.p < LEVEL

    @property
    def worse(self) -> bool:
        return self.first < self.second and self.favours < 0 and self.p < LEVEL

    def __str__(self) -> str:
        return f"{points(self.first)} against {points(self.second)}, {said(self.p)}"


def versus(
    results: Results, first: str, second: str, metric: Metric, other: Results | None = None
) -> Versus:
    """Two methods of a study, or the second of another one; means are over folds."""
    name, other = str(parse_metric(metric)), other or results
    found = Versus.of(by_query(results, first, name), by_query(other, second, name))
    means = results.mean(first, name), other.mean(second, name)
    return found._replace(first=means[0], second=means[1])


def points(value: float) -> str:
    """A value below 1 as papers print it: .5123."""
    return f"{value:.4f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.4f}"


def said(p: float) -> str:
    """A p-value in words."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")
