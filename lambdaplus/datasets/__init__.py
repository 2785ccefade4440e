"""Ranking data: the container, readers of data and runs, and a set that needs no download."""

from __future__ import annotations

from lambdaplus.datasets.digits import digits_queries
from lambdaplus.datasets.letor import read_folds, read_letor
from lambdaplus.datasets.ranking_data import Fold, RankingData
from lambdaplus.datasets.runs import read_qrels, read_scores, read_table, read_trec_run
from lambdaplus.datasets.splits import cross_validation, random_splits

__all__ = [
    "Fold",
    "RankingData",
    "cross_validation",
    "digits_queries",
    "random_splits",
    "read_folds",
    "read_letor",
    "read_qrels",
    "read_scores",
    "read_table",
    "read_trec_run",
]
