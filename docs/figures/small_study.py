"""The plots of a report, for a small study on the built-in data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lambdaplus.data import digits_queries
from lambdaplus.metrics import parse_metric
from lambdaplus.study import Config, Study, Summary, find_methods
from lambdaplus.study.plots import criterion_matrix, curves_of, learning_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (
    "lightgbm:lambda_auc,lightgbm:lambda_map,lightgbm:lambda_mrr,lightgbm:lambda_ndcg,"
    "lightgbm:lambdarank,lightgbm:rank_xendcg"
)


def small_study() -> dict[str, Figure]:
    """The criterion matrix, and the learning curves of methods validated with NDCG@10."""
    study = Study(
        folds=digits_queries()[:2],
        methods=find_methods(METHODS),
        metrics=[parse_metric(name) for name in ("auc", "map", "mrr", "ndcg@10")],
        config=Config(rounds=50),
    )
    study.finish()
    curves = curves_of(study.results)["ndcg@10"]
    return {
        "criterion-matrix": criterion_matrix(Summary(study.results)),
        "learning-curves": learning_curves("NDCG@10", curves),
    }
