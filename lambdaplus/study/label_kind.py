"""What the labels of a study are, and the metrics and methods that fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lambdaplus.data import Fold
from lambdaplus.data.splits import are_real
from lambdaplus.objectives import CombinedObjective, LambdaObjective
from lambdaplus.study.boosters import POINTWISE
from lambdaplus.study.methods import Method

SQUARED_ERROR = ("regression", "reg:squarederror")


@dataclass(frozen=True)
class LabelKind:
    """The kind of the labels; without arguments, grades of documents of queries."""

    real: bool = False
    two: bool = False  # at most two different ones
    values: str = "0 and 1"  # these two, in words
    mixed: bool = True  # 1 or more, and less, in each training part
    grouped: bool = True

    @classmethod
    def of(cls, folds: Sequence[Fold]) -> LabelKind:
        """Those of the training parts."""
        by_fold = [np.unique(fold.train.labels) for fold in folds]
        distinct = np.unique(np.concatenate(by_fold))
        mixed = all(np.unique(labels >= 1).size == 2 for labels in by_fold)
        two = distinct.size <= 2
        values = " and ".join(f"{label:g}" for label in distinct[:2])
        values = values if distinct.size > 1 else f"all {values}"
        return cls(are_real(distinct), two, values, mixed, folds[0].test.grouped)

    @property
    def in_words(self) -> str:
        kind = self.values if self.two else "grades"
        return "real values" if self.real else kind

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are evaluated by default; the first one decides which model is best."""
        if self.real:
            return ("spearman",) if self.grouped else ("gini",)
        if not self.grouped:
            return ("map", "auc")
        if self.two:
            return ("map", "mrr", "auc", "ndcg@1", "ndcg@5", "ndcg@10")
        return ("ndcg@10", "ndcg@5", "ndcg@1", "map", "mrr", "mauc", "auc")

    def misfit(self, method: Method) -> str:
        """Why a method is left out unless it is named; empty if it is not."""
        target, metric = method.target, ""
        if isinstance(target, LambdaObjective):
            metric = target.metric.declaration.name
        if not self.grouped and not method.ranks_rows:
            return "ranks lists of rows"
        if not self.grouped and isinstance(target, CombinedObjective):  # AUC has log-loss there
            return "for lists of rows"
        if method.origin == "yours":
            return ""
        if self.real:
            fits = metric == self.metrics[0] or (not metric and target in SQUARED_ERROR)
            return "" if fits else "not for real-valued labels"
        if metric in ("spearman", "gini") or target in SQUARED_ERROR:
            return "for real-valued labels"
        if target in POINTWISE and not self.mixed:
            return "needs labels of 1 or more, and others, in each training part"
        if metric == "mauc" and self.two:
            return "AUC, with two labels"
        if metric == "auc" and self.grouped and not self.two:
            return "takes grades as 0 and 1"
        return ""
