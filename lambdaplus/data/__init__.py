"""Ranking data: containers, readers of files, splits by query, and built-in data sets.

Examples
--------
>>> from lambdaplus.data import digits_queries
>>> digits_queries()[0].train.features.shape[1]
29
"""

from lambdaplus.data.digits import digits_queries
from lambdaplus.data.folders import read_data, read_folds
from lambdaplus.data.letor import read_letor
from lambdaplus.data.ranking_data import Fold, RankingData
from lambdaplus.data.run_files import read_scores, read_table
from lambdaplus.data.splits import cross_validation, query_folds
from lambdaplus.data.table_columns import read_columns
from lambdaplus.data.trec_files import read_qrels, read_trec_run
from lambdaplus.lists.runs import Run

__all__ = [
    "Fold",
    "RankingData",
    "Run",
    "cross_validation",
    "digits_queries",
    "query_folds",
    "read_columns",
    "read_data",
    "read_folds",
    "read_letor",
    "read_qrels",
    "read_scores",
    "read_table",
    "read_trec_run",
]
