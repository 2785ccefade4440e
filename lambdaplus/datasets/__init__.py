"""Ranking data: the container, readers of data and runs, and a set that needs no download."""

from __future__ import annotations

from lambdaplus.datasets.digits import digits_queries
from lambdaplus.datasets.letor import read_folds, read_letor
from lambdaplus.datasets.ranking_data import Fold, RankingData
from lambdaplus.datasets.runs import read_qrels, read_scores, read_table, read_trec_run

__all__ = [
    "Fold",
    "RankingData",
    "digits_queries",
    "read_folds",
    "read_letor",
    "read_qrels",
    "read_scores",
    "read_table",
    "read_trec_run",
]
